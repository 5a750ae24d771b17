/** What a session is made with and what a run may override, as far as the machine decides by it. */
import { z } from "zod";
import { approvals } from "./call.ts";
import { lazily } from "./lazy.ts";
import { compactionSettings, limits } from "./limits.ts";

/** Constants of a session that the machine decides by; they come from the agent and are written to the journal. */
export const sessionConfig = lazily(() =>
  z.object({
    limits,
    compaction: compactionSettings,
    /** Which reviews exist at all, so that a state without a reviewer is passed through. */
    reviews: z.object({ input: z.boolean(), stop: z.boolean() }),
    /** Estimated tokens of instructions and tools: what every request holds before anything is said. */
    base: z.number().optional(),
  }),
);
export type SessionConfig = z.infer<typeof sessionConfig>;

/** What a run may override, as the machine sees it. */
export const runOptions = lazily(() =>
  z.object({
    maxTurns: z.number().int().optional(),
    maxBudgetUsd: z.number().optional(),
    approvals,
    thinkingLevel: z.string().optional(),
    settings: z.any().optional(),
    /** The shape that the final answer must have, as JSON Schema. */
    output: z.object({ name: z.string(), schema: z.record(z.string(), z.any()) }).optional(),
  }),
);
export type MachineRunOptions = z.infer<typeof runOptions>;

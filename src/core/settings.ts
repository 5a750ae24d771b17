/** Settings of a model request, wherever they are given: on the model, the agent or the run. */
import { z } from "zod";
import { lazily } from "./lazy.ts";

export const modelSettings = lazily(() =>
  z.strictObject({
    maxOutputTokens: z.number().int().positive().optional(),
    temperature: z.number().min(0).optional(),
    toolChoice: z.union([z.enum(["auto", "none", "required"]), z.strictObject({ name: z.string() })]).optional(),
    parallelToolCalls: z.boolean().optional(),
    thinkingLevel: z.string().optional(),
    extra: z.record(z.string(), z.any()).optional(),
  }),
);

/** Every limit of a session in one object. Milliseconds end in `Ms`; `-1` means none for counts. */
import { z } from "zod";
import { lazily } from "./lazy.ts";

const count = lazily(() => z.number().int());
const ms = lazily(() => z.number().nonnegative());

/** The schema of {@link Limits}: defaults included, so that `limits.parse({})` is the table of SPEC §11. */
export const limits = lazily(() =>
  z.strictObject({
    /** Turns in one run; -1 is unlimited. */
    maxTurns: count.min(-1).default(100),
    maxToolCallsPerTurn: count.min(1).default(64),
    /** Further attempts of one turn after a `timeout` or `malformed` failure. */
    retries: count.min(0).default(2),
    /** Linear: attempt n waits n × this. */
    backoffMs: ms.default(250),
    /** `linear`, or `exponential`: doubles from `backoffMs`, with jitter. */
    backoff: z.enum(["linear", "exponential"]).default("linear"),
    /** A server's Retry-After is obeyed up to this. */
    retryAfterCapMs: ms.default(60_000),
    /** Times an answer that was cut by length is asked to go on. */
    continuations: count.min(0).default(2),
    toolConcurrency: count.min(1).default(8),
    toolTimeoutMs: ms.default(120_000),
    /** How long a stopped effect may take to settle by itself before it is abandoned. */
    graceMs: ms.default(250),
    /** How long an approval may take; 0 is no limit. */
    approvalMs: ms.default(0),
    /** How long a run waits for background work. */
    waitMs: ms.default(120_000),
    firstByteMs: ms.default(600_000),
    streamIdleMs: ms.default(120_000),
    /** A whole model request; 0 is no limit. */
    requestMs: ms.default(0),
    /** Code units of one tool result that the model reads; the rest goes to a file of the session. */
    maxOutputChars: count.min(200).default(16_000),
    summaryAttempts: count.min(1).default(3),
    /** Times in a row that a stop review may send the run on. */
    stopFeedback: count.min(0).default(8),
    /** Times in a row that an answer that does not fit the output schema is asked for again. */
    outputRepairs: count.min(0).default(2),
    /** Bytes of an image, file or sound that a record holds itself; larger ones go to a file of the session. */
    maxInlineMediaBytes: count.min(0).default(8_192),
    /** Inputs waiting at once; one more is refused. */
    inbox: count.min(1).default(1_000),
    /** US dollars one run may spend; 0 is no limit. */
    maxBudgetUsd: z.number().nonnegative().default(0),
  }),
);
export type Limits = z.infer<typeof limits>;

/** The schema of {@link CompactionSettings} (SPEC §4). */
export const compactionSettings = lazily(() =>
  z
    .strictObject({
      mode: z.enum(["summarize", "discard"]).default("summarize"),
      /** Tokens the model can read; what the model port says, else 200,000. */
      window: count.min(1).default(200_000),
      /** Share of the window at which a full compaction is due. */
      fullAt: z.number().positive().max(1).default(0.95),
      /** Share of the window at which old tool results are elided. */
      microAt: z.number().positive().max(1).default(0.75),
      /** Full compaction at this many tokens at the latest; 0 is off. */
      maxContextTokens: count.min(0).default(128_000),
      /** Full compaction after this many turns, counted over all runs; -1 is off. */
      maxSessionTurns: count.min(-1).default(-1),
      /** What the model is asked in `summarize` mode; absent: the built-in text. */
      prompt: z.string().optional(),
    })
    .superRefine((c, at) => {
      if (c.microAt <= c.fullAt) return;
      const message = `microAt (${c.microAt}) must not be above fullAt (${c.fullAt})`;
      at.addIssue({ code: "custom", message, path: ["microAt"] });
    }),
);
export type CompactionSettings = z.infer<typeof compactionSettings>;

/** Tokens at which elision and full compaction are due. */
export function thresholds(c: CompactionSettings): { micro: number; full: number } {
  const share = c.fullAt * c.window;
  const full = c.maxContextTokens > 0 ? Math.min(share, c.maxContextTokens) : share;
  return { full, micro: (full * c.microAt) / c.fullAt };
}

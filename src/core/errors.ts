/** The one error class of the runtime, and the codes that a run can end with. */

/** What a caller did wrong, or what stands in the way before a run exists. */
export type AgentErrorCode =
  "busy" | "closed" | "invalid_options" | "not_found" | "journal_corrupt" | "version" | "fenced" | "store";

/** Thrown (or rejected) for a caller's mistake. What happens inside a run is data in its result instead. */
export class AgentError extends Error {
  override readonly name = "AgentError";
  readonly code: AgentErrorCode;
  readonly details: unknown;
  constructor(code: AgentErrorCode, message: string, options?: { cause?: unknown; details?: unknown }) {
    super(message, options);
    this.code = code;
    this.details = options?.details;
  }
}

/** Codes of `result.error`. */
export type RunErrorCode =
  | "timeout"
  | "malformed"
  | "overflow"
  | "auth"
  | "refused"
  | "fatal"
  | "store"
  | "context_exhausted"
  | "output_invalid"
  | "internal";

export type RunError = { code: RunErrorCode; message: string; retryable: boolean };

/** Whether going on later can help without changing anything. */
export const retryable = (code: RunErrorCode): boolean =>
  code === "timeout" || code === "malformed" || code === "store";

/**
 * States a thing that must hold. A broken one is a bug of ours: it fails the session, never the process.
 * @throws Error whose message is the broken sentence.
 */
export function invariant(holds: unknown, sentence: string): asserts holds {
  if (!holds) throw new Error(`invariant broken: ${sentence}`);
}

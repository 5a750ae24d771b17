/** How a model request can fail, and what each class means for the run (SPEC §5). */
import { z } from "zod";
import { lazily } from "./lazy.ts";

/**
 * `timeout` transport, 408, 429, 5xx, idle stream · `malformed` cut or unreadable stream · `overflow` prompt too long ·
 * `auth` key or permission · `refused` the provider declined the content · `fatal` anything that a retry will not mend ·
 * `cancelled` we stopped it · `store` the journal could not be written, so the request was never sent.
 */
export const failureClass = lazily(() =>
  z.enum(["timeout", "malformed", "overflow", "auth", "refused", "fatal", "cancelled", "store"]),
);
export type FailureClass = z.infer<typeof failureClass>;

export const failure = lazily(() =>
  z.object({
    class: failureClass,
    /** One sentence, free of secrets, that says what happened and how to mend it. */
    message: z.string(),
    /** HTTP status, when there was one. */
    status: z.number().optional(),
    /** What the server asked us to wait. */
    retryAfterMs: z.number().nonnegative().optional(),
    /** Another model stands by: the turn is asked again at once, beginning with this one. */
    next: z.string().optional(),
  }),
);
export type Failure = z.infer<typeof failure>;

/** Whether the same turn is asked once more, after `tries` retries of the model that failed. */
export const mayAskAgain = (f: Failure, tries: number, limits: { retries: number }): boolean =>
  f.next !== undefined || ((f.class === "timeout" || f.class === "malformed") && tries < limits.retries);

/** Milliseconds to wait before retry `tries`, without the jitter that whoever waits may add. */
export function backoffMs(
  f: Failure,
  tries: number,
  l: { backoff: "linear" | "exponential"; backoffMs: number; retryAfterCapMs: number },
): number {
  if (f.retryAfterMs !== undefined) return Math.min(f.retryAfterMs, l.retryAfterCapMs);
  return l.backoff === "linear" ? tries * l.backoffMs : l.backoffMs * 2 ** (tries - 1);
}

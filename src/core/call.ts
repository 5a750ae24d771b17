/** Tool calls on their way through `act`: what a review says of them and what an approver decides. */
import { z } from "zod";
import { lazily } from "./lazy.ts";
import { contentPart } from "./message.ts";

/** What happens to a call after the whole chain has seen it, strictest opinion first. */
export const verdict = lazily(() => z.enum(["deny", "ask", "allow"]));
export type Verdict = z.infer<typeof verdict>;

/** What to do with a call that had started when the process died. */
export const onUnknown = lazily(() => z.enum(["report", "retry", "ask"]));
export type OnUnknown = z.infer<typeof onUnknown>;

/**
 * One call after resolving and reviewing. `name` and `args` are those of the *effective* call: a wrapper is recorded as
 * its target, `via` names the wrapper.
 */
export const reviewedCall = lazily(() =>
  z.object({
    callId: z.string(),
    name: z.string(),
    args: z.any(),
    via: z.string().optional(),
    /** `invalid`: unknown tool or bad arguments; never reached a review. */
    verdict: z.union([verdict, z.literal("invalid")]),
    /** Who or what the verdict is from, in words the model and the user may read. */
    reason: z.string().optional(),
    /** A denial by a rule reads differently from one by the user. */
    by: z.enum(["policy", "user"]).optional(),
    /** Of name and arguments: an approval holds for exactly these. Empty when nobody is asked. */
    hash: z.string(),
    lockKeys: z.array(z.string()).optional(),
    timeoutMs: z.number().optional(),
    onUnknown: onUnknown.optional(),
  }),
);
export type ReviewedCall = z.infer<typeof reviewedCall>;

/** What an approver is asked about one call. */
export const approvalRequest = lazily(() =>
  z.object({
    callId: z.string(),
    name: z.string(),
    args: z.any(),
    reason: z.string().optional(),
    via: z.string().optional(),
    /** Of name and arguments: a decision holds for exactly these. */
    hash: z.string(),
    /** Names of the sessions between the asker and this call, outermost first; absent in the session itself. */
    path: z.array(z.string()).optional(),
  }),
);
export type ApprovalRequest = z.infer<typeof approvalRequest>;

/** An approver's answer to one call. `args` edits the arguments, `text` is the result of a `respond`. */
export const decision = lazily(() =>
  z.strictObject({
    callId: z.string(),
    decision: z.enum(["allow", "deny", "respond"]),
    args: z.any().optional(),
    reason: z.string().optional(),
    text: z.string().optional(),
    /** Scope under which the policy may remember this, where it offers one. */
    remember: z.string().optional(),
  }),
);
export type Decision = z.infer<typeof decision>;

/** A decision after edited arguments were validated and reviewed again: what the machine acts on. */
export const settledDecision = lazily(() =>
  z.object({
    callId: z.string(),
    decision: z.enum(["allow", "deny", "respond", "timeout"]),
    by: z.enum(["approver", "user", "policy", "approval"]),
    /** Hash of the call that was judged; a decision about other arguments is void. */
    hash: z.string(),
    reason: z.string().optional(),
    text: z.string().optional(),
    /** The call to run instead, when the approver edited its arguments. */
    edited: reviewedCall.optional(),
    remember: z.string().optional(),
  }),
);
export type SettledDecision = z.infer<typeof settledDecision>;

/** What an ask meets, frozen per run. */
export const approvals = lazily(() =>
  z.strictObject({
    /** `callback`: the run's `approve` is asked. `deny`: nobody is there. `wait` and `suspend`: `decide()` answers. */
    mode: z.enum(["callback", "deny", "wait", "suspend"]).default("deny"),
    /** What an ask without an answer from the callback meets, and what a steer does to open asks. */
    unanswered: z.enum(["deny", "wait", "suspend"]).default("deny"),
    onSteer: z.enum(["deny-pending", "queue", "reject"]).default("deny-pending"),
  }),
);
export type Approvals = z.infer<typeof approvals>;

export const output = lazily(() => z.array(contentPart));

/** The sentences a model reads in place of a tool's output. */
export const resultText = {
  denied: (by: "policy" | "user" | "approver" | "approval" | undefined, reason?: string) =>
    `Tool call denied by ${by === "policy" ? "policy" : "user"}.${reason ? ` ${reason}` : ""}`,
  cancelled: () => "[interrupted: tool aborted by user]",
  truncated: () =>
    "Not executed: the answer was cut by the length limit before it was complete. Write less per answer.",
  unknown: () =>
    "Outcome unknown: the process ended while this tool was running. Check what it did before you call it again.",
  abandoned: () => "Outcome unknown: the tool did not stop in time. It may still take effect.",
  approvalTimeout: () => "Not executed: nobody approved the call in time.",
};

/** The calls of one answer on their way to their results: one batch, judged, decided, run and committed together. */
import { resultText, type ApprovalRequest, type OnUnknown, type ReviewedCall, type SettledDecision } from "./call.ts";
import type { CallResult, OutputOf } from "./event.ts";
import type { ToolCallPart } from "./message.ts";

/** `asked` waits for a decision, `ready` may start, `settled` has its result. */
export type CallStage = "proposed" | "asked" | "ready" | "running" | "settled";

export type Call = {
  callId: string;
  name: string;
  args: unknown;
  stage: CallStage;
  via?: string | undefined;
  reason?: string | undefined;
  hash: string;
  lockKeys: readonly string[];
  timeoutMs?: number | undefined;
  onUnknown: OnUnknown;
  /** It was running when the process ended, so it may have taken effect already. */
  started?: boolean | undefined;
  result?: CallResult | undefined;
};

/** A call as the model proposed it. */
export const proposed = (part: ToolCallPart): Call => ({
  callId: part.callId,
  name: part.name,
  args: part.args,
  stage: "proposed",
  hash: "",
  lockKeys: [],
  onUnknown: "report",
});

/** A call with its one result. `text` is what the model reads when no tool said anything. */
export const settle = (call: Call, result: Omit<CallResult, "callId" | "name">): Call => ({
  ...call,
  stage: "settled",
  result: { callId: call.callId, name: call.name, ...result },
});

const deny = (call: Call, seq: number, by: "policy" | "user" | "approver" | "approval", reason?: string): Call =>
  call.started ? lost(call, seq) : settle(call, { status: "denied", seq, by, text: resultText.denied(by, reason) });

/** Nobody saw how it ended. */
const lost = (call: Call, seq: number): Call =>
  settle(call, { status: "unknown", seq, by: "crash", text: resultText.unknown() });

const denyUnheard = (call: Call, seq: number): Call =>
  settle(call, {
    status: "denied",
    seq,
    by: "nobody",
    text: resultText.denied("user", "Nobody is there to approve it."),
  });

/** How a tool ended, by its record. */
export const outcomeOf = (e: { status: CallResult["status"]; seq: number; by?: string | undefined }) => ({
  status: e.status,
  seq: e.seq,
  ...(e.by === undefined ? {} : { by: e.by }),
});

/** What a verdict makes of a call. With nobody to ask, an ask is a denial. */
export function judge(call: Call, v: ReviewedCall, seq: number, nobody: boolean): Call {
  const known: Call = {
    ...call,
    name: v.name,
    args: v.args,
    via: v.via,
    reason: v.reason,
    hash: v.hash,
    lockKeys: v.lockKeys ?? [],
    timeoutMs: v.timeoutMs,
    onUnknown: v.onUnknown ?? "report",
  };
  switch (v.verdict) {
    case "invalid":
      return settle(known, { status: "failed", seq, text: v.reason ?? "The call is not valid." });
    case "deny":
      return deny(known, seq, v.by ?? "policy", v.reason);
    case "ask":
      return nobody ? denyUnheard(known, seq) : { ...known, stage: "asked" };
    case "allow":
      return { ...known, stage: "ready" };
    default:
      return v.verdict satisfies never;
  }
}

/** What a decision makes of a call: nothing, unless it waits for one with exactly these arguments. */
export function decide(call: Call, d: SettledDecision | undefined, seq: number): Call {
  if (!d || call.stage !== "asked" || d.hash !== call.hash) return call;
  switch (d.decision) {
    case "allow":
      return d.edited ? judge(call, { ...d.edited, verdict: "allow" }, seq, false) : { ...call, stage: "ready" };
    case "deny":
      return deny(call, seq, d.by, d.reason);
    case "respond":
      return settle(call, { status: "ok", seq, by: "approver", text: d.text ?? "" });
    case "timeout":
      return settle(call, { status: "timeout", seq, by: "approval", text: resultText.approvalTimeout() });
    default:
      return d.decision satisfies never;
  }
}

/** The user wrote a message instead of deciding. */
export const denyAsked = (call: Call, seq: number): Call =>
  call.stage === "asked" ? deny(call, seq, "user", "The user wrote a message instead.") : call;

/** A call that has not started will not. */
export const dropUnstarted = (call: Call, seq: number): Call =>
  call.stage === "settled" || call.stage === "running"
    ? call
    : call.started
      ? lost(call, seq)
      : settle(call, { status: "cancelled", seq, by: "cancel", text: resultText.cancelled() });

/** After a crash: the outcome of a running call is unknown, unless its tool says that it may be repeated. */
export function recover(call: Call, seq: number): Call {
  if (call.stage !== "running") return call;
  switch (call.onUnknown) {
    case "report":
      return lost(call, seq);
    case "retry":
      return { ...call, stage: "ready", started: true };
    case "ask":
      return { ...call, stage: "asked", started: true, reason: "It was running when the process ended; run it again?" };
    default:
      return call.onUnknown satisfies never;
  }
}

/** The result a call is committed with. `cut`: the answer was incomplete, so nothing of it was executed. */
export function resultOf(call: Call, seq: number, cut: boolean): CallResult {
  if (call.result) return call.result;
  const status = cut ? "truncated" : call.stage === "running" || call.started ? "unknown" : "cancelled";
  return { callId: call.callId, name: call.name, status, seq, text: resultText[status]() };
}

/** Calls that may start now: within the limit, and behind no earlier call that needs one of their locks. */
export function startable(calls: readonly Call[], concurrency: number): readonly Call[] {
  let free = concurrency;
  for (const call of calls) if (call.stage === "running") free--;
  const held = new Set<string>();
  const found: Call[] = [];
  for (const call of calls) {
    if (found.length >= free) break;
    if (call.stage === "settled") continue;
    const blocked = call.lockKeys.some((key) => held.has(key));
    for (const key of call.lockKeys) held.add(key);
    if (call.stage === "ready" && !blocked) found.push(call);
  }
  return found;
}

/** The announcement that a call starts. */
export const startOf = ({ callId, name, args, via }: Call): OutputOf<"tool.started"> => ({
  type: "tool.started",
  callId,
  name,
  args,
  ...(via === undefined ? {} : { via }),
});

/** Calls that wait for a decision. */
export const asked = (calls: readonly Call[]): readonly Call[] => calls.filter((call) => call.stage === "asked");

/** What an approver is shown of one call. */
export const requestOf = (call: Call): ApprovalRequest => ({
  callId: call.callId,
  name: call.name,
  args: call.args,
  hash: call.hash,
  ...(call.reason === undefined ? {} : { reason: call.reason }),
  ...(call.via === undefined ? {} : { via: call.via }),
});

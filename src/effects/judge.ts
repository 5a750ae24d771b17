/** From what the model wrote to a verdict: the tool's own wish, and the opinion of every middleware. */
import type { ReviewedCall, Verdict } from "../core/call.ts";
import { isJson, type Json, type ToolCallPart } from "../core/message.ts";
import type { Middleware } from "../middleware/middleware.ts";
import { isThenable, hookFailed, messageOf } from "./effect.ts";
import { hashOf } from "./hash.ts";
import { readOpinion } from "./hook-answers.ts";
import type { Host } from "./host.ts";
import { resolveCall, type Effective } from "./resolve-call.ts";

/** Of a call's name and arguments; equal calls have equal hashes. */
const callHash = (name: string, args: unknown): string =>
  hashOf(`${name}\n${JSON.stringify(args ?? null)}`).slice(0, 32);

/** A call that never reaches a review; `reason` is what the model reads. */
export const invalid = (part: ToolCallPart, reason: string): ReviewedCall => ({
  callId: part.callId,
  name: part.name,
  args: part.args ?? null,
  verdict: "invalid",
  reason,
  hash: "",
});

/** Judges one call. Never throws: what goes wrong is in the verdict. */
export function judge(host: Host, part: ToolCallPart, signal: () => AbortSignal): ReviewedCall | Promise<ReviewedCall> {
  if (part.args === undefined)
    return invalid(part, `The arguments are not valid JSON: ${part.raw ?? ""}\nCall ${part.name} with a JSON object.`);
  const found = resolveCall(host, part.name, part.args);
  const review = (call: Effective | string) =>
    typeof call === "string" ? invalid(part, call) : reviewCall(host, part.callId, call, signal, false);
  return isThenable(found) ? found.then(review) : review(found);
}

/** Judges arguments that an approver edited: validated, and seen by the whole chain once. */
export async function judgeEdited(
  host: Host,
  callId: string,
  name: string,
  args: Json,
  via?: string,
): Promise<ReviewedCall> {
  const found = isJson(args) ? await resolveAgain(host, name, args, via) : "The edited arguments are not JSON.";
  if (typeof found !== "string") return reviewCall(host, callId, found, () => new AbortController().signal, true);
  return { ...invalid({ type: "tool-call", callId, name, args: null }, found), verdict: "deny", by: "policy" };
}

/** Resolves other arguments of a call that is unwrapped already. */
async function resolveAgain(host: Host, name: string, args: Json, via: string | undefined) {
  const found = await resolveCall(host, name, args, via ?? "");
  if (typeof found === "string") return found;
  const { via: _, ...rest } = found;
  return via === undefined ? rest : { ...rest, via };
}

const strictness: Record<Verdict, number> = { allow: 0, ask: 1, deny: 2 };
type Tally = { verdict?: Verdict; reason?: string | undefined; lifted: boolean; rewrite?: Json };

/** The whole chain looks at one effective call; the strictest opinion wins. */
function reviewCall(
  host: Host,
  callId: string,
  call: Effective,
  signal: () => AbortSignal,
  again: boolean,
): ReviewedCall | Promise<ReviewedCall> {
  const reviewers = host.chain.filter((m) => m.reviewCall);
  if (!reviewers.length) return concluded(host, callId, call, { lifted: false });
  return hear(host, reviewers, callId, call, signal).then((tally) => {
    if (tally.verdict === "deny" || tally.rewrite === undefined) return concluded(host, callId, call, tally);
    if (again) return denied(host, callId, call, "The arguments were rewritten twice.");
    return rewritten(host, callId, call, tally.rewrite, signal);
  });
}

/** A rewrite makes the chain look once more; a second one is a denial. */
async function rewritten(host: Host, callId: string, call: Effective, args: Json, signal: () => AbortSignal) {
  const next = await resolveAgain(host, call.name, args, call.via);
  if (typeof next === "string") return denied(host, callId, call, `The rewritten arguments are not valid. ${next}`);
  return reviewCall(host, callId, next, signal, true);
}

/** Asks each reviewer in chain order. One that throws denies. */
async function hear(
  host: Host,
  reviewers: readonly Middleware[],
  callId: string,
  call: Effective,
  signal: () => AbortSignal,
): Promise<Tally> {
  const tally: Tally = { lifted: false };
  const { name, value: args, via, tool } = call;
  for (const m of reviewers) {
    let opinion: ReturnType<typeof readOpinion>;
    try {
      opinion = readOpinion(
        await m.reviewCall!({ callId, name, args, via, readOnly: tool.readOnly }, host.hookContext(signal())),
      );
    } catch (error) {
      hookFailed(host, m.name, "reviewCall", error);
      opinion = { verdict: "deny", reason: `The review of ${m.name} failed.` };
    }
    if (!opinion) continue;
    if (opinion.args !== undefined) tally.rewrite = opinion.args as Json;
    tally.lifted ||= opinion.lift === true;
    const { verdict } = opinion;
    if (!verdict || (tally.verdict && strictness[verdict] <= strictness[tally.verdict])) continue;
    tally.verdict = verdict;
    tally.reason = opinion.reason;
  }
  return tally;
}

/** The tool's own wish; a wish that throws is a yes. */
function needsApproval(call: Effective): boolean | undefined {
  const wish = call.tool.needsApproval;
  if (typeof wish !== "function") return wish;
  try {
    return wish(call.value);
  } catch {
    return true;
  }
}

const denied = (host: Host, callId: string, call: Effective, reason: string): ReviewedCall =>
  concluded(host, callId, call, { verdict: "deny", reason, lifted: false });

/** Where everybody abstains, what only reads is allowed and the rest is asked. The tool's own wish is a floor. */
function concluded(host: Host, callId: string, call: Effective, tally: Tally): ReviewedCall {
  const floor = needsApproval(call);
  let verdict = tally.verdict ?? (floor === true || (floor === undefined && !call.tool.readOnly) ? "ask" : "allow");
  let { reason } = tally;
  if (verdict === "allow" && floor === true && !tally.lifted) verdict = "ask";
  let lockKeys: string[] = [];
  try {
    lockKeys = call.tool.lockKey?.(call.value, { workspace: host.workspace }) ?? [];
  } catch (error) {
    verdict = "deny";
    reason = `Its lock keys are unknown: ${messageOf(error)}`;
  }
  const { name, args, via, tool } = call;
  // Only a decision needs to know which arguments it was about.
  const done: ReviewedCall = { callId, name, args, verdict, hash: "" };
  if (verdict === "ask" || tool.onUnknown === "ask") done.hash = callHash(name, args);
  if (via !== undefined) done.via = via;
  if (reason !== undefined) done.reason = reason;
  if (verdict === "deny") done.by = "policy";
  if (tool.timeoutMs !== undefined) done.timeoutMs = tool.timeoutMs;
  if (tool.onUnknown !== undefined) done.onUnknown = tool.onUnknown;
  if (lockKeys.length) done.lockKeys = lockKeys;
  return done;
}

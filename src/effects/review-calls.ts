/** Judges the calls of an answer: resolve against the pinned catalogue, then every middleware has its say. */
import { hash } from "node:crypto";
import type { ReviewedCall, Verdict } from "../core/call.ts";
import type { InputOf } from "../core/event.ts";
import { callsOf, type Json, type ToolCallPart } from "../core/message.ts";
import type { HookContext, Opinion } from "../middleware/middleware.ts";
import type { ToolDefinition } from "../ports.ts";
import { effect, messageOf } from "./effect.ts";
import type { Host } from "./host.ts";

export const reviewCalls = effect<{ id: string; answer: number }>(
  async (input, job) => {
    const parts = job.host.transcript.answer(input.answer)?.parts ?? [];
    const calls: ReviewedCall[] = [];
    for (const [i, part] of callsOf(parts).entries()) {
      if (job.settled) return;
      const judged =
        i < job.host.limits.maxToolCallsPerTurn ? judge(job.host, part, () => job.signal) : tooMany(job.host, part);
      calls.push(judged instanceof Promise ? await judged : judged);
    }
    job.settle({ type: "calls.reviewed", calls });
  },
  (error) => {
    throw error;
  },
);

const invalid = (part: ToolCallPart, reason: string): ReviewedCall => ({
  callId: part.callId,
  name: part.name,
  args: part.args ?? null,
  verdict: "invalid",
  reason,
  hash: "",
});
const tooMany = (host: Host, part: ToolCallPart) =>
  invalid(
    part,
    `Not executed: an answer may hold at most ${host.limits.maxToolCallsPerTurn} tool calls. Send fewer at once.`,
  );

/** Of a call's name and arguments; equal calls have equal hashes. */
export const callHash = (name: string, args: unknown): string =>
  hash("sha256", `${name}\n${JSON.stringify(args ?? null)}`).slice(0, 32);

type Effective = { name: string; args: Json; via?: string; tool: ToolDefinition; value: unknown };

/** One call, from what the model wrote to a verdict. Never throws: what goes wrong is in the verdict. */
export async function judge(host: Host, part: ToolCallPart, signal: () => AbortSignal): Promise<ReviewedCall> {
  if (part.args === undefined)
    return invalid(
      part,
      `The arguments are not valid JSON: ${part.raw ?? ""}\nCall ${part.name} again with a JSON object.`,
    );
  const found = resolve(host, part.name, part.args);
  const effective = found instanceof Promise ? await found : found;
  if (typeof effective === "string") return invalid(part, effective);
  const reviewed = review(host, part.callId, effective, signal, false);
  return reviewed instanceof Promise ? await reviewed : reviewed;
}

/** Finds the tool and checks the arguments; a wrapper gives way to its target. Answers with a sentence when it cannot. */
function resolve(host: Host, name: string, args: Json, via?: string): Effective | string | Promise<Effective | string> {
  const { catalogue } = host.pinned;
  const tool = catalogue.get(name);
  if (!tool)
    return `There is no tool named ${JSON.stringify(name)}. The tools are: ${catalogue.names.join(", ") || "none"}.`;
  const finish = (parsed: Awaited<ReturnType<ToolDefinition["parse"]>>) => {
    if (!parsed.ok) return `The arguments of ${name} are not valid: ${parsed.error}`;
    const target = via === undefined ? tool.target?.(parsed.value) : undefined;
    if (target) return resolve(host, target.name, target.args, name);
    return { name, args, tool, value: parsed.value, ...(via === undefined ? {} : { via }) };
  };
  try {
    const parsed = tool.parse(args);
    return parsed instanceof Promise ? parsed.then(finish) : finish(parsed);
  } catch (error) {
    return `The arguments of ${name} could not be checked: ${messageOf(error)}`;
  }
}

const strictness: Record<Verdict, number> = { allow: 0, ask: 1, deny: 2 };

/** The whole chain looks at one effective call. A rewrite makes it look once more; a second one is a denial. */
async function review(
  host: Host,
  callId: string,
  call: Effective,
  signal: () => AbortSignal,
  again: boolean,
): Promise<ReviewedCall> {
  let verdict: Verdict | undefined;
  let reason: string | undefined;
  let lifted = false;
  let rewrite: Json | undefined;
  for (const m of host.chain) {
    if (!m.reviewCall) continue;
    const said = await ask(() => m.reviewCall!(subject(callId, call), host.hookContext(signal())));
    if ("failed" in said)
      host.journal.note({
        type: "middleware.failed",
        middleware: m.name,
        hook: "reviewCall",
        message: said.failed,
      });
    const opinion =
      "failed" in said
        ? { verdict: "deny" as const, reason: `The review of ${m.name} failed.` }
        : opinionOf(said.opinion);
    if (!opinion) continue;
    if (opinion.args !== undefined) rewrite = opinion.args;
    lifted ||= opinion.lift === true;
    if (opinion.verdict && (verdict === undefined || strictness[opinion.verdict] > strictness[verdict])) {
      verdict = opinion.verdict;
      reason = opinion.reason;
    }
  }
  if (verdict !== "deny" && rewrite !== undefined)
    return again
      ? concluded(callId, call, host, "deny", "The arguments were rewritten twice.")
      : rewritten(host, callId, call, rewrite, signal);
  const floor = needsApproval(call);
  if (verdict === undefined) verdict = floor === true || (floor === undefined && !call.tool.readOnly) ? "ask" : "allow";
  else if (verdict === "allow" && floor === true && !lifted) verdict = "ask";
  return concluded(callId, call, host, verdict, reason);
}

async function rewritten(host: Host, callId: string, call: Effective, args: Json, signal: () => AbortSignal) {
  const next = await resolve(host, call.name, args, call.via ?? "");
  if (typeof next === "string")
    return concluded(callId, call, host, "deny", `The rewritten arguments are not valid. ${next}`);
  const effective = { ...next };
  if (call.via === undefined) delete effective.via;
  return review(host, callId, effective, signal, true);
}

/** Reviews arguments that an approver edited: validated, and seen by the whole chain once. */
export async function reviewEdited(
  host: Host,
  callId: string,
  name: string,
  args: Json,
  via?: string,
): Promise<ReviewedCall> {
  const found = await resolve(host, name, args, via ?? "");
  if (typeof found === "string")
    return { ...invalid({ type: "tool-call", callId, name, args }, found), verdict: "deny", by: "policy" };
  const { via: _, ...rest } = found;
  return review(host, callId, via === undefined ? rest : { ...rest, via }, () => new AbortController().signal, true);
}

const subject = (callId: string, call: Effective) => ({
  callId,
  name: call.name,
  args: call.value,
  via: call.via,
  readOnly: call.tool.readOnly,
});

async function ask(opinion: () => Opinion | Promise<Opinion>): Promise<{ opinion: Opinion } | { failed: string }> {
  try {
    return { opinion: await opinion() };
  } catch (error) {
    return { failed: messageOf(error) };
  }
}

function opinionOf(opinion: Opinion) {
  if (opinion === undefined || opinion === "abstain") return undefined;
  return typeof opinion === "string"
    ? { verdict: opinion, reason: undefined, args: undefined, lift: undefined }
    : opinion;
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

/** Locks and hash are of the arguments that will run. A tool that cannot name its locks is denied. */
function concluded(
  callId: string,
  call: Effective,
  host: Host,
  verdict: Verdict,
  reason: string | undefined,
): ReviewedCall {
  const done: ReviewedCall = {
    callId,
    name: call.name,
    args: call.args,
    verdict,
    // Only a decision needs to know which arguments it was about.
    hash: verdict === "ask" ? callHash(call.name, call.args) : "",
  };
  if (call.via !== undefined) done.via = call.via;
  if (reason !== undefined) done.reason = reason;
  if (verdict === "deny") done.by = "policy";
  if (call.tool.timeoutMs !== undefined) done.timeoutMs = call.tool.timeoutMs;
  if (call.tool.onUnknown !== undefined) done.onUnknown = call.tool.onUnknown;
  if (!call.tool.lockKey || verdict === "deny") return done;
  try {
    const lockKeys = call.tool.lockKey(call.value, { workspace: host.workspace });
    if (lockKeys.length) done.lockKeys = lockKeys;
    return done;
  } catch (error) {
    return {
      ...done,
      verdict: "deny",
      by: "policy",
      reason: `Its lock keys are unknown: ${messageOf(error)}`,
    };
  }
}

export type { HookContext };
export type ReviewedEvent = InputOf<"calls.reviewed">;

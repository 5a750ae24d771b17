/** Input events, short to write. */
import type { InputEvent } from "../../machines/index.ts";
import type { Approvals, ReviewedCall, SettledDecision } from "../../src/core/call.ts";
import type { MachineRunOptions } from "../../src/core/config.ts";
import type { InputOf } from "../../src/core/event.ts";
import type { Failure } from "../../src/core/failure.ts";
import { text, type Message, type ResultStatus } from "../../src/core/message.ts";
import type { Directive } from "../../src/core/projection.ts";

const said = (words: string) => (words === "" ? [] : [text(words)]);
const hashOf = (callId: string) => `hash-${callId}`;

/* inputs */
export const prompt = (id = "p1", more: Partial<InputOf<"input.received">> = {}): InputEvent => ({
  type: "input.received",
  id,
  kind: "prompt",
  parts: said(`words of ${id}`),
  ...more,
});
export const notice = (id = "n1"): InputEvent => prompt(id, { kind: "info" });
export const defer = (id = "d1", forRun?: string): InputEvent =>
  prompt(id, forRun === undefined ? { kind: "defer" } : { kind: "defer", forRun });
export const withdrawn = (...ids: string[]): InputEvent => ({ type: "input.withdrawn", ids });
export const admitted = (...verdicts: InputOf<"inputs.reviewed">["verdicts"]): InputEvent => ({
  type: "inputs.reviewed",
  verdicts,
});

/* runs */
export type Options = Partial<Omit<MachineRunOptions, "approvals">> & { approvals?: Partial<Approvals> };
export const optionsOf = ({ approvals, ...rest }: Options = {}): MachineRunOptions => ({
  ...rest,
  approvals: { mode: "wait", unanswered: "deny", onSteer: "deny-pending", ...approvals },
});
export const run = (runId = "r1", options: Options = {}, more: Partial<InputOf<"run.requested">> = {}): InputEvent => ({
  type: "run.requested",
  runId,
  options: optionsOf(options),
  ...more,
});
export const goOn = (runId = "r2", options: Options = {}): InputEvent => run(runId, options, { continued: true });
export const cancel = (more: Partial<InputOf<"cancel.requested">> = {}): InputEvent => ({
  type: "cancel.requested",
  ...more,
});
export const close: InputEvent = { type: "close.requested" };
export const storeFailed: InputEvent = { type: "store.failed", message: "disk full" };
export const opened = (taskId = "t1"): InputEvent => ({ type: "task.opened", taskId, label: "a build" });
export const done = (taskId = "t1"): InputEvent => ({ type: "task.settled", taskId });
export const elapsed = (timer = "wait"): InputEvent => ({ type: "timer.elapsed", timer });
export const stopReviewed = (...ids: string[]): InputEvent => ({
  type: "stop.reviewed",
  feedback: ids.map((id) => ({ id, parts: said(`not done: ${id}`) })),
});
/** The answer does not fit the output schema. */
export const unfit = (...ids: string[]): InputEvent => ({
  type: "stop.reviewed",
  feedback: ids.map((id) => ({ id, parts: said("Answer again.") })),
  invalid: "- count: expected a number",
});
export const imported = (...messages: Message[]): InputEvent => ({ type: "history.imported", messages, tokens: 40 });

/* compaction */
export const compaction = (mode?: "summarize" | "discard"): InputEvent => ({
  type: "compaction.requested",
  ...(mode ? { mode } : {}),
});
export const compacted = (directive?: Directive, tokens = 10): InputEvent => ({
  type: "compaction.completed",
  tokens,
  ...(directive ? { directive } : {}),
});
export const compactionFailed: InputEvent = { type: "compaction.failed", message: "no summary" };

/* turns */
export const prepared = (tokens = 100, stable = false): InputEvent => ({
  type: "request.prepared",
  catalogue: "c",
  tools: [],
  tokens,
  ...(stable ? { stable } : {}),
});
/** An answer with calls of a tool, one for each id; without any it is final. */
export const answer = (
  callIds: readonly string[] = [],
  more: Partial<InputOf<"model.completed">> = {},
): InputEvent => ({
  type: "model.completed",
  message: {
    id: `m-${callIds.join("-")}`,
    role: "assistant",
    parts: [text("so"), ...callIds.map((callId) => ({ type: "tool-call" as const, callId, name: "look", args: {} }))],
  },
  finishReason: callIds.length ? "tool-calls" : "stop",
  ...more,
});
export const failedWith = (kind: Failure["class"], words = ""): InputEvent => ({
  type: "model.failed",
  failure: { class: kind, message: kind },
  parts: said(words),
});

export const failedOver = (kind: Failure["class"], next: string): InputEvent => ({
  type: "model.failed",
  failure: { class: kind, message: kind, next },
  parts: [],
});

/* calls */
export const verdictOn = (callId: string, verdict: ReviewedCall["verdict"], more: Partial<ReviewedCall> = {}) => ({
  callId,
  name: "look",
  args: {},
  verdict,
  hash: hashOf(callId),
  ...more,
});
export const reviewed = (...calls: ReviewedCall[]): InputEvent => ({ type: "calls.reviewed", calls });
export const allowed = (...callIds: string[]): InputEvent => reviewed(...callIds.map((id) => verdictOn(id, "allow")));
export const asks = (...callIds: string[]): InputEvent => reviewed(...callIds.map((id) => verdictOn(id, "ask")));
export const decisionOn = (
  callId: string,
  decision: SettledDecision["decision"] = "allow",
  more: Partial<SettledDecision> = {},
): SettledDecision => ({ callId, decision, by: "user", hash: hashOf(callId), ...more });
export const decided = (...decisions: SettledDecision[]): InputEvent => ({ type: "approval.settled", decisions });
export const settled = (callId: string, status: ResultStatus = "ok", words = "found"): InputEvent => ({
  type: "tool.settled",
  callId,
  name: "look",
  status,
  output: said(words),
});

/* session */
export const resumed = (config: InputOf<"session.resumed">["config"]): InputEvent => ({
  type: "session.resumed",
  config,
  drift: [],
});
export const modeChanged = (mode: string): InputEvent => ({ type: "mode.changed", mode });

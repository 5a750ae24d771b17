/** One event of every type, the most fitting one for where a walk stands. */
import type { InputEvent } from "../../machines/index.ts";
import { text } from "../../src/core/message.ts";
import * as e from "./events.ts";
import { configOf, type Walk } from "./walk.ts";

const callOf = (walk: Walk): string => walk.context.draft?.calls[0]?.callId ?? "c1";
const waitingOf = (walk: Walk): string => walk.context.inbox[0]?.id ?? "n0";

export const samples: { readonly [K in InputEvent["type"]]: (walk: Walk) => InputEvent } = {
  "session.opened": (walk) => ({
    type: "session.opened",
    id: "s",
    agent: "a",
    instructions: "",
    tools: [],
    config: walk.config,
  }),
  "session.resumed": () => e.resumed(configOf({ limits: { maxTurns: 7 } })),
  "input.received": () => e.prompt("p9"),
  "input.withdrawn": (walk) => e.withdrawn(waitingOf(walk)),
  "inputs.reviewed": (walk) => e.admitted({ id: waitingOf(walk), parts: [text("rewritten")], info: ["aside"] }),
  "mode.changed": () => e.modeChanged("plan"),
  "cancel.requested": () => e.cancel(),
  "compaction.requested": () => e.compaction("discard"),
  "run.requested": () => e.run("r9"),
  "close.requested": () => e.close,
  "history.imported": () => e.imported({ id: "h9", role: "user", kind: "prompt", parts: [text("before")] }),
  "request.prepared": () => e.prepared(),
  "model.completed": () => e.answer(["c9"]),
  "model.failed": () => e.failedWith("timeout", "half a sen"),
  "calls.reviewed": (walk) => e.allowed(...(walk.context.draft?.calls ?? []).map((c) => c.callId)),
  "approval.settled": (walk) => e.decided(e.decisionOn(callOf(walk))),
  "tool.settled": (walk) => e.settled(callOf(walk)),
  "compaction.completed": () => e.compacted({ kind: "discard", upTo: 1, kept: [0] }),
  "compaction.failed": () => e.compactionFailed,
  "stop.reviewed": () => e.stopReviewed("f9"),
  "timer.elapsed": () => e.elapsed(),
  "store.failed": () => e.storeFailed,
  "focus.updated": () => ({ type: "focus.updated", patch: {} }),
  "memory.updated": () => ({ type: "memory.updated", key: "k", value: 1 }),
  "title.generated": () => ({ type: "title.generated", title: "A title" }),
  "task.opened": () => e.opened("t9"),
  "task.settled": (walk) => e.done((walk.context.tasks.length ? walk : walk.feed(e.opened("t8"))).context.tasks[0]),
  "subagent.opened": () => ({ type: "subagent.opened", sessionId: "s2", callId: "c1" }),
};

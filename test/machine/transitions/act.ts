/** The transitions of `act`. */
import { expect } from "vitest";
import { sessionMachine } from "../../../machines/index.ts";
import * as e from "../events.ts";
import { answered, asking, executing } from "../reach.ts";
import type { Snapshot, Walk } from "../walk.ts";
import { results, scenario, told, waysOut, type Scenario } from "./scenario.ts";

const reviewing: readonly Scenario[] = [
  scenario(
    "act.reviewing / always [isUndecided]",
    "Every ask of a batch goes out at once; nothing of the batch runs meanwhile.",
    () => answered(["c1", "c2", "c3"]),
    e.reviewed(e.verdictOn("c1", "ask"), e.verdictOn("c2", "allow"), e.verdictOn("c3", "ask")),
    (walk) => {
      expect(told(walk, "approval.requested").requests.map((r) => r.callId)).toEqual(["c1", "c3"]);
      expect(walk.started).toEqual(["askApproval"]);
    },
  ),
  scenario(
    "act.reviewing / always [isUnexecuted]",
    "What is allowed runs beside what is denied.",
    () => answered(),
    e.reviewed(e.verdictOn("c1", "deny"), e.verdictOn("c2", "allow")),
    (walk) => expect(walk.started).toEqual(["c2"]),
  ),
  scenario(
    "act.reviewing / always [isSettled]",
    "A batch that is wholly denied or invalid is committed without running anything.",
    () => answered(),
    e.reviewed(e.verdictOn("c1", "deny"), e.verdictOn("c2", "invalid", { reason: "no such tool" })),
    (walk) => expect(results(walk)).toEqual({ c1: "denied", c2: "failed" }),
  ),
  scenario(
    "act.reviewing / calls.reviewed [isAllAllowed]",
    "A batch that is wholly allowed starts at once.",
    () => answered(),
    e.allowed("c1", "c2"),
    (walk) => {
      expect(walk.said).toEqual(["tool.started", "tool.started"]);
      expect(walk.started).toEqual(["c1", "c2"]);
    },
  ),
  scenario(
    "act.reviewing / calls.reviewed",
    "With nobody to ask, an ask is a denial.",
    () => answered(["c1", "c2"], { approvals: { mode: "deny" } }),
    e.asks("c1", "c2"),
    (walk) => {
      expect(walk.said).not.toContain("approval.requested");
      expect(results(walk)).toEqual({ c1: "denied", c2: "denied" });
    },
  ),
  ...waysOut("act.reviewing"),
];

const approving: readonly Scenario[] = [
  scenario(
    "act.approving / always [mustSuspend]",
    "With nobody in this process to answer, the run is suspended without ending.",
    () => answered(["c1"], { approvals: { mode: "suspend" } }),
    e.asks("c1"),
    (walk) => {
      expect(told(walk, "run.suspended").pending.map((r) => r.callId)).toEqual(["c1"]);
      expect(walk.said).not.toContain("run.ended");
    },
  ),
  scenario(
    "act.approving / always [isUnexecuted]",
    "After the last decision the allowed calls run; one rejection does not touch its siblings.",
    () => asking().feed(e.decided(e.decisionOn("c2", "deny"))),
    e.decided(e.decisionOn("c1", "allow")),
    (walk) => expect(walk.started).toEqual(["c1"]),
  ),
  scenario(
    "act.approving / always [isSettled]",
    "A batch that is answered without running anything is committed.",
    () => asking(),
    e.decided(e.decisionOn("c1", "respond", { text: "42" }), e.decisionOn("c2", "timeout")),
    (walk) => expect(results(walk)).toEqual({ c1: "ok", c2: "timeout" }),
  ),
  scenario(
    "act.approving / approval.settled",
    "A batch that is half decided waits, and no decision is lost.",
    () => asking(),
    e.decided(e.decisionOn("c2")),
    (walk) => {
      expect(walk.started).toEqual([]);
      expect(walk.context.draft?.calls.map((c) => c.stage)).toEqual(["asked", "ready"]);
    },
  ),
  scenario(
    "act.approving / input.received [deniesOnSteer]",
    "Writing instead of deciding denies what is open, and the message is in the next turn.",
    () => asking(),
    e.prompt("p2", { steering: true }),
    (walk) => {
      expect(results(walk)).toEqual({ c1: "denied", c2: "denied" });
      expect(told(walk, "turn.started")).toMatchObject({ inputs: ["p2"] });
    },
  ),
  scenario(
    "act.approving / input.received",
    "With the policy to queue, a message waits and the asks stay open.",
    () => asking({ approvals: { onSteer: "queue" } }),
    e.prompt("p2", { steering: true }),
    (walk) => {
      expect(walk.state).toBe("act.approving");
      expect(walk.context.inbox.map((i) => i.id)).toEqual(["p2"]);
    },
  ),
  ...waysOut("act.approving"),
];

/** No event leads here by itself: the last result commits. The machine holds it true all the same. */
function allSettled(): Walk {
  const walk = executing().feed(e.settled("c1"));
  const draft = walk.context.draft!;
  const [first, second] = draft.calls;
  const result = { ...first!.result!, callId: "c2" };
  const calls = [first!, { ...second!, stage: "settled" as const, result }];
  const context = { ...walk.context, draft: { ...draft, calls } };
  walk.snapshot = sessionMachine.resolveState({ value: walk.snapshot.value, context }) as Snapshot;
  return walk;
}

const executed: readonly Scenario[] = [
  scenario(
    "act.executing / always [isSettled]",
    "A batch in which every call has its result is committed, whatever led there.",
    allSettled,
    e.modeChanged("plan"),
    (walk) => expect(results(walk)).toEqual({ c1: "ok", c2: "ok" }),
  ),
  scenario(
    "act.executing / tool.settled [isItsCall]",
    "A tool that settles makes room for the next in line.",
    () => executing({}, { limits: { toolConcurrency: 1 } }),
    e.settled("c1"),
    (walk) => {
      expect(walk.stopped).toEqual(["tool.c1"]);
      expect(walk.started).toEqual(["c2"]);
    },
  ),
  scenario(
    "act.executing / tool.settled [isLastCall]",
    "The last result commits the batch: results in call order, whatever order they came in.",
    () => executing().feed(e.settled("c2")),
    e.settled("c1", "failed"),
    (walk) => {
      expect(told(walk, "exchange.committed").results.map((r) => [r.callId, r.status])).toEqual([
        ["c1", "failed"],
        ["c2", "ok"],
      ]);
    },
  ),
  scenario(
    "act.executing / cancel.requested [concernsThisRun]",
    "A cancel asks running tools to stop, drops the others, and keeps real results.",
    () => executing({}, { limits: { toolConcurrency: 1 } }),
    e.cancel(),
    (walk) => {
      expect(walk.aborted).toEqual(["tool.c1"]);
      walk.feed(e.settled("c1", "ok"));
      expect(results(walk)).toEqual({ c1: "ok", c2: "cancelled" });
    },
  ),
  scenario(
    "act.executing / close.requested",
    "Closing asks running tools to stop and closes after their results are committed.",
    () => executing(),
    e.close,
    (walk) => {
      expect(walk.aborted).toEqual(["tool.c1", "tool.c2"]);
      walk.feed(e.settled("c1", "cancelled"), e.settled("c2", "abandoned"));
      expect(results(walk)).toEqual({ c1: "cancelled", c2: "abandoned" });
      expect(walk.state).toBe("closed");
    },
  ),
  scenario(
    "act.executing / store.failed",
    "When the journal cannot be written, what runs may finish and nothing more starts.",
    () => executing({}, { limits: { toolConcurrency: 1 } }),
    e.storeFailed,
    (walk) => {
      expect(walk.aborted).toEqual([]);
      walk.feed(e.settled("c1"));
      expect(results(walk)).toEqual({ c1: "ok", c2: "cancelled" });
      expect(told(walk, "run.ended")).toMatchObject({ status: "failed", error: { code: "store" } });
    },
  ),
  scenario(
    "act.committing / always",
    "After the commit it is decided how to go on.",
    () => executing().feed(e.settled("c1")),
    e.settled("c2"),
    (walk) => expect(walk.trail.slice(0, 2)).toEqual(["act.committing", "receive.deciding"]),
  ),
];

export const act: readonly Scenario[] = [...reviewing, ...approving, ...executed];

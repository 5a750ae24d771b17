/** The transitions of `receive`. */
import { expect } from "vitest";
import { text } from "../../../src/core/message.ts";
import * as e from "../events.ts";
import { answered, executing, reach, requesting, suspended } from "../reach.ts";
import { Walk } from "../walk.ts";
import { results, scenario, told, waysOut, type Scenario } from "./scenario.ts";

const user = { id: "h1", role: "user" as const, kind: "prompt" as const, parts: [text("before")] };

const idle: readonly Scenario[] = [
  scenario(
    "receive.idle / run.requested",
    "A run that is asked for begins, and its prompt is in its first turn.",
    () => new Walk().feed(e.prompt()),
    e.run(),
    (walk) => {
      expect(told(walk, "run.started")).toMatchObject({ runId: "r1" });
      expect(told(walk, "turn.started")).toEqual({ type: "turn.started", turn: 1, inputs: ["p1"] });
    },
  ),
  scenario(
    "receive.idle / compaction.requested",
    "A compaction by hand starts without a run.",
    () => requesting().feed(e.answer()),
    e.compaction("discard"),
    (walk) => {
      expect(told(walk, "compaction.started")).toMatchObject({ reason: "manual", kind: "discard" });
      expect(walk.started).toEqual(["discard"]);
    },
  ),
  scenario(
    "receive.idle / history.imported [isFresh]",
    "Imported history that ends with a user owes an answer.",
    () => new Walk(),
    e.imported(user),
    (walk) => {
      expect(walk.context.owed).toBe(true);
      expect(walk.feed(e.goOn()).state).toBe("reason.preparing");
    },
  ),
  scenario(
    "receive.idle / cancel.requested [hasOpenRun]",
    "A cancel ends a suspended run; its calls get their results.",
    suspended,
    e.cancel({ reason: "never mind" }),
    (walk) => {
      expect(results(walk)).toEqual({ c1: "cancelled", c2: "cancelled" });
      expect(told(walk, "run.ended")).toMatchObject({ status: "cancelled", reason: "never mind" });
    },
  ),
  scenario(
    "receive.idle / close.requested",
    "Closing a session with a suspended run ends that run as interrupted.",
    suspended,
    e.close,
    (walk) => {
      expect(told(walk, "run.ended")).toMatchObject({ status: "cancelled", reason: "interrupted" });
      expect(walk.state).toBe("closed");
    },
  ),
  scenario(
    "receive.idle / always [isClosing]",
    "An idle session that is asked to close is closed at once.",
    () => new Walk(),
    e.close,
    (walk) => {
      expect(walk.said).toEqual(["session.closed"]);
      expect(walk.snapshot.status).toBe("done");
    },
  ),
];

const goingOn: readonly Scenario[] = [
  scenario(
    "receive.deciding / always [isAtRest]",
    "A suspended run stays open while nothing is active.",
    () => answered(["c1"], { approvals: { mode: "suspend" } }),
    e.asks("c1"),
    (walk) => {
      expect(walk.said.slice(-2)).toEqual(["phase.ended act", "run.suspended"]);
      expect(walk.context.run).toMatchObject({ id: "r1", parked: true });
    },
  ),
  scenario(
    "receive.deciding / always [isUnreviewed]",
    "Going on after a crash in the review asks for verdicts again.",
    () => answered(["c1"]).feed(e.resumed(new Walk().config)),
    e.goOn(),
    (walk) => expect(walk.started).toEqual(["reviewCalls"]),
  ),
  scenario(
    "receive.deciding / always [isUndecided]",
    "Going on with a suspended run asks again for what is still undecided.",
    () => suspended().feed(e.decided(e.decisionOn("c1"))),
    e.goOn("r2", { approvals: { mode: "wait" } }),
    (walk) => {
      expect(told(walk, "approval.requested").requests.map((r) => r.callId)).toEqual(["c2"]);
      expect(walk.context.run?.id).toBe("r1");
    },
  ),
  scenario(
    "receive.deciding / always [isUnexecuted]",
    "Going on after every decision has arrived runs the tools.",
    () => suspended().feed(e.decided(e.decisionOn("c1"), e.decisionOn("c2"))),
    e.goOn(),
    (walk) => expect(walk.started).toEqual(["c1", "c2"]),
  ),
  scenario(
    "receive.deciding / always [isUncommitted]",
    "Going on with results that were not committed commits them, and no tool runs again.",
    () => executing().feed(e.settled("c1"), e.resumed(new Walk().config)),
    e.goOn(),
    (walk) => expect(results(walk)).toEqual({ c1: "ok", c2: "unknown" }),
  ),
  scenario(
    "receive.deciding / always [hasUnreviewedInput]",
    "A prompt is reviewed before a turn takes it.",
    () => new Walk({ reviews: { input: true } }).feed(e.prompt()),
    e.run(),
    (walk) => expect(walk.started).toEqual(["reviewInputs"]),
  ),
  scenario(
    "receive.deciding / always [isTurnOpen]",
    "Going on after a crash in a request asks again in the same turn.",
    () => requesting().feed(e.resumed(new Walk().config)),
    e.goOn(),
    (walk) => {
      expect(walk.said).not.toContain("turn.started");
      walk.feed(e.prepared());
      expect(told(walk, "attempt.started")).toMatchObject({ turn: 1, attempt: 2 });
    },
  ),
  scenario(
    "receive.deciding / always [hasMore]",
    "Results of tools are an answer that the model owes: another turn follows.",
    () => executing().feed(e.settled("c1")),
    e.settled("c2"),
    (walk) => expect(told(walk, "turn.started")).toMatchObject({ turn: 2, inputs: [] }),
  ),
  scenario(
    "receive.deciding / always [mustWait]",
    "With nothing to do but background work open, the run waits for it.",
    () => requesting().feed(e.opened()),
    e.answer(),
    (walk) => expect(told(walk, "run.waiting")).toMatchObject({ tasks: ["t1"], waitMs: 120_000 }),
  ),
  scenario(
    "receive.deciding / always [mustReviewStop]",
    "A final answer is reviewed before the run ends.",
    () => requesting(undefined, { reviews: { stop: true } }),
    e.answer(),
    (walk) => expect(walk.started).toEqual(["reviewStop"]),
  ),
];

const ending: readonly Scenario[] = [
  scenario(
    "receive.deciding / always [mustSettle]",
    "A new run first settles the open exchange of the one that was cut.",
    () => executing().feed(e.settled("c1"), e.resumed(new Walk().config), e.prompt("p2")),
    e.run("r2", {}, { inputs: ["p2"] }),
    (walk) => expect(results(walk)).toEqual({ c1: "ok", c2: "unknown" }),
  ),
  scenario(
    "receive.deciding / always [isReplaced]",
    "A new run takes the place of one that was cut, which ends as interrupted.",
    () => requesting().feed(e.resumed(new Walk().config), e.prompt("p2")),
    e.run("r2", {}, { inputs: ["p2"] }),
    (walk) => {
      const ended = told(walk, "run.ended");
      expect(ended).toMatchObject({ runId: "r1", status: "cancelled", reason: "interrupted", undelivered: [] });
      expect(told(walk, "run.started")).toMatchObject({ runId: "r2" });
    },
  ),
  scenario(
    "receive.deciding / always [isEnding]",
    "A run that is on its way out ends where it is decided.",
    () => requesting(),
    e.failedWith("auth"),
    (walk) => expect(told(walk, "run.ended")).toMatchObject({ status: "failed", error: { code: "auth" } }),
  ),
  scenario(
    "receive.deciding / always [isCutForGood]",
    "An answer that is cut once more than may be gone on with ends the run as truncated.",
    () => requesting(undefined, { limits: { continuations: 0 } }),
    e.answer([], { finishReason: "length" }),
    (walk) => expect(told(walk, "run.ended")).toMatchObject({ status: "truncated", turns: 1 }),
  ),
  scenario(
    "receive.deciding / always [isOutOfTurns]",
    "With work left and no turn for it, the run ends at the limit with its history whole.",
    () => executing({ maxTurns: 1 }).feed(e.settled("c1")),
    e.settled("c2"),
    (walk) => {
      expect(results(walk)).toEqual({ c1: "ok", c2: "ok" });
      expect(told(walk, "run.ended")).toMatchObject({ status: "max_turns", turns: 1 });
    },
  ),
  scenario(
    "receive.deciding / always [isOverBudget]",
    "With work left and no money for it, the run ends at the budget.",
    () => requesting({ maxBudgetUsd: 0.5 }).feed(e.answer(["c1"], { usage: { costUsd: 0.5 } }), e.allowed("c1")),
    e.settled("c1"),
    (walk) => expect(told(walk, "run.ended")).toMatchObject({ status: "budget" }),
  ),
  scenario(
    "receive.deciding / always",
    "With nothing left to do the run is completed.",
    () => requesting({ maxTurns: 1 }),
    e.answer(),
    (walk) => {
      expect(walk.said.slice(-3)).toEqual(["exchange.committed", "phase.ended act", "run.ended"]);
      expect(told(walk, "run.ended")).toMatchObject({ status: "completed", turns: 1, undelivered: [] });
    },
  ),
];

const reviewing: readonly Scenario[] = [
  scenario(
    "receive.admitting / inputs.reviewed",
    "A refused prompt does not enter the transcript, and a run with nothing else is blocked.",
    reach["receive.admitting"]!,
    e.admitted({ id: "p1", refused: "off topic" }),
    (walk) => {
      expect(told(walk, "input.refused")).toMatchObject({ id: "p1", reason: "off topic" });
      expect(told(walk, "run.ended")).toMatchObject({ status: "blocked", reason: "off topic" });
      expect(walk.transcript.entries).toEqual([]);
    },
  ),
  ...waysOut("receive.admitting"),
  scenario(
    "receive.closing / stop.reviewed",
    "Feedback of a stop review sends the run on.",
    reach["receive.closing"]!,
    e.stopReviewed("f1"),
    (walk) => expect(told(walk, "turn.started")).toMatchObject({ turn: 2, inputs: ["f1"] }),
  ),
  ...waysOut("receive.closing"),
];

const waiting: readonly Scenario[] = [
  scenario(
    "receive.waiting / input.received [wakes]",
    "A prompt wakes a waiting run and is in its next turn.",
    reach["receive.waiting"]!,
    e.prompt("p2"),
    (walk) => {
      expect(told(walk, "run.woken")).toMatchObject({ reason: "input" });
      expect(told(walk, "turn.started")).toMatchObject({ inputs: ["p2"] });
    },
  ),
  scenario(
    "receive.waiting / input.received",
    "A notice waits without waking the run.",
    reach["receive.waiting"]!,
    e.notice(),
    (walk) => {
      expect(walk.said).toEqual([]);
      expect(walk.context.inbox.map((i) => i.id)).toEqual(["n1"]);
    },
  ),
  scenario(
    "receive.waiting / task.settled",
    "The last background work that settles lets the run end.",
    reach["receive.waiting"]!,
    e.done(),
    (walk) => expect(walk.said).toEqual(["run.woken", "run.ended"]),
  ),
  scenario(
    "receive.waiting / timer.elapsed",
    "Past its bound a wait is over: the run is completed and names what is still open.",
    reach["receive.waiting"]!,
    e.elapsed(),
    (walk) => {
      expect(told(walk, "run.woken")).toMatchObject({ reason: "timeout" });
      expect(told(walk, "run.ended")).toMatchObject({ status: "completed", openTasks: ["t1"] });
    },
  ),
  ...waysOut("receive.waiting"),
];

export const receive: readonly Scenario[] = [...idle, ...goingOn, ...ending, ...reviewing, ...waiting];

/** The questions the machine asks. Each is a sentence about the context, and of the event where it says so. */
import { mayAnswerOverflow, planCompaction, type Step } from "../../src/core/lap.ts";
import { mayAskAgain } from "../../src/core/failure.ts";
import type { InputEvent, InputOf } from "../../src/core/event.ts";
import { callsOf } from "../../src/core/message.ts";
import type { CallStage } from "../../src/core/batch.ts";
import { mayTake, refusal, unreviewed } from "../../src/core/inbox.ts";
import { mayBeSentOn } from "../../src/core/run.ts";
import { pressureOf, type SessionContext } from "./context.ts";

type Asks<E extends InputEvent = InputEvent> = (args: { context: SessionContext; event: E }) => boolean;
/** A guard that looks at the context only. */
const when =
  (holds: (c: SessionContext) => boolean): Asks<any> =>
  ({ context }) =>
    holds(context);
/** A guard of one event's transition. */
const on =
  <K extends InputEvent["type"]>(_type: K, holds: (c: SessionContext, e: InputOf<K>) => boolean): Asks<any> =>
  ({ context, event }) =>
    holds(context, event);

/* receive */
const hasInput = (c: SessionContext) => c.inbox.some((i) => i.kind !== "info" && mayTake(i, c.run?.id));
const hasWork = (c: SessionContext) => c.owed || c.continues || hasInput(c);
export const isAtRest = when((c) => !c.run || c.run.parked);
export const isClosing = when((c) => c.closing);
export const hasOpenRun = on("cancel.requested", (c, e) => c.run !== null && concerns(c, e));
export const mustSettle = when((c) => c.ending !== null && !!c.draft?.answer);
export const isReplaced = when((c) => c.ending?.next !== undefined);
export const isEnding = when((c) => c.ending !== null);
export const hasUnreviewedInput = when((c) => unreviewed(c.inbox).length > 0);
export const isTurnOpen = when((c) => c.draft !== null);
export const isCutForGood = when((c) => c.continues && c.run!.continuations > c.config.limits.continuations);
export const isOutOfTurns = when((c) => {
  const max = c.run!.options.maxTurns ?? c.config.limits.maxTurns;
  return max >= 0 && c.run!.turns >= max && hasWork(c);
});
export const isOverBudget = when((c) => {
  const max = c.run!.options.maxBudgetUsd ?? c.config.limits.maxBudgetUsd;
  return max > 0 && c.run!.costUsd >= max && hasWork(c);
});
export const hasMore = when(hasWork);
export const mustWait = when((c) => c.tasks.length > 0 && !c.run!.waitedOut);
export const mustReviewStop = when(
  (c) => c.run!.turns > 0 && !c.run!.stopReviewed && (!!c.run!.options.output || mayBeSentOn(c.run!, c.config)),
);
const joins = (c: SessionContext, e: InputOf<"input.received">) =>
  refusal(c.inbox, e, c.config.limits, c.run?.id) === undefined;
export const wakes = on("input.received", (c, e) => e.kind !== "info" && joins(c, e));
export const isFresh = when((c) => c.turn === 0 && c.run === null);
const concerns = (c: SessionContext, e: InputOf<"cancel.requested">) => e.runId === undefined || e.runId === c.run?.id;
export const concernsThisRun = on("cancel.requested", concerns);

/* compact */
const isNext = (step: Step) => when((c) => planCompaction(c.compaction, c.config.compaction, pressureOf(c)) === step);
export const needsNoCompaction = when((c) => c.compaction.cause === null);
export const isPrepared = when((c) => c.compaction.cause === null && c.run!.prepared);
export const isOnlyCompacting = when((c) => c.compaction.cause === "manual");
export const mustElide = isNext("elide");
export const mustSummarize = isNext("summarize");
export const mustDiscard = isNext("discard");
export const isExhausted = isNext("exhausted");

export const freesNothing = on("compaction.completed", (_, e) => e.directive === undefined);

/* reason */
export const mustCompactForIt = on(
  "model.failed",
  (c, e) => c.ending === null && e.failure.class === "overflow" && mayAnswerOverflow(c.compaction),
);
export const isOverflow = on("model.failed", (c, e) => c.ending === null && e.failure.class === "overflow");
export const mayRetry = on(
  "model.failed",
  (c, e) => c.ending === null && mayAskAgain(e.failure, c.draft!.tries, c.config.limits),
);
export const mustReview = on(
  "model.completed",
  (c, e) => c.ending === null && e.finishReason !== "length" && callsOf(e.message.parts).length > 0,
);

/* act */
const some = (stage: CallStage) => (c: SessionContext) => c.draft!.calls.some((call) => call.stage === stage);
const asked = some("asked");
const proposed = some("proposed");
const every = (c: SessionContext, stage: CallStage) => c.draft!.calls.every((call) => call.stage === stage);
export const isUnreviewed = when((c) => !!c.draft?.answer && proposed(c));
export const isUndecided = when((c) => !!c.draft?.answer && !proposed(c) && asked(c));
export const isUnexecuted = when((c) => !!c.draft?.answer && !proposed(c) && !asked(c) && !every(c, "settled"));
export const isUncommitted = when((c) => !!c.draft?.answer);
export const isAllAllowed = on("calls.reviewed", (c, e) =>
  c.draft!.calls.every((call) =>
    call.stage === "proposed"
      ? e.calls.some((v) => v.callId === call.callId && v.verdict === "allow")
      : call.stage !== "asked",
  ),
);
export const isSettled = when((c) => every(c, "settled"));
export const mustSuspend = when((c) => {
  const { mode, unanswered } = c.run!.options.approvals;
  return asked(c) && (mode === "suspend" || (mode === "callback" && c.draft!.answered && unanswered === "suspend"));
});
export const deniesOnSteer = on(
  "input.received",
  (c, e) => e.kind === "prompt" && joins(c, e) && c.run?.options.approvals.onSteer === "deny-pending",
);
export const isLastCall = on("tool.settled", (c, e) =>
  c.draft!.calls.every((call) => (call.callId === e.callId ? call.stage === "running" : call.stage === "settled")),
);
export const isItsCall = on("tool.settled", (c, e) =>
  c.draft!.calls.some((call) => call.callId === e.callId && call.stage === "running"),
);

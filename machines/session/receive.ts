/** Receive: the only phase that waits, goes round again, or ends a run. */
import { unreviewed } from "../../src/core/inbox.ts";
import { stopOptions } from "../../src/core/run.ts";
import { leavesTo, sessionSetup } from "./setup.ts";

export const receive = sessionSetup.createStateConfig({
  initial: "idle",
  states: {
    /** Nothing is active. A run may lie open here: suspended, or cut by a crash. */
    idle: {
      always: { guard: "isClosing", target: "#session.closed" },
      on: {
        "run.requested": { target: "deciding", actions: "beginRun" },
        "compaction.requested": { target: "#session.compact", actions: "requestCompaction" },
        "history.imported": { guard: "isFresh", actions: "importHistory" },
        "cancel.requested": { guard: "hasOpenRun", target: "deciding", actions: "cancelRun" },
        "close.requested": { target: "deciding", actions: "closeSession" },
      },
    },

    /** The one decision point: a single look at inbox, exchange, background work and flags. */
    deciding: {
      always: [
        { guard: "isAtRest", target: "idle" },
        // On the way out: what is open is settled first, then the run ends.
        { guard: "mustSettle", target: "#session.act.committing" },
        { guard: "isReplaced", target: "deciding", actions: "endAsAsked" },
        { guard: "isEnding", target: "idle", actions: "endAsAsked" },
        // Going on after a suspension or a crash: back into the open exchange, or the cut request.
        { guard: "isUnreviewed", target: "#session.act.reviewing" },
        { guard: "isUndecided", target: "#session.act.approving" },
        { guard: "isUnexecuted", target: "#session.act.executing" },
        { guard: "isUncommitted", target: "#session.act.committing" },
        { guard: "hasUnreviewedInput", target: "admitting" },
        { guard: "isTurnOpen", target: "#session.compact" },
        // Another lap, unless a limit forbids it.
        { guard: "isCutForGood", target: "idle", actions: "endTruncated" },
        { guard: "isOutOfTurns", target: "idle", actions: "endAtTurnLimit" },
        { guard: "isOverBudget", target: "idle", actions: "endOverBudget" },
        { guard: "hasMore", target: "#session.compact" },
        // The model is done; others may not be.
        { guard: "mustWait", target: "waiting" },
        { guard: "mustReviewStop", target: "closing" },
        { target: "idle", actions: "endQuietly" },
      ],
    },

    /** `onInput` looks at new prompts. */
    admitting: {
      invoke: {
        src: "reviewInputs",
        input: ({ context }) => ({ id: context.id, ids: unreviewed(context.inbox) }),
      },
      on: {
        "inputs.reviewed": { target: "deciding", actions: "admitInputs" },
        ...leavesTo("deciding"),
      },
    },

    /** Only background work is open. */
    waiting: {
      entry: "startWaiting",
      invoke: {
        src: "sleep",
        input: ({ context }) => ({ id: context.id, timer: "wait", ms: context.config.limits.waitMs }),
      },
      on: {
        "input.received": [
          { guard: "wakes", target: "deciding", actions: ["queueInput", "wakeUp"] },
          { actions: "queueInput" },
        ],
        "task.settled": { target: "deciding", actions: ["settleTask", "wakeUp"] },
        "timer.elapsed": { target: "deciding", actions: "stopWaiting" },
        ...leavesTo("deciding"),
      },
    },

    /** `onStop` looks at the final answer. */
    closing: {
      invoke: {
        src: "reviewStop",
        input: ({ context: { id, run, config } }) => ({ id, ...stopOptions(run!, config) }),
      },
      on: {
        "stop.reviewed": { target: "deciding", actions: "takeStopReview" },
        ...leavesTo("deciding"),
      },
    },
  },
});

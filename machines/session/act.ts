/** Act: the calls of an answer are judged, decided, run together, and committed as one. */
import { leavesTo, sessionSetup } from "./setup.ts";
import { asked } from "../../src/core/batch.ts";

export const act = sessionSetup.createStateConfig({
  entry: "startAct",
  exit: "endAct",
  initial: "reviewing",
  states: {
    /** Calls are resolved against the pinned catalogue; the whole chain gives its verdicts. */
    reviewing: {
      always: [
        { guard: "isUndecided", target: "approving" },
        { guard: "isUnexecuted", target: "executing" },
        { guard: "isSettled", target: "committing" },
      ],
      invoke: {
        src: "reviewCalls",
        input: ({ context }) => ({ id: context.id, answer: context.draft!.answer }),
      },
      on: {
        "calls.reviewed": [
          { guard: "isAllAllowed", target: "executing", actions: "takeVerdicts" },
          { actions: "takeVerdicts" },
        ],
        ...leavesTo("committing"),
      },
    },

    /** One batch of asks. Nothing of the exchange runs before the last of them is decided. */
    approving: {
      entry: "announceAsks",
      always: [
        { guard: "mustSuspend", target: "#session.receive.deciding", actions: "suspendRun" },
        { guard: "isUnexecuted", target: "executing" },
        { guard: "isSettled", target: "committing" },
      ],
      invoke: {
        src: "askApproval",
        input: ({ context }) => ({ id: context.id, calls: asked(context.draft!.calls) }),
      },
      on: {
        "approval.settled": { actions: "takeDecisions" },
        "input.received": [
          { guard: "deniesOnSteer", actions: ["queueInput", "denyPending"] },
          { actions: "queueInput" },
        ],
        ...leavesTo("committing"),
      },
    },

    /** One actor per call. A cancel asks them to stop and waits: each settles within its grace. */
    executing: {
      entry: "startTools",
      always: { guard: "isSettled", target: "committing" },
      on: {
        "tool.settled": [
          { guard: "isLastCall", target: "committing", actions: "settleTool" },
          { guard: "isItsCall", actions: "settleTool" },
        ],
        "cancel.requested": { guard: "concernsThisRun", actions: "cancelTools" },
        "close.requested": { actions: "closeTools" },
        "store.failed": { actions: "holdTools" },
      },
    },

    /** The answer and every result become visible in one record. */
    committing: {
      entry: "commitExchange",
      always: { target: "#session.receive.deciding" },
    },
  },
});

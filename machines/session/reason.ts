/** Reason: one turn asks the model, as often as its failures allow. */
import { attemptOf } from "../../src/core/draft.ts";
import { leavesTo, sessionSetup } from "./setup.ts";

export const reason = sessionSetup.createStateConfig({
  entry: "startReason",
  exit: "endReason",
  initial: "preparing",
  states: {
    /** Contributions are collected, the catalogue is pinned. */
    preparing: {
      entry: "openTurn",
      invoke: { src: "prepareRequest", input: ({ context }) => ({ id: context.id }) },
      on: {
        "request.prepared": { target: "requesting", actions: "pinCatalogue" },
        ...leavesTo("#session.receive.deciding"),
      },
    },

    /** The request and its stream. A cancel waits for the settlement: it holds what the user saw. */
    requesting: {
      entry: "startAttempt",
      invoke: {
        id: "callModel",
        src: "callModel",
        input: ({ context: { id, draft, run } }) => ({ id, ...attemptOf(draft!), prefer: run!.prefer }),
      },
      on: {
        "model.completed": [
          { guard: "mustReview", target: "#session.act.reviewing", actions: "acceptAnswer" },
          // A final answer; also calls that were cut or came too late, which are not executed.
          { target: "#session.act.committing", actions: "acceptAnswer" },
        ],
        "model.failed": [
          { guard: "mustCompactForIt", target: "#session.compact", actions: "answerOverflow" },
          { guard: "isOverflow", target: "#session.receive.deciding", actions: "exhaustContext" },
          { guard: "mayRetry", target: "backingOff", actions: "backOff" },
          { target: "#session.receive.deciding", actions: "failRequest" },
        ],
        "cancel.requested": { guard: "concernsThisRun", actions: ["cancelRun", "abortRequest"] },
        "close.requested": { actions: ["closeSession", "abortRequest"] },
        "store.failed": { target: "#session.receive.deciding", actions: "failStore" },
      },
    },

    backingOff: {
      invoke: {
        src: "sleep",
        input: ({ context }) => ({ id: context.id, timer: "backoff", ms: context.draft!.waitMs }),
      },
      on: {
        "timer.elapsed": { target: "requesting" },
        ...leavesTo("#session.receive.deciding"),
      },
    },
  },
});

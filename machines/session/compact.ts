/** Compact: makes the view smaller when it must be. Mostly it has nothing to do. */
import { roomOf } from "../../src/core/lap.ts";
import { pendingOf, type SessionContext } from "./context.ts";
import { leavesTo, sessionSetup } from "./setup.ts";

const settlesWith = <const S extends string, const F extends string>(success: S, failure: F) =>
  ({
    "compaction.completed": [
      { guard: "freesNothing", target: "planning", actions: failure },
      { target: "planning", actions: success },
    ],
    "compaction.failed": { target: "planning", actions: failure },
  }) as const;
const input = ({ context: c }: { context: SessionContext }) => ({
  id: c.id,
  room: roomOf(c.compaction, c.config.compaction, c.pressure, pendingOf(c)),
});

export const compact = sessionSetup.createStateConfig({
  entry: ["startCompact", "judgePressure"],
  exit: "endCompact",
  initial: "planning",
  on: leavesTo("#session.receive.deciding"),
  states: {
    planning: {
      always: [
        { guard: "isPrepared", target: "#session.reason.requesting" },
        { guard: "needsNoCompaction", target: "#session.reason" },
        { guard: "mustElide", target: "projecting" },
        { guard: "mustSummarize", target: "summarizing" },
        { guard: "mustDiscard", target: "discarding" },
        { guard: "isOnlyCompacting", target: "#session.receive.deciding" },
        { guard: "isExhausted", target: "#session.receive.deciding", actions: "exhaustContext" },
        { target: "#session.reason" },
      ],
    },

    /** Micro: old, large tool results are shown shorter. No model call. */
    projecting: {
      entry: "startEliding",
      invoke: { src: "elideResults", input },
      on: settlesWith("applyElision", "failElision"),
    },

    /** Full: a summary takes the place of what came before. */
    summarizing: {
      entry: "startSummarizing",
      invoke: { src: "summarize", input },
      on: settlesWith("applyCut", "failCut"),
    },

    /** Full, without a model call: what came before is no longer shown. */
    discarding: {
      entry: "startDiscarding",
      invoke: { src: "discard", input },
      on: settlesWith("applyCut", "failCut"),
    },
  },
});

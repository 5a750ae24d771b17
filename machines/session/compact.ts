/** Compact: makes the view smaller when it must be. Mostly it has nothing to do. */
import { tokensOf } from "../../src/core/pressure.ts";
import type { SessionContext } from "./context.ts";
import { leavesTo, sessionSetup } from "./setup.ts";

/** An overflow has just told how large the window really is: what did not fit is more than it. */
const cutInput = ({ context: c }: { context: SessionContext }) => {
  const window = c.config.compaction.window;
  return {
    id: c.id,
    level: c.compaction.overflows,
    window: c.compaction.overflows ? Math.min(window, tokensOf(c.pressure)) : window,
  };
};

const settlesWith = <const T extends string>(failure: T) =>
  ({
    "compaction.completed": { target: "planning", actions: "applyDirective" },
    "compaction.failed": { target: "planning", actions: failure },
  }) as const;

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
      invoke: {
        src: "elideResults",
        input: ({ context }) => ({ id: context.id }),
      },
      on: settlesWith("failElision"),
    },

    /** Full: a summary takes the place of what came before. */
    summarizing: {
      entry: "startSummarizing",
      invoke: {
        src: "summarize",
        input: cutInput,
      },
      on: settlesWith("failCompaction"),
    },

    /** Full, without a model call: what came before is no longer shown. */
    discarding: {
      entry: "startDiscarding",
      invoke: {
        src: "discard",
        input: cutInput,
      },
      on: settlesWith("failCompaction"),
    },
  },
});

/** The open turn as the machine keeps it: what was asked, what was answered, and its calls. */
import type { Call } from "./batch.ts";

/** The open turn: from its inputs to its commit. */
export type Draft = {
  turn: number;
  attempt: number;
  /** `seq` of the accepted answer; 0 while there is none. */
  answer: number;
  /** The answer was cut by length. */
  cut: boolean;
  calls: readonly Call[];
  /** `seq` of the last failed attempt that showed something; 0 for none. */
  failed: number;
  waitMs: number;
  /** The run's approver has answered what it wanted to. */
  answered: boolean;
};

export const newDraft = (turn: number): Draft => ({
  turn,
  attempt: 0,
  answer: 0,
  cut: false,
  calls: [],
  failed: 0,
  waitMs: 0,
  answered: false,
});

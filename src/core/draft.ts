/** The open turn as the machine keeps it: what was asked, what was answered, and its calls. */
import { resultOf, type Call } from "./batch.ts";
import { estimateText } from "./budget.ts";
import type { CallResult, InputOf, OutputOf, Taken } from "./event.ts";
import { textOf } from "./message.ts";

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

/** A failed attempt is kept when it had shown something; what was shown is announced as discarded. */
export function discard(
  draft: Draft,
  e: Taken<InputOf<"model.failed">>,
): { draft: Draft; announce: OutputOf<"attempt.discarded">[] } {
  if (textOf(e.parts) === "") return { draft, announce: [] };
  const { turn, attempt } = draft;
  return {
    draft: { ...draft, failed: e.seq },
    announce: [{ type: "attempt.discarded", turn, attempt, failed: e.seq }],
  };
}

/** One result per call, in call order, and the tokens of those that no tool wrote. */
export function resultsOf(draft: Draft, seq: number): { results: CallResult[]; tokens: number } {
  const { calls, cut, answer } = draft;
  const results = calls.map((call) => resultOf(call, cut ? answer : seq, cut));
  const tokens = results.reduce((sum, r) => sum + (r.text === undefined ? 0 : estimateText(r.text)), 0);
  return { results, tokens };
}

/** The open turn as the machine keeps it: what was asked, what was answered, and its calls. */
import { resultOf, type Call } from "./batch.ts";
import { estimateText, MARKER_TOKENS, MESSAGE_TOKENS } from "./budget.ts";
import type { CallResult, InputOf, OutputOf, Taken } from "./event.ts";
import { backoffMs, type Failure } from "./failure.ts";
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
  /** Retries of the model that is being asked. */
  tries: number;
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
  tries: 0,
  waitMs: 0,
  answered: false,
});

/** The next attempt begins; what the one before had shown is told to it, and which model stands in. */
export function nextAttempt(
  before: Draft,
  prefer: string | null,
): { draft: Draft; started: OutputOf<"attempt.started"> } {
  const { turn, failed } = before;
  const attempt = before.attempt + 1;
  const started: OutputOf<"attempt.started"> = { type: "attempt.started", turn, attempt };
  if (failed) started.retried = failed;
  if (prefer !== null) started.prefer = prefer;
  return { draft: { ...before, attempt, failed: 0 }, started };
}

/** Which attempt is under way. */
export const attemptOf = ({ turn, attempt }: Draft): { turn: number; attempt: number } => ({ turn, attempt });

/** The draft as it waits for its next attempt: of the same model after a while, of one that stands by at once. */
export const waitingAgain = (draft: Draft, f: Failure, limits: Parameters<typeof backoffMs>[2]): Draft =>
  f.next === undefined
    ? { ...draft, tries: draft.tries + 1, waitMs: backoffMs(f, draft.tries + 1, limits) }
    : { ...draft, tries: 0, waitMs: 0 };

/**
 * A failed attempt is kept when it had shown something; what was shown is announced as discarded, and will be told to the
 * model at the price of `tokens`.
 */
export function discard(
  draft: Draft,
  e: Taken<InputOf<"model.failed">>,
): { draft: Draft; announce: OutputOf<"attempt.discarded">[]; tokens: number } {
  const shown = textOf(e.parts);
  if (shown === "") return { draft, announce: [], tokens: 0 };
  const { turn, attempt } = draft;
  return {
    draft: { ...draft, failed: e.seq },
    announce: [{ type: "attempt.discarded", turn, attempt, failed: e.seq }],
    tokens: estimateText(shown) + MESSAGE_TOKENS + MARKER_TOKENS,
  };
}

/** One result per call, in call order, and the tokens of their message and of those that no tool wrote. */
export function resultsOf(draft: Draft, seq: number): { results: CallResult[]; tokens: number } {
  const { calls, cut, answer } = draft;
  const results = calls.map((call) => resultOf(call, cut ? answer : seq, cut));
  const texts = results.filter((r) => r.text !== undefined);
  const tokens = texts.reduce((sum, r) => sum + estimateText(r.text!) + MESSAGE_TOKENS, 0);
  return { results, tokens: results.length ? tokens + MESSAGE_TOKENS : 0 };
}

/** A run as the machine keeps it, and why one is on its way out. */
import { retryable, type RunError, type RunErrorCode } from "./errors.ts";
import type { MachineRunOptions, SessionConfig } from "./config.ts";
import type { InputOf, OutputOf, RunStatus } from "./event.ts";
import { thresholds, type CompactionSettings } from "./limits.ts";
import type { Usage } from "./usage.ts";

export type Run = {
  id: string;
  options: MachineRunOptions;
  /** Open but not active: suspended, or cut by a crash. Only a request moves it again. */
  parked: boolean;
  /** What was prepared for a request holds for the next one. */
  prepared: boolean;
  turns: number;
  costUsd: number;
  /** Answers in a row that were cut by length. */
  continuations: number;
  /** Times in a row that a stop review sent the run on. */
  feedback: number;
  /** Times in a row that an answer did not fit the output schema. */
  repairs: number;
  /** The model that stands in for one that failed; null for the first choice. */
  prefer: string | null;
  /** The stop review has seen the newest answer. */
  stopReviewed: boolean;
  /** Waited for background work as long as allowed. */
  waitedOut: boolean;
  /** Why a prompt was refused, when one was. */
  refused: string | null;
};

export const newRun = (id: string, options: MachineRunOptions): Run => ({
  id,
  options,
  parked: false,
  prepared: false,
  turns: 0,
  costUsd: 0,
  continuations: 0,
  feedback: 0,
  repairs: 0,
  prefer: null,
  stopReviewed: false,
  waitedOut: false,
  refused: null,
});

/** Why the run is on its way out. */
export type Ending = {
  status: "cancelled" | "failed";
  reason?: string | undefined;
  error?: RunError | undefined;
  clearInbox?: boolean | undefined;
  /** The request that replaces an interrupted run. */
  next?: { run: Run; ending: Ending | null; inputs: readonly string[] } | undefined;
};

export const cancelled = (reason?: string, clearInbox?: boolean): Ending => ({
  status: "cancelled",
  reason,
  clearInbox,
});

export const failed = (code: RunErrorCode, message: string): Ending => ({
  status: "failed",
  error: { code, message, retryable: retryable(code) },
});

/** Whether `onStop` may have a say once more. */
export const mayBeSentOn = (run: Run, { reviews, limits }: SessionConfig): boolean =>
  reviews.stop && run.feedback < limits.stopFeedback;

/** What a look at the final answer may lead to, still. */
export const stopOptions = (run: Run, config: SessionConfig): { mayRepair: boolean; maySendOn: boolean } => ({
  mayRepair: run.repairs < config.limits.outputRepairs,
  maySendOn: mayBeSentOn(run, config),
});

/** After that look: the answer stands, is sent on with feedback, or failed to fit the output schema once too often. */
export function afterStopReview(run: Run, e: InputOf<"stop.reviewed">): { run: Run; ending?: Ending } {
  const { invalid, feedback } = e;
  if (invalid !== undefined && feedback.length) return { run: { ...run, repairs: run.repairs + 1 } };
  if (invalid !== undefined)
    return { run, ending: failed("output_invalid", `The answer does not fit the output schema. ${invalid}`) };
  if (feedback.length) return { run: { ...run, repairs: 0, feedback: run.feedback + 1 } };
  return { run: { ...run, stopReviewed: true } };
}

/** The ending of a run whose context cannot be made to fit. */
export const exhausted = (tokens: number, settings: CompactionSettings, why: string | null): Ending => {
  const { window } = settings;
  const full = Math.round(thresholds(settings).full);
  return failed(
    "context_exhausted",
    `The context (about ${Math.round(tokens)} tokens) does not fit and cannot be made smaller (window ${window}, full at ` +
      `${full}).${why === null ? "" : ` The last compaction failed: ${why}`} Take back inputs that are too long, start a ` +
      "new session, or use a model that reads more.",
  );
};

/** A run with what a side request cost. */
export const spent = (run: Run | null, usage: Usage | undefined): Run | null =>
  run && usage?.costUsd ? { ...run, costUsd: run.costUsd + usage.costUsd } : run;

export const startedEvent = (run: Run, continued?: boolean): OutputOf<"run.started"> => ({
  type: "run.started",
  runId: run.id,
  options: run.options,
  ...(continued ? { continued } : {}),
});

/** The terminal record. Fields that say nothing are left out; a run's own inputs never count as undelivered by another. */
export function endedEvent(
  run: Run,
  status: RunStatus,
  ending: Ending | null,
  facts: {
    undelivered: readonly string[];
    withdrawn: readonly string[];
    openTasks: readonly string[];
    aborted: number | undefined;
  },
): OutputOf<"run.ended"> {
  const undelivered = facts.undelivered.filter((id) => !ending?.next?.inputs.includes(id));
  const ended: OutputOf<"run.ended"> = { type: "run.ended", runId: run.id, status, turns: run.turns, undelivered };
  const reason = ending ? ending.reason : status === "blocked" ? run.refused : undefined;
  if (reason) ended.reason = reason;
  if (ending?.error) ended.error = ending.error;
  if (facts.withdrawn.length) ended.withdrawn = [...facts.withdrawn];
  if (facts.openTasks.length) ended.openTasks = [...facts.openTasks];
  if (facts.aborted) ended.aborted = facts.aborted;
  return ended;
}

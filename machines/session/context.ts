/** What the machine remembers: control data only. Words and outputs live in the transcript, beside the machine. */
import type { Call } from "../../src/core/batch.ts";
import type { RunError } from "../../src/core/errors.ts";
import type { MachineRunOptions, SessionConfig } from "../../src/core/event.ts";
import type { Inbox } from "../../src/core/inbox.ts";
import { noPressure, type Pressure } from "../../src/core/pressure.ts";

export type Run = {
  id: string;
  options: MachineRunOptions;
  /** Open but not active: suspended, or cut by a crash. Only a request moves it again. */
  parked: boolean;
  turns: number;
  costUsd: number;
  /** Answers in a row that were cut by length. */
  continuations: number;
  /** Times in a row that a stop review sent the run on. */
  feedback: number;
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
  turns: 0,
  costUsd: 0,
  continuations: 0,
  feedback: 0,
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
  next?: { runId: string; options: MachineRunOptions; inputs: readonly string[] } | undefined;
};

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

export type Compaction = {
  /** What this lap compacts for; null when it need not. */
  cause: "context" | "turns" | "manual" | "overflow" | null;
  mode: "summarize" | "discard";
  /** Done in this lap. */
  elided: boolean;
  cut: boolean;
  /** Full compactions that failed in a row. */
  failures: number;
  /** Times "prompt too long" was answered in this turn. */
  overflows: number;
  turnsSince: number;
  /** Pressure at which elision is tried again; below it there was nothing to free. */
  elideFrom: number;
};

export type SessionContext = {
  id: string;
  config: SessionConfig;
  run: Run | null;
  ending: Ending | null;
  draft: Draft | null;
  inbox: Inbox;
  /** Background work under way. */
  tasks: readonly string[];
  /** Turns since the session began. */
  turn: number;
  /** The transcript ends with something the model has not answered. */
  owed: boolean;
  /** The last answer was cut by length and must be gone on with. */
  continues: boolean;
  pressure: Pressure;
  compaction: Compaction;
  mode: string;
  closing: boolean;
};

/** What a machine is made from: `session.opened` holds the same. */
export type SessionInput = { id: string; config: SessionConfig };

export const initialContext = ({ id, config }: SessionInput): SessionContext => ({
  id,
  config,
  run: null,
  ending: null,
  draft: null,
  inbox: [],
  tasks: [],
  turn: 0,
  owed: false,
  continues: false,
  pressure: noPressure,
  compaction: {
    cause: null,
    mode: config.compaction.mode,
    elided: false,
    cut: false,
    failures: 0,
    overflows: 0,
    turnsSince: 0,
    elideFrom: 0,
  },
  mode: "default",
  closing: false,
});

/** What the machine remembers: control data only. Words and outputs live in the transcript, beside the machine. */
import type { Draft } from "../../src/core/draft.ts";
import type { SessionConfig } from "../../src/core/config.ts";
import { pendingIn, type Inbox } from "../../src/core/inbox.ts";
import { noCompaction, type Compaction } from "../../src/core/lap.ts";
import { noPressure, tokensOf, type Pressure } from "../../src/core/pressure.ts";
import type { Ending, Run } from "../../src/core/run.ts";

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

/** Cheap and safe without input: pure transitions call it again each time, and throw away what it makes. */
export const initialContext = (input?: SessionInput): SessionContext => ({
  id: input?.id ?? "",
  config: input?.config as SessionConfig,
  run: null,
  ending: null,
  draft: null,
  inbox: [],
  tasks: [],
  turn: 0,
  owed: false,
  continues: false,
  pressure: noPressure(input?.config.base),
  compaction: noCompaction(input?.config.compaction.mode ?? "summarize"),
  mode: "default",
  closing: false,
});

/** What the next turn takes from the inbox, in tokens; a turn that is open takes no more. */
export const pendingOf = (c: SessionContext): number => (c.draft ? 0 : pendingIn(c.inbox, c.run?.id));
/** Tokens of the next request, with what waits to be said in it. */
export const pressureOf = (c: SessionContext): number => tokensOf(c.pressure) + pendingOf(c);

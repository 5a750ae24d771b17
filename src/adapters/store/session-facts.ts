/** What a list of sessions shows of each, gathered from records as they pass. */
import type { JournalRecord, RunStatus } from "../../core/event.ts";
import type { SessionInfo, SessionStatus } from "../../ports.ts";

/** Facts of one session; grows by {@link observe}. */
export type SessionFacts = {
  createdAt: number;
  updatedAt: number;
  agent?: string | undefined;
  title?: string | undefined;
  lastRun?: RunStatus | undefined;
};

/** Takes in one record. O(1); keeps nothing of it but a text or a number. */
export function observe(facts: SessionFacts, record: JournalRecord): void {
  facts.updatedAt = record.at;
  switch (record.type) {
    case "session.opened":
      facts.agent = record.agent;
      return;
    case "title.generated":
      facts.title = record.title;
      return;
    case "run.ended":
      facts.lastRun = record.status;
      return;
    default:
  }
}

/**
 * What a session that nobody holds is doing, judged by the last record of its journal: used only where no side file says
 * it, such as after a crash or for a journal copied from elsewhere.
 */
export function statusAfter(type: JournalRecord["type"] | undefined): SessionStatus {
  switch (type) {
    case undefined:
    case "session.opened":
    case "session.resumed":
    case "history.imported":
    case "run.ended":
    case "wake.requested":
    case "title.generated":
      return "idle";
    case "run.suspended":
      return "suspended";
    case "session.closed":
      return "closed";
    default:
      return "interrupted";
  }
}

/** Puts an info together, leaving out what is not known. */
export function sessionInfo(
  id: string,
  head: number,
  status: SessionStatus,
  wakeAt: number | undefined,
  facts: SessionFacts,
): SessionInfo {
  const info: SessionInfo = {
    id,
    createdAt: facts.createdAt,
    updatedAt: facts.updatedAt,
    head,
    status,
  };
  if (wakeAt !== undefined) info.wakeAt = wakeAt;
  if (facts.title !== undefined) info.title = facts.title;
  if (facts.agent !== undefined) info.agent = facts.agent;
  if (facts.lastRun !== undefined) info.lastRun = facts.lastRun;
  return info;
}

/** Newest first; equal times by name, so that the order is stable. */
export const newestFirst = (a: SessionInfo, b: SessionInfo): number =>
  b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1);

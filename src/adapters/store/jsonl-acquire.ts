/** Opening a journal for writing: take the lease, make sure of the journal, mend its tail. */
import { statSync } from "node:fs";
import type { JournalRecord } from "../../core/event.ts";
import type { SessionPaths } from "./file-names.ts";
import { isEmpty, readAll, startOfJournal } from "./jsonl-read.ts";
import { lastSegment, readSideFile } from "./jsonl-index.ts";
import { giveLease, type TakenLease } from "./jsonl-lease.ts";
import type { Cursor } from "./jsonl-segment.ts";
import { settleSignals } from "./jsonl-signals.ts";
import { JournalWriter, detachSegments, type Fsync, type JournalEnd } from "./jsonl-writer.ts";
import { observe, type SessionFacts } from "./session-facts.ts";

/**
 * What this process knows of a journal since it last read or wrote all of it. It still holds when nobody has had the
 * lease since and the file is as long as it was; then a journal need not be read again to be written to.
 */
export type KnownEnd = { epoch: number; end: JournalEnd; consumed: readonly string[] };

/** What is needed to open a journal once its lease is taken. */
export type Opening = {
  id: string;
  owner: string;
  paths: SessionPaths;
  lease: TakenLease;
  fsync: Fsync;
};

/** Opens at a known end. `undefined` when that is not the end any more. */
export function openAtKnownEnd(opening: Opening, known: KnownEnd | undefined): JournalWriter | undefined {
  const { lease, paths } = opening;
  if (known === undefined || lease.fencedLive || known.epoch !== lease.previous) return undefined;
  const { segment, size } = known.end;
  if (statSync(paths.segment(segment), { throwIfNoEntry: false })?.size !== size) return undefined;
  if (!isEmpty(paths.segment(segment + 1))) return undefined;
  if (known.consumed.length > 0) settleSignals(paths.signals, known.consumed);
  return new JournalWriter({ ...opening, end: known.end, sideEpoch: known.epoch });
}

/**
 * Opens after reading the whole journal. A tail that was cut is taken off and reported; anything worse is thrown and the
 * file is left alone.
 * @throws StoreError `JournalCorrupt`, `SchemaVersion`
 */
export async function openAfterReading(opening: Opening, warn: (message: string) => void): Promise<JournalWriter> {
  const { id, paths, lease } = opening;
  const { writer, end } = openAtLastSegment(opening);
  try {
    const cursor = startOfJournal();
    for await (const records of readAll(cursor, paths, id)) takeFacts(end.facts, records);
    writer.check({ id, owner: writer.owner, epoch: lease.epoch, head: 0 });
    end.size = cursor.offset;
    end.head = (cursor.next ?? 1) - 1;
    if (cursor.tail) {
      warn(tornTail(id, cursor.tail));
      writer.trim();
    }
    if (cursor.consumed) settleSignals(paths.signals, cursor.consumed);
    return writer;
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

/**
 * Opened before it is read: should the lease be lost meanwhile, this descriptor is of a file that nobody reads, and what
 * is done to it does no harm.
 */
function openAtLastSegment(opening: Opening): { writer: JournalWriter; end: JournalEnd } {
  const { paths, lease } = opening;
  try {
    if (lease.fencedLive) detachSegments(paths, lastWritten(paths), lease);
    const segment = lastWritten(paths);
    const side = readSideFile(paths.state);
    const end = { segment, size: 0, head: 0, facts: firstFacts(paths, side?.side.facts) };
    return { writer: new JournalWriter({ ...opening, end, sideEpoch: side?.epoch }), end };
  } catch (error) {
    giveLease(lease);
    throw error;
  }
}

/** The last segment that has something in it. */
function lastWritten(paths: SessionPaths): number {
  let segment = lastSegment(paths, 1);
  while (segment > 1 && isEmpty(paths.segment(segment))) segment -= 1;
  return segment;
}

/** What is known before the first record; the side file has what records do not say. */
export function firstFacts(paths: SessionPaths, side: SessionFacts | undefined): SessionFacts {
  const createdAt = side?.createdAt ?? statSync(paths.segment(1)).birthtimeMs;
  return { createdAt, updatedAt: createdAt, agent: side?.agent };
}

/** Lets facts grow by a chunk of records. */
export function takeFacts(facts: SessionFacts, records: readonly JournalRecord[]): void {
  for (const record of records) observe(facts, record);
}

/** The sentence about a tail that was dropped. */
export const tornTail = (id: string, tail: NonNullable<Cursor["tail"]>): string =>
  `session ${id}: dropped ${tail.bytes} bytes at the end of ${tail.file}${tail.line ? `, from line ${tail.line} on` : ""}: the rest of a write that was cut off`;

/** Reading a journal from its segments: in order, whole appends only, and saying exactly where it breaks. */
import { statSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import type { JournalRecord } from "../../core/event.ts";
import { StoreError } from "../../ports.ts";
import { parseSegmentName, type SessionPaths } from "./file-names.ts";
import { errno } from "./io-failure.ts";
import { placeBefore } from "./jsonl-seek.ts";
import { SegmentReader, type Cursor } from "./jsonl-segment.ts";

export const startOfJournal = (after = 0): Cursor => ({ segment: 1, offset: 0, line: 1, next: 1, after });

/** Numbers of the segments that exist, ascending. */
export async function segmentsOf(paths: SessionPaths, id: string): Promise<number[]> {
  const names = await readdir(paths.folder).catch((error: unknown) => {
    if (errno(error) === "ENOENT") return [];
    throw error;
  });
  const found = names.map(parseSegmentName).filter((name) => name?.id === id);
  return found.map((name) => name!.segment).sort((a, b) => a - b);
}

/** A cursor close to what follows `after`, so that what comes before it is not read at all. */
export async function cursorAfter(paths: SessionPaths, id: string, after: number): Promise<Cursor> {
  if (after > 0)
    for (const segment of (await segmentsOf(paths, id)).reverse()) {
      const place = await placeBefore(paths.segment(segment), after);
      if (place) return { segment, offset: place.offset, line: undefined, next: place.seq, after };
    }
  return startOfJournal(after);
}

/**
 * Yields what has been written since the cursor and moves it along, through all segments. Ends where nothing whole
 * follows; `cursor.tail` then says what is left over. Never holds up the event loop for longer than one chunk takes.
 * @throws StoreError `JournalCorrupt`, `SchemaVersion`, after the good records before it were yielded
 */
export async function* advance(cursor: Cursor, paths: SessionPaths): AsyncGenerator<JournalRecord[], void> {
  for (;;) {
    // Looked up first: once the next segment is there, nobody writes to this one any more.
    const isLast = isEmpty(paths.segment(cursor.segment + 1));
    yield* readSegment(cursor, paths.segment(cursor.segment), isLast);
    if (isLast) return;
    cursor.segment += 1;
    cursor.offset = 0;
    cursor.line = 1;
  }
}

/** A segment without content has not begun: its writer died, or lost its lease, before it wrote anything. */
export const isEmpty = (path: string): boolean => !statSync(path, { throwIfNoEntry: false })?.size;

const isMissing = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) === undefined;

async function* readSegment(cursor: Cursor, path: string, isLast: boolean): AsyncGenerator<JournalRecord[], void> {
  const file = await open(path, "r");
  try {
    const reader = new SegmentReader(cursor, path);
    for (;;) {
      const more = await reader.fill(file);
      reader.parse();
      if (!more) reader.finish(isLast);
      const ready = reader.takeReady();
      if (ready.length > 0) yield ready;
      if (reader.failure !== undefined) throw await withLine(reader.failure, cursor, path, isLast);
      if (!more) return;
    }
  } finally {
    await file.close();
  }
}

/** Reading that began in the middle cannot tell the line: it reads the segment once more, from its beginning. */
async function withLine(failure: StoreError, cursor: Cursor, path: string, isLast: boolean): Promise<unknown> {
  if (cursor.line !== undefined) return failure;
  const again = { ...cursor, offset: 0, line: 1, next: undefined };
  try {
    for await (const _ of readSegment(again, path, isLast));
    return failure;
  } catch (error) {
    return error;
  }
}

/**
 * Reads to the end, and makes sure that it is the end: a segment missing in between would otherwise cut the journal short
 * without a word.
 */
export async function* readAll(cursor: Cursor, paths: SessionPaths, id: string): AsyncGenerator<JournalRecord[], void> {
  yield* advance(cursor, paths);
  const beyond = (await segmentsOf(paths, id)).find((segment) => segment > cursor.segment);
  if (beyond === undefined || !isMissing(paths.segment(cursor.segment + 1))) return;
  const file = paths.segment(cursor.segment + 1);
  throw new StoreError("JournalCorrupt", `${file} is missing, though ${paths.segment(beyond)} is there`, {
    details: { file, line: 1, lastGoodSeq: (cursor.next ?? 1) - 1 },
  });
}

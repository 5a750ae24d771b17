/**
 * The side files of a session, for quick lists: what its journal says, as of one epoch and one length of the file. They
 * are never truth; where they are missing or old, the first and the last line of the journal are read instead.
 */
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { JournalRecord } from "../../core/event.ts";
import type { SessionInfo, SessionStatus } from "../../ports.ts";
import type { SessionPaths } from "./file-names.ts";
import { parseLine } from "./jsonl-line.ts";
import { rulingLease } from "./jsonl-lease.ts";
import { observe, sessionInfo, statusAfter, type SessionFacts } from "./session-facts.ts";
import { putWhole, remove } from "./whole-files.ts";

/** What a side file holds. `segment` and `size` say which state of the journal it speaks of. */
export type SideFile = {
  facts: SessionFacts;
  status: SessionStatus;
  wakeAt?: number | undefined;
  head: number;
  segment: number;
  size: number;
};

const sideFile = (state: string, epoch: number): string => join(state, `info-${epoch}.json`);

/** Writes the side file of an epoch. Holders of different epochs never write the same one. */
export function writeSideFile(state: string, epoch: number, side: SideFile, sync: boolean): void {
  putWhole(sideFile(state, epoch), JSON.stringify(side), "replace", sync);
}

/** Removes the side file of an epoch that has been replaced. */
export const dropSideFile = (state: string, epoch: number): void => remove(sideFile(state, epoch));

/** The newest side file that can be read, and its epoch. */
export function readSideFile(state: string): { epoch: number; side: SideFile } | undefined {
  let names: string[];
  try {
    names = readdirSync(state);
  } catch {
    return undefined;
  }
  const epochs = names.flatMap((name) => /^info-(\d+)\.json$/.exec(name)?.[1] ?? []).map(Number);
  for (const epoch of epochs.sort((a, b) => b - a))
    try {
      return { epoch, side: JSON.parse(readFileSync(sideFile(state, epoch), "utf8")) as SideFile };
    } catch {
      // Replaced meanwhile, or damaged: an older one or the journal itself will do.
    }
  return undefined;
}

/** What a list shows of a session, without reading its journal. A damaged journal is listed with what is known. */
export function infoFromFiles(paths: SessionPaths, id: string): SessionInfo {
  const ruling = rulingLease(paths.state);
  const found = readSideFile(paths.state);
  const segment = lastSegment(paths, found?.side.segment ?? 1);
  const size = sizeOf(paths.segment(segment));
  const fresh = found !== undefined && found.side.segment === segment && found.side.size === size;
  const seen = fresh ? undefined : glance(paths, segment);
  const facts: SessionFacts = found?.side.facts ?? seenFacts(paths, seen);
  if (seen?.last) observe(facts, seen.last);
  const head = seen?.last?.seq ?? found?.side.head ?? 0;
  const current = found?.epoch === ruling.epoch ? found.side : undefined;
  if (ruling.holder) {
    const status = current?.status ?? "running";
    const interrupted = ruling.dead === true && status === "running";
    return sessionInfo(id, head, interrupted ? "interrupted" : status, current?.wakeAt, facts);
  }
  // An older one still holds when nothing was written since: somebody took the lease and gave it back.
  const side = current ?? (found?.side.head === head ? found.side : undefined);
  return sessionInfo(id, head, side?.status ?? statusAfter(seen?.last?.type), side?.wakeAt, facts);
}

/** Goes up from a segment that is known to exist. */
export function lastSegment(paths: SessionPaths, from: number): number {
  let segment = from;
  while (existsSync(paths.segment(segment + 1))) segment += 1;
  return segment;
}

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size;

function seenFacts(paths: SessionPaths, seen: Glance | undefined): SessionFacts {
  const createdAt = seen?.first?.at ?? statSync(paths.segment(1)).birthtimeMs;
  const facts: SessionFacts = { createdAt, updatedAt: createdAt };
  if (seen?.first) observe(facts, seen.first);
  return facts;
}

type Glance = { first: JournalRecord | undefined; last: JournalRecord | undefined };

/** The first and the last record that can be read, from the ends of the files. */
function glance(paths: SessionPaths, segment: number): Glance {
  let last: JournalRecord | undefined;
  for (let n = segment; n >= 1 && last === undefined; n--) last = edge(paths.segment(n), "last");
  return { first: edge(paths.segment(1), "first"), last };
}

const EDGE_BYTES = 64 * 1024;

/** Reads one end of a file, four times as much each time until a whole line is in it. */
function edge(path: string, which: "first" | "last"): JournalRecord | undefined {
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    for (let length = EDGE_BYTES; ; length *= 4) {
      const bytes = Buffer.alloc(Math.min(length, size));
      readSync(fd, bytes, 0, bytes.length, which === "first" ? 0 : size - bytes.length);
      const record = recordAt(bytes, which, bytes.length === size);
      if (record !== undefined || bytes.length === size) return record;
    }
  } finally {
    closeSync(fd);
  }
}

/** The first whole line, or the last one that is a record. */
function recordAt(bytes: Buffer, which: "first" | "last", whole: boolean): JournalRecord | undefined {
  const lines = bytes.toString("utf8").split("\n");
  // Behind the last line break stands nothing, or a line that is not complete.
  lines.pop();
  if (which === "first") return lines[0] === undefined ? undefined : recordOf(lines[0]);
  for (let i = lines.length - 1; i >= (whole ? 0 : 1); i--) {
    const record = recordOf(lines[i]!);
    if (record) return record;
  }
  return undefined;
}

function recordOf(line: string): JournalRecord | undefined {
  const read = parseLine(line);
  return "record" in read ? read.record : undefined;
}

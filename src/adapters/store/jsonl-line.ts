/** The lines of a journal file: how an append becomes text and a line becomes a record again. */
import { JOURNAL_VERSION, type JournalRecord } from "../../core/event.ts";

/**
 * What the first line of an append says about it: how many lines belong together, and which signals they settle. It is
 * part of the line, so that it is durable exactly when the records are, and it is taken off again on reading.
 */
export type AppendMark = { records: number; consumed?: string[] };

/** The field of a line that holds the mark; last in its object. */
const MARK = "append";

/** One append as text. A single record that settles nothing needs no mark. */
export function toLines(records: readonly JournalRecord[], consumed: readonly string[]): string {
  let text = "";
  for (let i = 0; i < records.length; i++) {
    const line = JSON.stringify(records[i]);
    if (i === 0 && (records.length > 1 || consumed.length > 0)) text += marked(line, records.length, consumed);
    else text += line;
    text += "\n";
  }
  return text;
}

function marked(line: string, records: number, consumed: readonly string[]): string {
  const settled = consumed.length > 0 ? `,"consumed":${JSON.stringify(consumed)}` : "";
  return `${line.slice(0, -1)},"${MARK}":{"records":${records}${settled}}}`;
}

/** A line read back: a record, or why it is none. `torn`: it may be half of a write that was cut. */
export type ReadLine =
  { record: JournalRecord; mark?: AppendMark } | { version: number } | { bad: string; torn: boolean };

/** Reads one line. Only the envelope is checked; what is inside is for those who fold it. */
export function parseLine(line: string): ReadLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { bad: "it is not valid JSON", torn: true };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { bad: "it is not a JSON object", torn: false };
  const record = value as JournalRecord & { [MARK]?: AppendMark };
  if (Number.isInteger(record.v) && record.v > JOURNAL_VERSION) return { version: record.v };
  const missing = firstMissing(record);
  if (missing !== undefined) return { bad: `it is not a journal record: ${missing}`, torn: false };
  const mark = record[MARK];
  if (mark === undefined) return { record };
  delete record[MARK];
  return { record, mark };
}

function firstMissing(record: Partial<JournalRecord>): string | undefined {
  if (!Number.isInteger(record.v) || record.v! < 1) return "no version `v`";
  if (!Number.isInteger(record.seq) || record.seq! < 1) return "no number `seq`";
  if (typeof record.at !== "number") return "no time `at`";
  if (typeof record.type !== "string") return "no `type`";
  return undefined;
}

/**
 * The `seq` of a line by its first bytes, without reading the rest. Works for lines of this store; `undefined` for any
 * other, which then have to be parsed.
 */
export function quickSeq(bytes: Buffer, start: number, end: number): number | undefined {
  const match = QUICK.exec(bytes.toString("latin1", start, Math.min(end, start + 48)));
  return match === null ? undefined : Number(match[1]);
}
const QUICK = new RegExp(`^\\{"v":${JOURNAL_VERSION},"seq":(\\d+),`);

/** Whether a broken first line can be the beginning of a record, rather than something that never was a journal. */
export function couldBeginJournal(bytes: Buffer): boolean {
  const begin = '{"v":';
  const head = bytes.toString("latin1", 0, begin.length);
  return begin.startsWith(head) || /^\0+$/.test(head);
}

/** What a file that is no journal looks like, in a few words. */
export function describeContent(bytes: Buffer): string {
  const known = SIGNATURES.find(([signature]) => bytes.toString("latin1", 0, signature.length) === signature);
  if (known) return known[1];
  if (bytes.includes(0)) return "binary data";
  const start = bytes.toString("utf8", 0, 60).split("\n", 1)[0]!;
  return `text that begins with ${JSON.stringify(start)}`;
}
const SIGNATURES: [string, string][] = [
  ["\x89PNG", "a PNG image"],
  ["\xff\xd8\xff", "a JPEG image"],
  ["%PDF", "a PDF document"],
  ["PK\x03\x04", "a ZIP archive"],
  ["\x1f\x8b", "gzip data"],
  ["SQLite format 3", "an SQLite database"],
  ["\x7fELF", "a program"],
];

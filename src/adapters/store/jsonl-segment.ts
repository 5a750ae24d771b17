/** One segment file, read from a place on: where lines begin and end, which appends are whole, and what is broken. */
import type { FileHandle } from "node:fs/promises";
import { JOURNAL_VERSION, type JournalRecord } from "../../core/event.ts";
import { StoreError } from "../../ports.ts";
import { couldBeginJournal, describeContent, parseLine, quickSeq } from "./jsonl-line.ts";

const CHUNK_BYTES = 256 * 1024;

/** What stands behind the last whole append of the last segment: the rest of a write that was cut, or is under way. */
export type Tail = { file: string; line: number | undefined; bytes: number };

/**
 * A place in a journal: behind the last whole append that was read. `next` is the `seq` that has to come; records up to
 * `after` are passed over without being parsed. `line` is not known when reading began in the middle of a segment.
 */
export type Cursor = {
  segment: number;
  offset: number;
  line: number | undefined;
  next: number | undefined;
  after: number;
  tail?: Tail | undefined;
  /** Signals that the last append which settled any has settled. */
  consumed?: readonly string[];
};

/** `details` of `JournalCorrupt` and `SchemaVersion`. */
export type BreakingPoint = { file: string; line: number; lastGoodSeq: number };

/** Cuts bytes into lines, lines into records, and records into whole appends. */
export class SegmentReader {
  failure: StoreError | undefined;
  readonly #cursor: Cursor;
  readonly #path: string;
  #bytes: Buffer = Buffer.alloc(0);
  #ready: JournalRecord[] = [];
  /** Records of an append that is not complete yet, and how many are missing. */
  #open: JournalRecord[] = [];
  #missing = 0;
  /** Bytes of the open append, and what it settles. */
  #pending = 0;
  #consumed: readonly string[] | undefined;
  /** Where parsing is: at or behind the cursor, which waits at the start of the open append. */
  #offset: number;
  #line: number;
  #next: number | undefined;
  /** A line that cannot be read; forgiven only when nothing follows it. */
  #suspect: { line: number; why: string } | undefined;

  constructor(cursor: Cursor, path: string) {
    this.#cursor = cursor;
    this.#path = path;
    this.#offset = cursor.offset;
    this.#line = cursor.line ?? NaN;
    this.#next = cursor.next;
  }

  /** Reads one chunk more. `false` at the end of the file. */
  async fill(file: FileHandle): Promise<boolean> {
    const chunk = Buffer.allocUnsafe(Math.max(CHUNK_BYTES, this.#bytes.length));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, this.#offset + this.#bytes.length);
    const fresh = chunk.subarray(0, bytesRead);
    this.#bytes = this.#bytes.length === 0 ? fresh : Buffer.concat([this.#bytes, fresh]);
    return bytesRead > 0;
  }

  /** Takes all whole lines out of what was read. */
  parse(): void {
    let start = 0;
    while (this.failure === undefined && start < this.#bytes.length) {
      if (this.#suspect) return this.#corrupt(this.#suspect.line, this.#suspect.why);
      const end = this.#bytes.indexOf(10, start);
      if (end < 0) break;
      this.#takeLine(start, end);
      start = end + 1;
    }
    this.#offset += start;
    this.#bytes = this.#bytes.subarray(start);
  }

  /** What the end of the file means for what is left over. */
  finish(isLast: boolean): void {
    const cursor = this.#cursor;
    const bytes = this.#offset + this.#bytes.length - cursor.offset;
    cursor.tail = undefined;
    if (this.failure !== undefined || bytes === 0) return;
    if (this.#line === 1 && this.#bytes.length > 0 && !couldBeginJournal(this.#bytes))
      return this.#notJournal(this.#bytes);
    if (!isLast) return this.#corrupt(this.#suspect?.line ?? this.#line, "its last append is not complete");
    cursor.tail = { file: this.#path, line: cursor.line, bytes };
  }

  takeReady(): JournalRecord[] {
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  #takeLine(start: number, end: number): void {
    const after = this.#cursor.after;
    if (after > 0 && this.#missing === 0) {
      const seq = quickSeq(this.#bytes, start, end);
      if (seq !== undefined && seq <= after && (this.#next === undefined || seq === this.#next)) {
        this.#next = seq + 1;
        return this.#settle(end - start + 1);
      }
    }
    const read = parseLine(this.#bytes.toString("utf8", start, end));
    if ("version" in read) return this.#newer(read.version);
    if ("bad" in read) {
      const line = this.#bytes.subarray(start, end);
      if (this.#line === 1 && !couldBeginJournal(line)) return this.#notJournal(line);
      if (!read.torn) return this.#corrupt(this.#line, read.bad);
      this.#suspect = { line: this.#line, why: read.bad };
      this.#line += 1;
      return;
    }
    const { record, mark } = read;
    if (this.#next !== undefined && record.seq !== this.#next)
      return this.#corrupt(this.#line, `record ${this.#next} should be here, not ${record.seq}`);
    if (this.#missing === 0) this.#missing = mark?.records ?? 1;
    if (mark?.consumed) this.#consumed = mark.consumed;
    this.#open.push(record);
    this.#missing -= 1;
    this.#next = record.seq + 1;
    this.#settle(end - start + 1);
  }

  /** Steps over a line, and with it over the append that it completes. */
  #settle(bytes: number): void {
    this.#line += 1;
    this.#pending += bytes;
    if (this.#missing > 0) return;
    for (const record of this.#open) if (record.seq > this.#cursor.after) this.#ready.push(record);
    this.#open = [];
    if (this.#consumed) this.#cursor.consumed = this.#consumed;
    this.#consumed = undefined;
    this.#cursor.offset += this.#pending;
    if (this.#cursor.line !== undefined) this.#cursor.line = this.#line;
    this.#cursor.next = this.#next;
    this.#pending = 0;
  }
  #corrupt(line: number, why: string): void {
    const after = this.#cursor.after;
    for (const record of this.#open) if (record.seq > after) this.#ready.push(record);
    const lastGoodSeq = (this.#next ?? 1) - 1;
    const mend =
      lastGoodSeq > 0
        ? `Records 1 to ${lastGoodSeq} are good: fork the session at ${lastGoodSeq} to go on from there.`
        : "No record before it is good.";
    this.#fail(
      "JournalCorrupt",
      `${this.#path} is broken at line ${line}: ${why}. ${mend} The file is left as it is.`,
      {
        line,
        lastGoodSeq,
      },
    );
  }

  #notJournal(bytes: Buffer): void {
    this.#fail("JournalCorrupt", `${this.#path} is not a journal but ${describeContent(bytes)}`, {
      line: this.#line,
      lastGoodSeq: (this.#next ?? 1) - 1,
    });
  }

  #newer(version: number): void {
    this.#fail(
      "SchemaVersion",
      `${this.#path} line ${this.#line} has journal version ${version}, this release reads up to ${JOURNAL_VERSION}: use a newer release. The file is left as it is.`,
      { line: this.#line, lastGoodSeq: (this.#next ?? 1) - 1, version },
    );
  }

  #fail(code: "JournalCorrupt" | "SchemaVersion", message: string, details: object): void {
    this.failure = new StoreError(code, message, { details: { file: this.#path, ...details } });
  }
}

/** The writing end of one journal, for as long as its lease is held. All of it is synchronous: one append, one write. */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { JournalRecord } from "../../core/event.ts";
import { StoreError, type Lease, type SessionStatus, type Store } from "../../ports.ts";
import type { SessionPaths } from "./file-names.ts";
import { unavailable } from "./io-failure.ts";
import { dropSideFile, writeSideFile, type SideFile } from "./jsonl-index.ts";
import { giveLease, leaseIsReady, stillHeld, type TakenLease } from "./jsonl-lease.ts";
import { toLines } from "./jsonl-line.ts";
import { settleSignals } from "./jsonl-signals.ts";
import { observe, type SessionFacts } from "./session-facts.ts";
import { fenced, headConflict, notDense } from "./store-errors.ts";
import { FILE_MODE, syncFolder, temporaryName, writeAll } from "./whole-files.ts";

/** When an append waits for the disk: never, when it holds a record that settles something, or always. */
export type Fsync = "never" | "commit" | "always";

/** Where a journal ends, as its writer found it. */
export type JournalEnd = { segment: number; size: number; head: number; facts: SessionFacts };

/** Records after which a power cut must not take anything back. */
const COMMITS: ReadonlySet<JournalRecord["type"]> = new Set([
  "tool.started",
  "exchange.committed",
  "compaction.applied",
  "run.suspended",
  "run.ended",
  "session.closed",
]);

/** Holds the journal open between acquire and release. Every error it throws is a StoreError. */
export class JournalWriter {
  readonly id: string;
  readonly owner: string;
  readonly lease: TakenLease;
  readonly paths: SessionPaths;
  readonly end: JournalEnd;
  /** Signal files that need not be opened again. */
  readonly settled = new Set<string>();
  status: SessionStatus = "running";
  wakeAt: number | undefined;
  #fd: number;
  #path: string;
  #fsync: Fsync;
  /** Keys that the journal says are consumed while their files do not say so yet. */
  #unsettled: readonly string[] = [];
  /** Epoch of the side file that is there now; replaced by the next one written. */
  #sideEpoch: number | undefined;
  /** Stays set when a write to a new segment fails: whoever saw it begin would wait for it there. */
  #rotate = false;
  #open = true;

  constructor(start: {
    id: string;
    owner: string;
    lease: TakenLease;
    paths: SessionPaths;
    end: JournalEnd;
    sideEpoch: number | undefined;
    fsync: Fsync;
  }) {
    this.id = start.id;
    this.owner = start.owner;
    this.lease = start.lease;
    this.paths = start.paths;
    this.end = start.end;
    this.#sideEpoch = start.sideEpoch;
    this.#fsync = start.fsync;
    this.#path = this.paths.segment(this.end.segment);
    // Not made when it is not there: then the session has been deleted.
    this.#fd = openSync(this.#path, constants.O_WRONLY | constants.O_APPEND);
    leaseIsReady(this.lease);
  }

  /** What the port's `append` promises. */
  append(lease: Lease, records: readonly JournalRecord[], options: Parameters<Store["append"]>[2]): Lease {
    this.check(lease);
    const { end } = this;
    if (lease.head !== end.head) throw headConflict(lease, end.head);
    for (let i = 0; i < records.length; i++)
      if (records[i]!.seq !== end.head + i + 1) throw notDense(this.id, end.head + i + 1, records[i]!.seq);
    const consume = options?.consume ?? [];
    if (records.length > 0) {
      const consumed = this.#unsettled.length > 0 ? [...this.#unsettled, ...consume] : consume;
      this.#rotate ||= options?.segment === true;
      this.#write(this.#encode(records, consumed), this.#rotate && end.size > 0, records, lease);
      this.#rotate = false;
      // Looked at again: a write that came too late went to a file that is no longer the journal.
      this.check(lease);
      end.head += records.length;
      for (const record of records) observe(end.facts, record);
    }
    if (options !== undefined) this.#afterWrite(consume, options);
    return { id: this.id, owner: this.owner, epoch: this.lease.epoch, head: end.head };
  }

  /** Throws `Fenced` unless this lease is the one that rules. */
  check(lease: Lease): void {
    if (this.#open && lease.epoch === this.lease.epoch && stillHeld(this.lease)) return;
    if (lease.epoch === this.lease.epoch) this.abandon();
    throw fenced(lease);
  }

  /** Whether the lease is still this writer's. */
  get rules(): boolean {
    return this.#open && stillHeld(this.lease);
  }

  /** Signals that are consumed by the journal while their files do not say so yet. */
  get unsettled(): readonly string[] {
    return this.#unsettled;
  }

  /** Cuts off what stands behind the end: the rest of somebody's write. */
  trim(): void {
    ftruncateSync(this.#fd, this.end.size);
  }

  /** Gives the lease up, whatever happens to the side file; throws afterwards when that could not be written. */
  release(status: SessionStatus, wakeAt: number | undefined): void {
    if (!this.#open) return;
    this.status = status;
    this.wakeAt = wakeAt;
    try {
      if (stillHeld(this.lease)) this.#writeSide();
    } catch (error) {
      throw unavailable(this.paths.state, "write the status to", error);
    } finally {
      this.abandon();
    }
  }

  /** Closes everything and gives the lease back, if it is still ours. */
  abandon(): void {
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.#fd);
    giveLease(this.lease);
  }

  #encode(records: readonly JournalRecord[], consumed: readonly string[]): string {
    try {
      return toLines(records, consumed);
    } catch (error) {
      throw unavailable(this.#path, "write a record as JSON to", error);
    }
  }

  /** Brings the bytes to the file: all of them, or none and an error. */
  #write(text: string, rotate: boolean, records: readonly JournalRecord[], lease: Lease): void {
    const { end, paths } = this;
    const path = rotate ? paths.segment(end.segment + 1) : this.#path;
    const length = Buffer.byteLength(text);
    let fd = this.#fd;
    try {
      if (rotate) fd = this.#openNext(path, lease);
      const written = writeSync(fd, text);
      if (written < length) writeAll(fd, Buffer.from(text).subarray(written));
      if (this.#mustSync(records)) {
        fsyncSync(fd);
        if (rotate) syncFolder(paths.folder);
      }
    } catch (error) {
      this.#undo(path, fd, error);
      throw unavailable(path, "write to", error);
    }
    if (rotate) {
      closeSync(this.#fd);
      this.#fd = fd;
      this.#path = path;
      end.segment += 1;
      end.size = 0;
    }
    end.size += length;
  }

  /**
   * Opens the next segment. It comes into being empty, and an empty segment means nothing to anybody; only a writer that
   * still rules after that writes to it, so a late one cannot leave records behind.
   */
  #openNext(path: string, lease: Lease): number {
    const fd = openSync(path, "a", FILE_MODE);
    try {
      if (fstatSync(fd).size > 0) throw new Error("there is something in it already");
      this.check(lease);
      return fd;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /** Takes a failed write back. Where even that fails, nobody knows what is in the file, and the lease ends. */
  #undo(path: string, fd: number, cause: unknown): void {
    if (!this.#open) return;
    try {
      ftruncateSync(fd, fd === this.#fd ? this.end.size : 0);
      if (fd !== this.#fd) closeSync(fd);
    } catch {
      this.abandon();
      throw new StoreError(
        "AppendOutcomeUnknown",
        `a write to ${path} failed and could not be taken back: acquire session ${this.id} again, its head says what was written`,
        { cause, details: { path } },
      );
    }
  }

  #mustSync(records: readonly JournalRecord[]): boolean {
    if (this.#fsync === "never") return false;
    return this.#fsync === "always" || records.some((record) => COMMITS.has(record.type));
  }

  /**
   * Signals and status follow the records. Should this fail, the append still holds: consumption is in the journal, and
   * the side file is only for lists; both are done again at the next occasion.
   */
  #afterWrite(consume: readonly string[], options: NonNullable<Parameters<Store["append"]>[2]>): void {
    if (consume.length > 0 || this.#unsettled.length > 0) {
      const keys = [...this.#unsettled, ...consume];
      try {
        settleSignals(this.paths.signals, keys);
        this.#unsettled = [];
      } catch {
        this.#unsettled = keys;
      }
    }
    if (options.status === undefined && options.wakeAt === undefined) return;
    this.status = options.status ?? this.status;
    this.wakeAt = options.wakeAt;
    try {
      this.#writeSide();
    } catch {
      // Written again on release; until then lists show the session as running.
    }
  }

  #writeSide(): void {
    const { segment, size, head, facts } = this.end;
    const side: SideFile = { facts, status: this.status, wakeAt: this.wakeAt, head, segment, size };
    const { epoch } = this.lease;
    writeSideFile(this.paths.state, epoch, side, this.#fsync === "always");
    if (this.#sideEpoch !== undefined && this.#sideEpoch !== epoch) dropSideFile(this.paths.state, this.#sideEpoch);
    this.#sideEpoch = epoch;
  }
}

/**
 * Gives the end of a journal to new files of the same name and content, so that a former holder who is just about to
 * write still writes to the old ones, which nobody reads.
 */
export function detachSegments(paths: SessionPaths, last: number, lease: TakenLease): void {
  const copy = temporaryName(join(paths.state, "segment"));
  for (const path of [paths.segment(last), paths.segment(last + 1)]) {
    if (!existsSync(path)) continue;
    copyFileSync(path, copy, constants.COPYFILE_FICLONE);
    // Somebody who lost patience with us may have done this already, and be writing.
    if (stillHeld(lease)) renameSync(copy, path);
  }
}

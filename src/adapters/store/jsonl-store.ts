/** The methods of the JSONL store, each put together from the parts beside it. */
import { setImmediate, setTimeout } from "node:timers/promises";
import type { JournalRecord } from "../../core/event.ts";
import { StoreError, type Clock, type JournalHealth, type Lease, type SessionInfo, type Store } from "../../ports.ts";
import { systemClock } from "../system.ts";
import type { JsonlOptions } from "./jsonl.ts";
import type { SessionPaths } from "./file-names.ts";
import { errno, guarded, guardedAsync, unavailable } from "./io-failure.ts";
import {
  firstFacts,
  openAfterReading,
  openAtKnownEnd,
  takeFacts,
  tornTail,
  type KnownEnd,
  type Opening,
} from "./jsonl-acquire.ts";
import { SessionFolder } from "./jsonl-folder.ts";
import { infoFromFiles, readSideFile, writeSideFile, type SideFile } from "./jsonl-index.ts";
import { giveLease, rulingLease, takeLease } from "./jsonl-lease.ts";
import { cursorAfter, readAll, startOfJournal } from "./jsonl-read.ts";
import type { BreakingPoint } from "./jsonl-segment.ts";
import { leaveSignal, waitingSignals } from "./jsonl-signals.ts";
import { Bell, follow } from "./jsonl-watch.ts";
import type { Fsync, JournalWriter } from "./jsonl-writer.ts";
import { newestFirst, sessionInfo } from "./session-facts.ts";
import { fenced, noSuchSession } from "./store-errors.ts";
import { getSessionFile, putSessionFile } from "./session-files.ts";
import { makeFolder, remove } from "./whole-files.ts";

/** How many journals' ends are remembered, so that the next run need not read them again. */
const REMEMBERED = 1_000;

/** How long a takeover waits for another process that is just taking the lease. */
const ENTERING_MS = 5_000;

/** See `jsonlStore`, which checks what it is given. */
export class JsonlStore implements Store {
  readonly capabilities: Store["capabilities"];
  readonly #folder: SessionFolder;
  readonly #fsync: Fsync;
  readonly #clock: Clock;
  readonly #warn: (message: string) => void;
  readonly #writers = new Map<string, JournalWriter>();
  readonly #known = new Map<string, KnownEnd>();
  readonly #bells = new Map<string, Set<Bell>>();
  #closed = false;

  constructor(root: string, options: JsonlOptions) {
    this.#folder = new SessionFolder(root);
    this.#fsync = options.fsync ?? "never";
    this.#clock = options.clock ?? systemClock;
    const logger = options.logger;
    this.#warn = logger ? (text) => logger.warn(text) : (text) => process.emitWarning(text, "RcraWarning");
    const durability = this.#fsync === "always" ? "power" : "crash";
    this.capabilities = { durability, multiProcess: true, multiHost: false };
  }

  create(id: string, { at, agent }: { at: number; agent: string }): void {
    guarded(this.#folder.root, `make session ${id} in`, () => {
      const paths = this.#folder.create(id, at, this.#fsync !== "never");
      const facts = { createdAt: at, updatedAt: at, agent };
      const side: SideFile = { facts, status: "idle", head: 0, segment: 1, size: 0 };
      try {
        makeFolder(paths.state);
        writeSideFile(paths.state, 0, side, false);
      } catch (error) {
        remove(paths.segment(1));
        throw error;
      }
      this.#remember(id, { epoch: 0, end: { segment: 1, size: 0, head: 0, facts }, consumed: [] });
    });
  }

  acquire(id: string, owner: string, mode: "if-free" | "takeover"): Lease | Promise<Lease> {
    return this.#take(id, owner, mode, true) ?? this.#wait(id, owner, mode);
  }

  append(lease: Lease, records: readonly JournalRecord[], options?: Parameters<Store["append"]>[2]): Lease {
    const writer = this.#held(lease);
    const next = writer.append(lease, records, options);
    if (this.#bells.size > 0 && records.length > 0) this.#ring(lease.id);
    return next;
  }

  release(lease: Lease, { status, wakeAt }: Parameters<Store["release"]>[1]): void {
    const writer = this.#writers.get(lease.id);
    if (writer === undefined || writer.lease.epoch !== lease.epoch) return;
    this.#writers.delete(lease.id);
    const known = { epoch: lease.epoch, end: writer.end, consumed: writer.unsettled };
    const ruled = writer.rules;
    writer.release(status, wakeAt);
    if (ruled) this.#remember(lease.id, known);
  }

  async *read(id: string, { after = 0 } = {}): AsyncGenerator<readonly JournalRecord[], void> {
    const paths = this.#require(id);
    try {
      const { epoch } = rulingLease(paths.state);
      const facts = firstFacts(paths, readSideFile(paths.state)?.side.facts);
      const cursor = await cursorAfter(paths, id, after);
      for await (const records of readAll(cursor, paths, id)) {
        takeFacts(facts, records);
        yield records;
      }
      const { segment, offset: size, next = 1, consumed = [], tail } = cursor;
      if (tail && !this.#isWritten(paths)) this.#warn(tornTail(id, tail));
      else if (after === 0 && !this.#writers.has(id))
        this.#remember(id, { epoch, end: { segment, size, head: next - 1, facts }, consumed });
    } catch (error) {
      throw failureOf("read", id, paths, error);
    }
  }

  async *watch(
    id: string,
    { after = 0, signal }: { after?: number; signal: AbortSignal },
  ): AsyncGenerator<readonly JournalRecord[], void> {
    const paths = this.#require(id);
    const bell = new Bell();
    const bells = this.#bells.get(id) ?? new Set();
    this.#bells.set(id, bells.add(bell));
    const ended = () => signal.aborted || this.#closed;
    try {
      yield* follow(paths, id, { after, signal, ended, bell, clock: this.#clock });
    } catch (error) {
      throw failureOf("read", id, paths, error);
    } finally {
      bells.delete(bell);
      if (bells.size === 0) this.#bells.delete(id);
    }
  }

  signal(id: string, signal: Parameters<Store["signal"]>[1]): "accepted" | "duplicate" {
    const { key, type, payload } = signal;
    const { signals } = this.#require(id);
    return guarded(signals, "leave a signal in", () =>
      leaveSignal(signals, { key, type, payload, at: this.#clock.now() }, this.#fsync !== "never"),
    );
  }

  pending(lease: Lease) {
    const writer = this.#held(lease);
    writer.check(lease);
    const { signals } = writer.paths;
    return guarded(signals, "read signals in", () => waitingSignals(signals, writer.settled));
  }

  async list({ limit, prefix = "" }: { limit?: number; prefix?: string } = {}): Promise<SessionInfo[]> {
    const { root } = this.#folder;
    const found: SessionInfo[] = [];
    const sessions = guarded(root, "list the sessions in", () => this.#folder.all(prefix));
    for (const [i, { id, paths }] of sessions.entries()) {
      if (i % 100 === 99) await setImmediate();
      try {
        found.push(this.#infoAt(id, paths));
      } catch (error) {
        // Deleted meanwhile; or unreadable, which must not hide its neighbours.
        if (errno(error) !== "ENOENT") this.#warn(`session ${id} cannot be listed: ${String(error)}`);
      }
    }
    return found.sort(newestFirst).slice(0, limit);
  }

  info(id: string): SessionInfo | undefined {
    try {
      const paths = this.#folder.find(id);
      return paths && this.#infoAt(id, paths);
    } catch (error) {
      if (errno(error) === "ENOENT") return undefined;
      throw unavailable(this.#folder.root, `look for session ${id} in`, error);
    }
  }

  async check(id: string): Promise<JournalHealth> {
    const paths = this.#require(id);
    const cursor = startOfJournal();
    try {
      for await (const _ of readAll(cursor, paths, id));
      // With a living holder, an open end is a write that is under way.
      if (!cursor.tail || this.#isWritten(paths)) return { ok: true };
      return { ok: true, tornTail: { line: cursor.tail.line!, file: cursor.tail.file } };
    } catch (error) {
      return brokenAt(failureOf("read", id, paths, error));
    }
  }

  async delete(id: string): Promise<void> {
    await guardedAsync(this.#folder.root, `delete session ${id} in`, () => this.#folder.delete(id));
    this.#known.delete(id);
    this.#ring(id);
  }

  putFile(id: string, name: string, content: string | Uint8Array): string {
    const { files } = this.#require(id);
    return guarded(files, "write a file to", () => putSessionFile(files, name, content, this.#fsync === "always"));
  }

  getFile(id: string, name: string): Uint8Array {
    const { files } = this.#require(id);
    return guarded(files, "read a file of", () => getSessionFile(files, id, name));
  }

  /** Ends watchers and gives back what is still held: a run that had not ended then was interrupted. */
  close(): void {
    this.#closed = true;
    for (const id of this.#bells.keys()) this.#ring(id);
    for (const writer of this.#writers.values()) writer.release("interrupted", undefined);
    this.#writers.clear();
  }

  /** Opens the journal under a lease just taken: at once where its end is known, else after reading it. */
  #open(opening: Opening): Lease | Promise<Lease> {
    const { id, paths, lease } = opening;
    // A former writer of this process has lost its lease just now.
    this.#writers.get(id)?.abandon();
    this.#writers.delete(id);
    const known = this.#known.get(id);
    this.#known.delete(id);
    let writer: JournalWriter | undefined;
    try {
      writer = openAtKnownEnd(opening, known);
    } catch (error) {
      giveLease(lease);
      throw failureOf("open", id, paths, error);
    }
    if (writer) return this.#started(writer);
    return openAfterReading(opening, this.#warn).then(
      (read) => this.#started(read),
      (error: unknown) => Promise.reject(failureOf("open", id, paths, error)),
    );
  }

  #take(id: string, owner: string, mode: "if-free" | "takeover", patient: boolean) {
    const paths = this.#require(id);
    const lease = guarded(paths.state, "take the lease in", () => takeLease(paths.state, id, owner, mode, patient));
    return lease && this.#open({ id, owner, paths, lease, fsync: this.#fsync });
  }

  /** Another process is in the middle of taking the lease, which takes it a few milliseconds unless it hangs. */
  async #wait(id: string, owner: string, mode: "if-free" | "takeover"): Promise<Lease> {
    for (let waited = 0; ; waited += 5) {
      await setTimeout(5);
      const lease = this.#take(id, owner, mode, waited < ENTERING_MS);
      if (lease) return lease;
    }
  }

  #require(id: string): SessionPaths {
    return guarded(this.#folder.root, "look for a session in", () => this.#folder.require(id));
  }

  #held(lease: Lease): JournalWriter {
    const writer = this.#writers.get(lease.id);
    if (writer === undefined || writer.lease.epoch !== lease.epoch) throw fenced(lease);
    return writer;
  }

  #started(writer: JournalWriter): Lease {
    const lease = { id: writer.id, owner: writer.owner, epoch: writer.lease.epoch, head: writer.end.head };
    writer.check(lease);
    this.#writers.set(writer.id, writer);
    return lease;
  }

  #remember(id: string, known: KnownEnd): void {
    this.#known.delete(id);
    this.#known.set(id, known);
    if (this.#known.size > REMEMBERED) this.#known.delete(this.#known.keys().next().value!);
  }

  #infoAt(id: string, paths: SessionPaths): SessionInfo {
    const writer = this.#writers.get(id);
    if (!writer?.rules) return infoFromFiles(paths, id);
    return sessionInfo(id, writer.end.head, writer.status, writer.wakeAt, writer.end.facts);
  }

  /** Whether somebody who lives holds the lease. */
  #isWritten(paths: SessionPaths): boolean {
    const { holder, dead } = rulingLease(paths.state);
    return holder !== undefined && !dead;
  }

  #ring(id: string): void {
    for (const bell of this.#bells.get(id) ?? []) bell.ring();
  }
}

/** A broken journal as a finding; any other failure is thrown. */
function brokenAt(failure: unknown): JournalHealth {
  if (failure instanceof StoreError && (failure.code === "JournalCorrupt" || failure.code === "SchemaVersion"))
    return { ok: false, message: failure.message, ...(failure.details as BreakingPoint) };
  throw failure;
}

/** What stands in the way, as a StoreError; a file that has gone is a session that was deleted. */
const failureOf = (what: "open" | "read", id: string, paths: SessionPaths, error: unknown): unknown =>
  errno(error) === "ENOENT" ? noSuchSession(id) : unavailable(paths.folder, `${what} session ${id} in`, error);

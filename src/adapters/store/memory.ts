/** The store of a process: journals as arrays, nothing on disk but large outputs. The default, and the reference. */
import type { JournalRecord } from "../../core/event.ts";
import {
  StoreError,
  type Clock,
  type JournalHealth,
  type Lease,
  type SessionInfo,
  type SessionStatus,
  type Signal,
  type Store,
} from "../../ports.ts";
import { systemClock } from "../system.ts";
import { requireSessionId } from "./file-names.ts";
import { newestFirst, observe, sessionInfo, type SessionFacts } from "./session-facts.ts";
import { fenced, headConflict, leaseHeld, notDense, notFound } from "./store-errors.ts";
import { temporaryFiles } from "./temporary-files.ts";

/** One journal. Its array only ever grows, and the records in it are the caller's own objects. */
type Journal = {
  records: JournalRecord[];
  epoch: number;
  owner: string | undefined;
  status: SessionStatus;
  wakeAt: number | undefined;
  facts: SessionFacts;
  signals: Map<string, Signal>;
  consumed: Set<string>;
  watchers: Set<() => void>;
};

/**
 * Makes a store whose journals live in this process and end with it. Every method answers at once, with a value.
 * Records are kept as given, neither copied nor frozen: whoever appends one must not change it afterwards. A lease is
 * held until it is released or taken over, since its owner cannot die without this store.
 */
export const memoryStore = (options: { clock?: Clock } = {}): Store => new MemoryStore(options.clock ?? systemClock);

class MemoryStore implements Store {
  readonly capabilities = { durability: "process", multiProcess: false, multiHost: false } as const;
  readonly #clock: Clock;
  readonly #journals = new Map<string, Journal>();
  readonly #files = temporaryFiles();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  create(id: string, { at, agent }: { at: number; agent: string }): void {
    requireSessionId(id);
    if (this.#journals.has(id)) throw new StoreError("Exists", `a session ${id} exists already`);
    this.#journals.set(id, emptyJournal(at, agent));
  }

  acquire(id: string, owner: string, mode: "if-free" | "takeover"): Lease {
    const journal = this.#find(id);
    if (journal.owner !== undefined && mode === "if-free") throw leaseHeld(id, journal.owner);
    journal.owner = owner;
    journal.epoch += 1;
    journal.status = "running";
    journal.wakeAt = undefined;
    return { id, owner, epoch: journal.epoch, head: journal.records.length };
  }

  append(lease: Lease, records: readonly JournalRecord[], options?: AppendOptions): Lease {
    const journal = this.#held(lease);
    const kept = journal.records;
    const head = kept.length;
    if (lease.head !== head) throw headConflict(lease, head);
    for (let i = 0; i < records.length; i++)
      if (records[i]!.seq !== head + i + 1) throw notDense(lease.id, head + i + 1, records[i]!.seq);
    for (const record of records) {
      kept.push(record);
      observe(journal.facts, record);
    }
    if (options !== undefined) applyOptions(journal, options);
    if (records.length > 0) for (const wake of journal.watchers) wake();
    return { id: lease.id, owner: lease.owner, epoch: lease.epoch, head: kept.length };
  }

  release(lease: Lease, { status, wakeAt }: Parameters<Store["release"]>[1]): void {
    const journal = this.#journals.get(lease.id);
    if (journal === undefined || journal.epoch !== lease.epoch || journal.owner === undefined) return;
    journal.owner = undefined;
    journal.status = status;
    journal.wakeAt = wakeAt;
  }

  async *read(id: string, { after = 0 } = {}): AsyncGenerator<readonly JournalRecord[], void> {
    const { records } = this.#find(id);
    if (records.length > after) yield records.slice(after);
  }

  async *watch(
    id: string,
    { after = 0, signal }: Parameters<Store["watch"]>[1],
  ): AsyncGenerator<readonly JournalRecord[], void> {
    const journal = this.#find(id);
    for (let position = after; !signal.aborted && this.#journals.get(id) === journal;) {
      const chunk = journal.records.slice(position);
      position += chunk.length;
      if (chunk.length > 0) yield chunk;
      else await changed(journal, signal);
    }
  }

  signal(id: string, { key, type, payload }: Omit<Signal, "at">): "accepted" | "duplicate" {
    const journal = this.#find(id);
    if (journal.signals.has(key) || journal.consumed.has(key)) return "duplicate";
    journal.signals.set(key, { key, type, payload, at: this.#clock.now() });
    return "accepted";
  }

  pending(lease: Lease): Signal[] {
    return [...this.#held(lease).signals.values()];
  }

  list({ limit, prefix = "" }: { limit?: number; prefix?: string } = {}): SessionInfo[] {
    const found = [...this.#journals].filter(([id]) => id.startsWith(prefix));
    const infos = found.map(([id, journal]) => infoOf(id, journal));
    return infos.sort(newestFirst).slice(0, limit);
  }

  info(id: string): SessionInfo | undefined {
    const journal = this.#journals.get(id);
    return journal && infoOf(id, journal);
  }

  check(id: string): JournalHealth {
    this.#find(id);
    return { ok: true };
  }

  delete(id: string): void {
    const journal = this.#find(id);
    if (journal.owner !== undefined) throw leaseHeld(id, journal.owner);
    this.#journals.delete(id);
    this.#files.remove(id);
    for (const wake of journal.watchers) wake();
  }

  putFile(id: string, name: string, content: string | Uint8Array): string {
    this.#find(id);
    return this.#files.put(id, name, content);
  }

  getFile(id: string, name: string): Uint8Array {
    this.#find(id);
    return this.#files.get(id, name);
  }

  close(): void {
    this.#files.close();
  }

  #find(id: string): Journal {
    return this.#journals.get(id) ?? notFound(id);
  }

  /** The journal that a lease still rules. @throws StoreError `Fenced` */
  #held(lease: Lease): Journal {
    const journal = this.#journals.get(lease.id);
    if (journal === undefined || journal.epoch !== lease.epoch || journal.owner === undefined) throw fenced(lease);
    return journal;
  }
}

type AppendOptions = NonNullable<Parameters<Store["append"]>[2]>;

/** A journal nobody has written to. */
const emptyJournal = (at: number, agent: string): Journal => ({
  records: [],
  epoch: 0,
  owner: undefined,
  status: "idle",
  wakeAt: undefined,
  facts: { createdAt: at, updatedAt: at, agent },
  signals: new Map(),
  consumed: new Set(),
  watchers: new Set(),
});

/** The part of an append that is not records. */
function applyOptions(journal: Journal, options: AppendOptions): void {
  for (const key of options.consume ?? []) if (journal.signals.delete(key)) journal.consumed.add(key);
  if (options.status === undefined && options.wakeAt === undefined) return;
  journal.status = options.status ?? journal.status;
  journal.wakeAt = options.wakeAt;
}

const infoOf = (id: string, { records, status, wakeAt, facts }: Journal) =>
  sessionInfo(id, records.length, status, wakeAt, facts);

/** Resolves at the next append, at deletion, or on abort. */
function changed(journal: Journal, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      journal.watchers.delete(wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    journal.watchers.add(wake);
    signal.addEventListener("abort", wake);
  });
}

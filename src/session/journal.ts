/** Writes the journal: records in order, one write per flush, and nothing is shown before it is written. */
import {
  JOURNAL_VERSION,
  type InputEvent,
  type JournalRecord,
  type LiveEvent,
  type NoteEvent,
  type OutputEvent,
  type SessionEvent,
  type Taken,
} from "../core/event.ts";
import { StoreError, type Clock, type Lease, type Store } from "../ports.ts";
import { isThenable } from "../effects/effect.ts";
import type { Writer } from "../effects/host.ts";
import { Feed } from "./feed.ts";

/** Where records are folded as they are made. */
export type Fold = { append(record: JournalRecord): void };

type Write = {
  records: JournalRecord[];
  events: SessionEvent[];
  consumed: string[];
  /** Begins a new segment. */
  segment: boolean;
  /** More waits, for a write of its own. */
  hasRest: boolean;
};

/** Most writes need no options, and their stores no object to look into. */
function optionsOf({ consumed, segment }: Write): { consume?: string[]; segment?: true } | undefined {
  if (!segment && consumed.length === 0) return undefined;
  return { ...(consumed.length ? { consume: consumed } : {}), ...(segment ? { segment } : {}) };
}

export class Journal implements Writer {
  readonly feed: Feed;
  /** `seq` of the newest record, written or not. */
  head = 0;
  lease: Lease | null = null;
  /** The store refuses to write; everything since is kept, in order. */
  broken: StoreError | null = null;
  /** Called when a write fails, and at every barrier until `retry`. */
  onBroken: (error: StoreError) => void = () => {};
  /** Hears each input as it is recorded. */
  onTake: ((event: InputEvent) => void) | null = null;
  /** A note that came while nobody holds the lease. */
  onIdleNote: (event: NoteEvent) => void = () => {};
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #folds: readonly Fold[];
  #unwritten: JournalRecord[] = [];
  #unshown: SessionEvent[] = [];
  #consumed: string[] = [];
  #writing: Promise<boolean> | null = null;
  #files: Promise<unknown>[] = [];
  #run: string | undefined;
  #turn = 0;
  #attempt = 0;
  #scheduled = false;
  /** The record that a new segment begins with, until it is written. */
  #segmentFrom: number | null = null;

  constructor(id: string, store: Store, clock: Clock, folds: readonly Fold[], feed?: Feed) {
    this.#store = store;
    this.#clock = clock;
    this.#folds = folds;
    this.feed = feed ?? new Feed((after) => store.read(id, { after }));
  }

  /** Goes on after records that are already in the store. */
  goOn(from: { head: number; run?: string | undefined; turn: number; attempt: number }): void {
    this.head = from.head;
    this.feed.jump(from.head);
    this.#run = from.run;
    this.#turn = from.turn;
    this.#attempt = from.attempt;
  }

  /** Signals that go with the next write: taken exactly when what they led to is written. */
  consume(keys: readonly string[]): void {
    this.#consumed.push(...keys);
  }

  /** Gives an input its place; the machine takes what this returns. */
  take<E extends InputEvent>(event: E): Taken<E> {
    const record = this.#place("in", event);
    this.#push(record as JournalRecord);
    this.onTake?.(event);
    return record;
  }

  announce(event: OutputEvent): void {
    // The directive of a full compaction is the first record of its model context.
    if (event.type === "compaction.applied" && event.kind !== "elide") this.#segmentFrom = event.directive;
    if (event.type === "run.started") this.#run = event.runId;
    else if (event.type === "turn.started") this.#turn = event.turn;
    else if (event.type === "attempt.started") this.#attempt = event.attempt;
    this.#push(this.#place("out", event) as JournalRecord);
    if (event.type === "exchange.committed") this.#turn = this.#attempt = 0;
    else if (event.type === "run.ended") {
      this.#run = undefined;
      this.#turn = this.#attempt = 0;
    }
  }

  note(event: NoteEvent): void {
    if (this.lease) this.#push(this.#place("note", event) as JournalRecord);
    else this.onIdleNote(event);
  }

  get isWatched(): boolean {
    return this.feed.isWatched;
  }

  /** Shows something that is never written, in order with what is. */
  live(event: LiveEvent): void {
    if (this.#unshown.length === 0) {
      if (this.feed.isWatched) this.feed.publish({ ...event, live: true });
    } else this.#unshown.push({ ...event, live: true });
  }

  #place<E extends { type: string }>(dir: "in" | "out" | "note", event: E) {
    const at = this.#clock.now();
    const place: {
      v: number;
      seq: number;
      at: number;
      dir: typeof dir;
      runId?: string;
      turn?: number;
      attempt?: number;
    } = { v: JOURNAL_VERSION, seq: ++this.head, at, dir };
    if (this.#run !== undefined) place.runId = this.#run;
    if (this.#turn > 0) place.turn = this.#turn;
    if (this.#attempt > 0) place.attempt = this.#attempt;
    return Object.assign(place, event);
  }

  #push(record: JournalRecord): void {
    for (const fold of this.#folds) fold.append(record);
    this.#unwritten.push(record);
    this.#unshown.push(record);
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      if (this.lease) void this.#write();
    });
  }

  /**
   * The barrier: everything so far is written in one write, then shown. False when it could not be; the machine hears of
   * it each time, since whatever stood behind the barrier must not begin.
   */
  flush(): boolean | Promise<boolean> {
    if (!this.broken || this.#writing) return this.#write();
    this.onBroken(this.broken);
    return false;
  }

  /** No record is written before this file is: records name it. */
  awaitFile(written: Promise<unknown>): void {
    written.catch(() => {});
    this.#files.push(written);
  }

  #write(): boolean | Promise<boolean> {
    if (this.#writing) return this.#writing.then(() => this.#write());
    if (this.broken) return false;
    if (this.#files.length) {
      const files = Promise.all(this.#files.splice(0));
      this.#writing = files.then(
        () => true,
        (error: unknown) => this.#break(error),
      );
      return this.#writing.finally(() => (this.#writing = null)).then(() => this.#write());
    }
    if (this.#unwritten.length === 0 && this.#consumed.length === 0) return true;
    if (!this.lease) return false;
    const write = this.#nextWrite();
    try {
      const lease = this.#store.append(this.lease, write.records, optionsOf(write));
      if (!isThenable(lease)) return this.#written(lease, write) && (!write.hasRest || this.#write());
      this.#writing = Promise.resolve(lease)
        .then(
          (next) => this.#written(next, write),
          (error: unknown) => this.#failed(error, write),
        )
        .finally(() => {
          this.#writing = null;
        });
      return write.hasRest ? this.#writing.then((written) => written && this.#write()) : this.#writing;
    } catch (error) {
      return this.#failed(error, write);
    }
  }

  /** Everything that waits; what comes before a new segment goes by itself. */
  #nextWrite(): Write {
    const at = this.#segmentFrom;
    const segment = at !== null && this.#unwritten[0]?.seq === at;
    const isFirst = (event: object) => "seq" in event && event.seq === at;
    const records = at === null || segment ? -1 : this.#unwritten.findIndex(isFirst);
    const hasRest = records > 0;
    const write: Write = {
      records: hasRest ? this.#unwritten.splice(0, records) : this.#unwritten,
      events: hasRest ? this.#unshown.splice(0, this.#unshown.findIndex(isFirst)) : this.#unshown,
      consumed: this.#consumed,
      segment,
      hasRest,
    };
    if (!hasRest) [this.#unwritten, this.#unshown] = [[], []];
    this.#consumed = [];
    return write;
  }

  #written(lease: Lease, { events, segment }: Write): true {
    this.lease = lease;
    if (segment) this.#segmentFrom = null;
    for (const event of events) this.feed.publish(event);
    return true;
  }

  #failed(error: unknown, write: Write): false {
    const { records, events, consumed } = write;
    this.#consumed = [...consumed, ...this.#consumed];
    this.#unwritten = [...records, ...this.#unwritten];
    this.#unshown = [...events, ...this.#unshown];
    return this.#break(error);
  }

  #break(error: unknown): false {
    this.broken =
      error instanceof StoreError
        ? error
        : new StoreError("StoreUnavailable", error instanceof Error ? error.message : String(error), { cause: error });
    this.onBroken(this.broken);
    return false;
  }

  /** Tries a broken store again: what was kept is written first. */
  retry(): boolean | Promise<boolean> {
    this.broken = null;
    return this.#write();
  }

  /** The last flush of a run: tried even when broken. If it fails, readers still learn how the run ended. */
  async finish(): Promise<boolean> {
    const error = this.broken;
    const written = error && !mayRetry(error) ? false : await this.retry();
    if (!written) {
      for (const event of this.#unshown) this.feed.publish(event);
      this.#unshown = [];
    }
    return written;
  }

  /** How many records wait to be written. */
  get backlog(): number {
    return this.#unwritten.length;
  }
}

/** Whether the same write may be tried again later. */
export const mayRetry = (error: StoreError): boolean => error.code === "StoreUnavailable";

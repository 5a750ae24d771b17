/** Hands events to readers. A slow reader never stalls a run, nor does it make memory grow. */
import type { JournalRecord, SessionEvent } from "../core/event.ts";

/** Events kept for a reader that is behind; past it, records are read back from the store and partials are skipped. */
const QUEUE = 1_024;

type ReadBack = (after: number) => AsyncIterable<readonly JournalRecord[]>;
export type ReaderOptions = {
  /** `seq` after which to begin. */
  after: number;
  partials: boolean;
  /** The last event for this reader. */
  isLast?: (event: SessionEvent) => boolean;
  signal?: AbortSignal | undefined;
};

/** One source, many readers, each at its own pace. */
export class Feed {
  /** `seq` of the newest published record. */
  head = 0;
  readonly #readers = new Set<Reader>();
  readonly #readBack: ReadBack;
  #ended = false;

  constructor(readBack: ReadBack) {
    this.#readBack = readBack;
  }

  get isWatched(): boolean {
    return this.#readers.size > 0;
  }

  publish(event: SessionEvent): void {
    if ("seq" in event) this.head = event.seq;
    for (const reader of this.#readers) reader.push(event);
  }

  /** A reader from `after` on; what it missed is read back first, without gap or repeat. */
  read(options: ReaderOptions): AsyncGenerator<SessionEvent, void, void> {
    return this.#drain(new Reader(options), options);
  }

  /** A reader is one from its first `next` on; one that never begins, or has left, leaves nothing behind. */
  async *#drain(reader: Reader, options: ReaderOptions): AsyncGenerator<SessionEvent, void, void> {
    const leave = () => reader.end();
    this.#readers.add(reader);
    options.signal?.addEventListener("abort", leave, { once: true });
    try {
      while (!options.signal?.aborted) {
        for (let event = reader.shift(); event; event = reader.shift()) {
          yield event;
          if (options.isLast?.(event)) return;
        }
        if (reader.lastSeq < this.head && !reader.isStuck) {
          reader.isStuck = true;
          for await (const chunk of this.#readBack(reader.lastSeq))
            for (const record of chunk) {
              if (record.seq > this.head) break;
              reader.lastSeq = record.seq;
              reader.isStuck = false;
              yield record;
              if (options.isLast?.(record)) return;
            }
          continue;
        }
        if (reader.ended || this.#ended) return;
        // What was shown but could not be written cannot be read back: go on with what comes.
        reader.isStuck = false;
        reader.goLive();
        await reader.more();
      }
    } finally {
      this.#readers.delete(reader);
      options.signal?.removeEventListener("abort", leave);
    }
  }

  /** Somebody else wrote up to here: readers read it back. */
  jump(head: number): void {
    this.head = head;
    for (const reader of this.#readers) reader.fallBehind();
  }

  /** Ends every reader: the session is over. */
  end(): void {
    this.#ended = true;
    for (const reader of this.#readers) reader.end();
  }
}

class Reader {
  lastSeq: number;
  ended = false;
  /** Reading back brought nothing. */
  isStuck = false;
  #live = false;
  #queue: SessionEvent[] = [];
  #at = 0;
  #wake: (() => void) | null = null;
  readonly #partials: boolean;

  constructor(options: ReaderOptions) {
    this.lastSeq = options.after;
    this.#partials = options.partials;
  }

  goLive(): void {
    this.#live = true;
  }

  fallBehind(): void {
    this.#live = false;
    this.#rouse();
  }

  push(event: SessionEvent): void {
    const isRecord = "seq" in event;
    if (!this.#live || (!isRecord && !this.#partials)) return this.#rouse();
    if (event.type === "part.delta" && this.#coalesce(event)) return;
    if (this.#queue.length - this.#at >= QUEUE) {
      // Behind: from here on records are read back, as soon as the queue is empty.
      this.#live = false;
      return;
    }
    this.#queue.push(event);
    this.#rouse();
  }

  /** A delta that nobody has read yet grows by the next one of its part. */
  #coalesce(event: Extract<SessionEvent, { type: "part.delta" }>): boolean {
    const last = this.#at < this.#queue.length ? this.#queue.at(-1) : undefined;
    if (last?.type !== "part.delta" || last.partId !== event.partId) return false;
    this.#queue[this.#queue.length - 1] = { ...last, delta: last.delta + event.delta };
    return true;
  }

  shift(): SessionEvent | undefined {
    const event = this.#queue[this.#at];
    if (!event) {
      if (this.#at > 0) this.#queue = [];
      this.#at = 0;
      return undefined;
    }
    this.#at++;
    if ("seq" in event) this.lastSeq = event.seq;
    return event;
  }

  end(): void {
    this.ended = true;
    this.#rouse();
  }

  #rouse(): void {
    this.#wake?.();
    this.#wake = null;
  }

  more(): Promise<void> {
    if (this.#at < this.#queue.length || this.ended) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** A store in front of another one that fails, lags or dies when it is told to. */
import type { JournalRecord } from "../../src/core/event.ts";
import { StoreError, type Lease, type Store, type StoreErrorCode } from "../../src/ports.ts";

type Fault = { when: (records: readonly JournalRecord[]) => boolean; code: StoreErrorCode; left: number };

/** Whether a write holds a record of this type. */
export const holds =
  (type: JournalRecord["type"]) =>
  (records: readonly JournalRecord[]): boolean =>
    records.some((r) => r.type === type);

export class FaultyStore implements Store {
  readonly capabilities: Store["capabilities"];
  /** What each append that went through wrote. */
  readonly writes: JournalRecord[][] = [];
  /** Appends answer a macrotask later, releases three. */
  lags = false;
  reads = 0;
  /** The store behind it, which outlives it. */
  readonly base: Store;
  readonly #leases = new Map<string, Lease>();
  #faults: Fault[] = [];
  #dies: ((records: readonly JournalRecord[]) => boolean) | null = null;
  #dead = false;

  constructor(base: Store) {
    this.base = base;
    this.capabilities = base.capabilities;
  }

  /** The next `times` appends for which `when` holds fail; nothing of them is written. */
  fail(when: Fault["when"], times = 1, code: StoreErrorCode = "StoreUnavailable"): void {
    this.#faults.push({ when, code, left: times });
  }

  /** Every append works again. */
  mend(): void {
    this.#faults = [];
  }

  /** As if the process ended: the lease is free, and whoever asks through here never gets an answer. */
  async kill(): Promise<void> {
    this.#dead = true;
    for (const lease of this.#leases.values()) await this.base.release(lease, { status: "interrupted" });
  }

  /** Dies right after the write for which `when` holds. */
  killAfter(when: (records: readonly JournalRecord[]) => boolean): void {
    this.#dies = when;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  #asked<T>(work: () => T): T | Promise<never> {
    return this.#dead ? new Promise<never>(() => {}) : work();
  }

  create(id: string, info: { at: number; agent: string }) {
    return this.#asked(() => this.base.create(id, info));
  }

  async acquire(id: string, owner: string, mode: "if-free" | "takeover"): Promise<Lease> {
    const lease = await this.#asked(() => this.base.acquire(id, owner, mode));
    this.#leases.set(id, lease);
    if (!this.#dead) return lease;
    await this.base.release(lease, { status: "interrupted" });
    return new Promise<never>(() => {});
  }

  append(
    lease: Lease,
    records: readonly JournalRecord[],
    options?: Parameters<Store["append"]>[2],
  ): Lease | Promise<Lease> {
    return this.#asked(() => (this.lags ? this.#later(lease, records, options) : this.#write(lease, records, options)));
  }

  async #later(lease: Lease, records: readonly JournalRecord[], options?: Parameters<Store["append"]>[2]) {
    await new Promise((resolve) => setImmediate(resolve));
    return this.#asked(() => this.#write(lease, records, options));
  }

  #write(lease: Lease, records: readonly JournalRecord[], options?: Parameters<Store["append"]>[2]) {
    const fault = this.#faults.find((f) => f.left > 0 && f.when(records));
    if (fault) {
      fault.left--;
      throw new StoreError(fault.code, `the disk said no (${fault.code})`);
    }
    const next = this.base.append(lease, records, options);
    this.writes.push([...records]);
    if (!this.#dies?.(records)) return next;
    void this.kill();
    return new Promise<never>(() => {});
  }

  release(lease: Lease, options: Parameters<Store["release"]>[1]): void | Promise<void> {
    return this.#asked(() => (this.lags ? this.#releaseLater(lease, options) : this.base.release(lease, options)));
  }

  async #releaseLater(lease: Lease, options: Parameters<Store["release"]>[1]): Promise<void> {
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
    await this.#asked(() => this.base.release(lease, options));
  }

  async *read(id: string, options?: { after?: number }) {
    this.reads++;
    await this.#asked(() => {});
    yield* this.base.read(id, options);
  }

  watch(id: string, options: { after?: number; signal: AbortSignal }) {
    return this.base.watch(id, options);
  }
  signal(id: string, signal: Parameters<Store["signal"]>[1]) {
    return this.#asked(() => this.base.signal(id, signal));
  }
  pending(lease: Lease) {
    return this.#asked(() => this.base.pending(lease));
  }
  list(options?: { limit?: number; prefix?: string }) {
    return this.#asked(() => this.base.list(options));
  }
  info(id: string) {
    return this.#asked(() => this.base.info(id));
  }
  check(id: string) {
    return this.#asked(() => this.base.check(id));
  }
  delete(id: string) {
    return this.#asked(() => this.base.delete(id));
  }
  putFile(id: string, name: string, content: string | Uint8Array) {
    return this.#asked(() => this.base.putFile(id, name, content));
  }
  getFile(id: string, name: string) {
    return this.#asked(() => this.base.getFile(id, name));
  }
}

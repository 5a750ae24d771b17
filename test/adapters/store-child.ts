/**
 * A process of its own that uses a store, for tests of several processes. Told what to do by its arguments; says what it
 * did in lines on stdout, and goes on when it gets a line on stdin.
 */
import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { jsonlStore } from "../../src/adapters/store/jsonl.ts";
import type { JournalRecord } from "../../src/core/event.ts";
import { StoreError, type Lease } from "../../src/ports.ts";

const [task, dir = "", id = "", owner = ""] = process.argv.slice(2);
const store = jsonlStore(dir);
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
const codeOf = (error: unknown) => (error instanceof StoreError ? error.code : String(error));

const record = (lease: Lease, value: string): JournalRecord => ({
  v: 1,
  seq: lease.head + 1,
  at: Date.now(),
  dir: "in",
  type: "memory.updated",
  key: owner,
  value,
});

/** Takes the lease, writes one record, and keeps the lease until told to go on; then tries to write one more. */
async function hold(): Promise<void> {
  let lease = await store.acquire(id, owner, "if-free");
  lease = await store.append(lease, [record(lease, "held")]);
  say({ holding: lease.epoch, head: lease.head });
  await once(process.stdin, "data");
  try {
    await store.append(lease, [record(lease, "late")]);
    say({ wrote: true });
  } catch (error) {
    say({ refused: codeOf(error) });
  }
  process.exit();
}

/** Writes a number of records, each under a lease of its own, and says which of them the store took. */
async function contend(mode: "if-free" | "takeover"): Promise<void> {
  const taken: string[] = [];
  for (let i = 0; taken.length < 8 && i < 100_000; i++) {
    try {
      const lease = await store.acquire(id, owner, mode);
      const value = `${owner}-${i}`;
      const next = await store.append(lease, [record(lease, value)], { segment: i % 7 === 0 });
      taken.push(value);
      await store.release(next, { status: "idle" });
    } catch (error) {
      const code = codeOf(error);
      if (code !== "LeaseHeld" && code !== "Fenced") throw error;
    }
    await setImmediate();
  }
  say({ taken });
}

/** Appends records one by one under one lease. */
async function write(): Promise<void> {
  let lease = await store.acquire(id, owner, "if-free");
  for (let i = 0; i < 200; i++) {
    lease = await store.append(lease, [record(lease, String(i))], { segment: i % 50 === 49 });
    if (i % 10 === 0) await setImmediate();
  }
  await store.release(lease, { status: "idle" });
  say({ head: lease.head });
}

/** Leaves signals without a lease. */
async function signal(): Promise<void> {
  const outcomes: string[] = [];
  for (let i = 0; i < 20; i++) outcomes.push(await store.signal(id, { key: `k${i}`, type: "input", payload: owner }));
  say({ outcomes });
}

const tasks: Record<string, () => Promise<void>> = {
  hold,
  contend: () => contend("if-free"),
  "take-over": () => contend("takeover"),
  write,
  signal,
};
await tasks[task!]!();

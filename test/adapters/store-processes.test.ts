import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { jsonlStore } from "../../src/adapters/store/jsonl.ts";
import type { JournalRecord } from "../../src/core/event.ts";
import type { Store } from "../../src/ports.ts";
import { failure, note, notes, readAll } from "./store.contract.ts";

const script = fileURLToPath(new URL("store-child.ts", import.meta.url));
let dir: string;
let store: Store;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "rcra-store-"));
  store = jsonlStore(dir);
  await store.create("s1", { at: Date.now(), agent: "a" });
});
afterEach(async () => {
  await store.close?.();
  rmSync(dir, { recursive: true, force: true });
});

/** Starts a child; `said` waits for its next line. */
function start(task: string, owner: string) {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", script, task, dir, "s1", owner], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const said = async () => JSON.parse((await lines.next()).value as string) as Record<string, unknown>;
  return { child, said, ended: once(child, "exit"), goOn: () => child.stdin.write("go\n") };
}

const valuesOf = (records: JournalRecord[]) => records.map((r) => ("value" in r ? String(r.value) : ""));

test("a session that another process writes is in use, and the error says by whom", async () => {
  const other = start("hold", "the other");
  await other.said();
  const error = await failure(() => store.acquire("s1", "me", "if-free"));
  expect(error.code).toBe("LeaseHeld");
  expect(error.details).toMatchObject({ owner: "the other", pid: other.child.pid });
  expect(await store.info("s1")).toMatchObject({ status: "running", head: 1 });
  expect((await failure(() => store.delete("s1"))).code).toBe("LeaseHeld");
  other.child.kill("SIGKILL");
  await other.ended;
});

test("a lease left by a killed process is free; what it wrote is there, and the session was interrupted", async () => {
  const other = start("hold", "victim");
  const { holding } = await other.said();
  other.child.kill("SIGKILL");
  await other.ended;
  expect(await store.info("s1")).toMatchObject({ status: "interrupted", head: 1 });
  expect(await store.list()).toMatchObject([{ id: "s1", status: "interrupted" }]);
  const lease = await store.acquire("s1", "me", "if-free");
  expect(lease).toMatchObject({ head: 1, owner: "me" });
  expect(lease.epoch).toBeGreaterThan(holding as number);
  expect((await store.append(lease, [note(2)])).head).toBe(2);
});

test("a process whose lease was taken over cannot append", async () => {
  const other = start("hold", "victim");
  await other.said();
  const lease = await store.acquire("s1", "me", "takeover");
  const next = await store.append(lease, [note(2)]);
  other.goOn();
  expect(await other.said()).toEqual({ refused: "Fenced" });
  await store.append(next, [note(3)]);
  expect(valuesOf(await readAll(store, "s1"))).toEqual(["held", "record 2", "record 3"]);
  await other.ended;
});

test("processes that take turns lose nothing and write nothing twice", async () => {
  const children = ["a", "b"].map((owner) => start("contend", owner));
  const said = await Promise.all(children.map((child) => child.said()));
  const records = await readAll(store, "s1");
  expect(records.map((r) => r.seq)).toEqual(records.map((_, i) => i + 1));
  expect(valuesOf(records).sort()).toEqual(said.flatMap((s) => s.taken as string[]).sort());
  expect(await store.check("s1")).toEqual({ ok: true });
});

test("processes that take the lease from each other keep the journal whole, and what was acknowledged is in it", async () => {
  const children = ["a", "b", "c"].map((owner) => start("take-over", owner));
  const said = await Promise.all(children.map((child) => child.said()));
  expect(await store.check("s1")).toEqual({ ok: true });
  const values = valuesOf(await readAll(store, "s1"));
  expect(new Set(values).size).toBe(values.length);
  for (const { taken } of said) expect(values.filter((value) => (taken as string[]).includes(value))).toEqual(taken);
});

test("a watcher follows what another process writes, without a gap and without a repeat", async () => {
  const stop = new AbortController();
  const found: JournalRecord[] = [];
  const other = start("write", "writer");
  for await (const chunk of store.watch("s1", { signal: stop.signal })) {
    found.push(...chunk);
    if (found.length >= 200) stop.abort();
  }
  expect(found.map((r) => r.seq)).toEqual(notes(1, 200).map((r) => r.seq));
  expect(await other.said()).toEqual({ head: 200 });
});

test("of processes that leave the same signal one is heard, and the holder of the lease takes it", async () => {
  const lease = await store.acquire("s1", "me", "if-free");
  const children = ["a", "b"].map((owner) => start("signal", owner));
  const said = await Promise.all(children.map((child) => child.said()));
  const outcomes = said.flatMap((s) => s.outcomes as string[]);
  expect(outcomes.filter((outcome) => outcome === "accepted")).toHaveLength(20);
  const waiting = await store.pending(lease);
  expect(waiting).toHaveLength(20);
  const next = await store.append(lease, [note(1)], { consume: waiting.map((signal) => signal.key) });
  expect(await store.pending(next)).toEqual([]);
});

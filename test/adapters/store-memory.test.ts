import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { memoryStore } from "../../src/adapters/store/memory.ts";
import { note, notes, readAll, storeContract } from "./store.contract.ts";

storeContract("memoryStore", () => {
  const store = memoryStore();
  return { store, close: () => store.close?.() };
});

test("records are kept as they are, and every answer is a value, not a promise", () => {
  const store = memoryStore();
  expect(store.create("s", { at: 0, agent: "a" })).toBeUndefined();
  const lease = store.acquire("s", "o", "if-free");
  expect(lease).not.toBeInstanceOf(Promise);
  const record = note(1);
  const next = store.append(lease as Awaited<typeof lease>, [record]);
  expect(next).toMatchObject({ head: 1 });
  return readAll(store, "s").then(([kept]) => expect(kept).toBe(record));
});

test("signals are stamped by the clock of the store", async () => {
  const store = memoryStore({ clock: { now: () => 42, setTimer: () => () => {} } });
  await store.create("s", { at: 0, agent: "a" });
  await store.signal("s", { key: "k", type: "t", payload: null });
  const lease = await store.acquire("s", "o", "if-free");
  expect(await store.pending(lease)).toEqual([{ key: "k", type: "t", payload: null, at: 42 }]);
});

test("closing a store in memory takes its files away", async () => {
  const store = memoryStore();
  await store.create("s", { at: 0, agent: "a" });
  const path = await store.putFile("s", "f", "x");
  await store.close?.();
  expect(existsSync(path)).toBe(false);
});

test("a chunk that was read does not grow when the journal does", async () => {
  const store = memoryStore();
  await store.create("s", { at: 0, agent: "a" });
  const lease = await store.append(await store.acquire("s", "o", "if-free"), notes(1, 2));
  for await (const chunk of store.read("s")) {
    await store.append(lease, notes(3, 3));
    expect(chunk).toHaveLength(2);
  }
});

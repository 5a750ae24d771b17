import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createAgent } from "../../src/session/agent.ts";
import { fakeClock, fakeIds } from "../../src/testing/fakes.ts";
import type { ModelChunk, ModelPort, Store } from "../../src/ports.ts";
import { memoryStore } from "../../src/adapters/store/memory.ts";
import { readTool } from "../session/support.ts";

const TURNS = 10_000;

/** One call per turn, for ever; keeps nothing. */
function endlessModel(signals: Set<AbortSignal>): ModelPort {
  let turn = 0;
  return {
    id: "endless",
    async *stream(_, { signal }): AsyncGenerator<ModelChunk> {
      if (turn > TURNS - 3) signals.add(signal);
      if (++turn > TURNS) yield { type: "text", delta: "done" };
      else yield { type: "tool-call", key: "0", name: "look", delta: '{"path":"a"}' };
      yield { type: "finish", reason: "stop" };
    },
  };
}

/** Keeps no records, so that what grows is ours. */
function forgetful(): Store {
  const base = memoryStore();
  const heads = new Map<string, number>();
  return {
    ...base,
    acquire: (id, owner) => ({ id, owner, epoch: 1, head: heads.get(id) ?? 0 }),
    append(lease, records) {
      heads.set(lease.id, lease.head + records.length);
      return { ...lease, head: lease.head + records.length };
    },
    release() {},
  };
}

test("B9 ten thousand turns leave no listener, no timer and no actor behind", { timeout: 20_000 }, async () => {
  const clock = fakeClock();
  const controller = new AbortController();
  const signals = new Set<AbortSignal>();
  const agent = createAgent({
    model: endlessModel(signals),
    tools: { look: readTool(() => "x") },
    store: forgetful(),
    clock,
    ids: fakeIds(),
    limits: { maxTurns: -1 },
    compaction: { mode: "discard", window: 20_000 },
  });
  const session = await agent.createSession();
  let warned = 0;
  const count = () => warned++;
  process.on("warning", count);
  const result = await session.run("go", { signal: controller.signal }).unwrap();
  process.off("warning", count);
  expect(result).toMatchObject({ status: "completed", turns: TURNS + 1 });
  expect(warned).toBe(0);
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
  for (const signal of signals) expect(getEventListeners(signal, "abort").length).toBeLessThanOrEqual(1);
  expect(clock.timers).toBe(0);
  const snapshot = session.actor.getSnapshot()!;
  expect(Object.keys(snapshot.children)).toEqual([]);
  expect(JSON.stringify(snapshot.context).length).toBeLessThan(4_000);
  expect(session.view().length).toBeLessThan(5_000);
});

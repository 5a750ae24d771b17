import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createAgent } from "../../src/session/agent.ts";
import { fakeClock, fakeIds } from "../../src/testing/fakes.ts";
import type { JournalRecord } from "../../src/core/event.ts";
import type { Lease, ModelChunk, ModelPort } from "../../src/ports.ts";
import { memoryStore } from "../../src/adapters/store/memory.ts";
import { FaultyStore } from "../session/faulty-store.ts";
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
class ForgetfulStore extends FaultyStore {
  #head = 0;
  override async acquire(id: string, owner: string): Promise<Lease> {
    return { id, owner, epoch: 1, head: this.#head };
  }
  override append(lease: Lease, records: readonly JournalRecord[]): Lease {
    this.#head = lease.head + records.length;
    return { ...lease, head: this.#head };
  }
  override release(): void {}
}

test("B9 ten thousand turns leave no listener, no timer and no actor behind", { timeout: 20_000 }, async () => {
  const clock = fakeClock();
  const controller = new AbortController();
  const signals = new Set<AbortSignal>();
  const agent = createAgent({
    model: endlessModel(signals),
    tools: { look: readTool(() => "x") },
    store: new ForgetfulStore(memoryStore()),
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

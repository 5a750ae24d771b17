import { describe, expect } from "vitest";
import type { SessionEvent } from "../../src/core/event.ts";
import { FaultyStore, holds } from "./faulty-store.ts";
import {
  all,
  call,
  codeOf,
  gate,
  look,
  newest,
  only,
  readTool,
  said,
  settled,
  standing,
  statusOf,
  test,
  told,
} from "./support.ts";

const any = () => true;

describe("a store that fails", () => {
  test("at any write: failed(store), nothing lost, the next run writes it first, and no tool runs twice", async ({
    world,
  }) => {
    const base = world.store;
    let failures = 0;
    for (let n = 1; n <= 20; n++) {
      const store = new FaultyStore(base);
      const script = [look("a", "b"), look("c"), "done"];
      const { session, model, events } = await world.open(script, { store, session: { id: `f${n}` } });
      world.ran.length = 0;
      let left = n;
      store.fail(() => --left === 0, 1);
      store.fail(() => left < 0, 1);
      const result = await session.run("go").result;
      if (result.status === "completed") break;
      failures++;
      expect(statusOf(result), `write ${n}`).toBe("failed(store)");
      store.mend();
      const asked = model.requests.length;
      expect(statusOf(await session.continue().result), `after write ${n}`).toBe("completed");
      expect(model.requests.length).toBeGreaterThan(asked === 3 ? 2 : asked);
      expect(new Set(world.ran).size, `after write ${n}: ${world.ran}`).toBe(world.ran.length);
      expect(said(session.messages()).filter((m) => m === "user go")).toHaveLength(1);
      expect(said(session.messages()).at(-1)).toBe("assistant done");
      await settled();
      expect(all(events, "run.ended")[0]).toMatchObject({ status: "failed", error: { code: "store" } });
    }
    expect(failures).toBeGreaterThan(4);
  });

  test("makes no model call while unwritten records wait", async ({ world }) => {
    const store = world.faulty();
    const { session, model } = await world.open([look("a"), "done"], { store });
    store.fail(holds("tool.settled"), 2);
    expect(statusOf(await session.run("go").result)).toBe("failed(store)");
    expect(model.requests).toHaveLength(1);
    const written = store.writes.flat().length;
    await session.continue().unwrap();
    const next = store.writes.flat()[written]!;
    expect(next.type).toBe("tool.settled");
    expect(newest(model.requests[1])).toBe("tool seen a");
  });

  test("that stays broken: every further run ends failed(store) at once, and none hangs", async ({ world }) => {
    const store = world.faulty();
    const { session, model } = await world.open(["one", "two"], { store });
    store.fail(any, 1_000);
    expect(statusOf(await session.run("go").result)).toBe("failed(store)");
    expect(await standing(session.run("again").result.then(statusOf, (e: { code: string }) => e.code))).toMatch(
      /store/,
    );
    expect(await standing(session.continue().result.then(statusOf, (e: { code: string }) => e.code))).toMatch(/store/);
    expect(model.requests).toEqual([]);
    expect(await codeOf(session.memory.set("a", 1))).toBe("store");
    store.mend();
    expect((await session.continue().unwrap()).text).toBe("one");
    expect(said(model.requests[0]!.messages)[0]).toBe("user go");
  });

  test("readers still learn how the run ended, and a late reader is not left in a loop", async ({ world }) => {
    const store = world.faulty();
    const { session } = await world.open([look("a"), "x"], { store });
    store.fail(holds("tool.started"), 1_000);
    const run = session.run("go");
    const seen: SessionEvent[] = [];
    for await (const event of run) seen.push(event);
    expect(seen.at(-1)).toMatchObject({ type: "run.ended", status: "failed" });
    store.reads = 0;
    const read = store.read.bind(store);
    store.read = async function* (id, options) {
      if (store.reads > 50) throw new Error("it reads without end");
      yield* read(id, options);
    };
    const late = (async () => {
      let last: SessionEvent | undefined;
      for await (const event of session.events({ from: 1 })) last = event;
      return last?.type;
    })();
    late.catch(() => {});
    expect(await standing(late.catch((error: Error) => error.message))).toBe("pending");
    expect(store.reads).toBeLessThan(10);
    store.mend();
    await session.close();
    expect(await late).toBe("session.closed");
  });

  test("while a tool runs: it may finish, its result is kept, and nothing more starts", async ({ world }) => {
    const store = world.faulty();
    const slow = gate<string>();
    const tools = { ...world.tools, slow: readTool(() => slow.promise) };
    const script = [{ calls: [call("slow", "a"), call("look", "b"), call("look", "c")] }, "done"];
    const { session, model } = await world.open(script, { tools, store, limits: { toolConcurrency: 2 } });
    store.fail(holds("tool.settled"), 5);
    const run = session.run("go");
    await world.until(() => world.ran.length > 0);
    await settled();
    slow.open("finished");
    expect(statusOf(await run.result)).toBe("failed(store)");
    store.mend();
    await session.continue().unwrap();
    expect(told(model.requests[1]!.messages).slice(0, 2)).toEqual(["ok finished", "ok seen b"]);
    expect(world.ran.filter((r) => r === "look b")).toHaveLength(1);
  });

  test("when a session is made: rejected, and the lease is not kept", async ({ world }) => {
    const store = world.faulty();
    store.fail(any, 1);
    const { agent } = world.agent({ store });
    expect(await codeOf(agent.createSession({ id: "x" }))).toBe("store");
    expect(
      await codeOf(
        agent
          .deleteSession("x")
          .then(() => agent.createSession({ id: "x" }))
          .then((s) => s.id),
      ),
    ).toBe('resolved "x"');
  });

  test("during a manual compaction: the caller is told, and the session lives on", async ({ world }) => {
    const store = world.faulty();
    const script = (r: { purpose: string }) => (r.purpose === "summary" ? "[summary]s[/summary]" : "ok");
    const { session } = await world.open(script, { store });
    await session.run("1").unwrap();
    store.fail(holds("compaction.completed"), 1);
    const told = await standing(
      session.compact().then(
        (r) => r.status,
        (e: { code: string }) => e.code,
      ),
    );
    expect(["failed", "ok", "store"]).toContain(told);
    store.mend();
    expect((await session.run("2").unwrap()).text).toBe("ok");
  });

  test("in decide(): rejected, and the decision can be made again", async ({ world }) => {
    const store = world.faulty();
    const { session } = await world.open([{ calls: [call("write", "a")] }, "done"], { store });
    await session.run("go", { approvals: "suspend" }).result;
    const callId = session.pending()[0]!.callId;
    store.fail(holds("approval.settled"), 1);
    expect(await codeOf(session.decide([{ callId, decision: "allow" }]))).toBe("store");
    await session.decide([{ callId, decision: "allow" }]);
    await session.continue().unwrap();
    expect(world.ran).toEqual(["write a"]);
  });

  test("with an outcome that is not known: nothing is written twice, nothing is lost", async ({ world }) => {
    const base = world.store;
    const store = world.faulty(base);
    const { session, model } = await world.open([look("a"), "done"], { store });
    store.fail(holds("tool.settled"), 1, "AppendOutcomeUnknown");
    expect(statusOf(await session.run("go").result)).toBe("failed(store)");
    store.mend();
    await session.continue().unwrap();
    expect(world.ran).toEqual(["look a"]);
    expect(newest(model.requests.at(-1))).toBe("tool seen a");
  });
});

describe("a writer that lost its lease", () => {
  test("stops, aborts its tools and writes nothing more; the other one's journal stands", async ({ world }) => {
    const signals: AbortSignal[] = [];
    const tools = {
      ...world.tools,
      slow: readTool((_, { signal }) => {
        signals.push(signal);
        return new Promise((_r, reject) => signal.addEventListener("abort", () => reject(new Error("x"))));
      }),
    };
    const first = await world.open([{ calls: [call("slow", "a"), call("slow", "b")] }], { tools });
    const run = first.session.run("go");
    await world.until(() => signals.length === 2);
    const lease = await world.store.acquire("s1", "thief", "takeover");
    await world.store.release(lease, { status: "interrupted" });
    const second = await world.reopen(["mine now"], { tools });
    await second.session.run("over here").unwrap();
    const journal = await world.records();
    await first.session.memory.set("k", 1).catch(() => {});
    expect(statusOf(await run.result)).toBe("failed(store)");
    expect(signals.map((s) => s.aborted)).toEqual([true, true]);
    expect(await world.records()).toEqual(journal);
    expect(
      only(
        journal.filter((r) => r.type !== "run.ended" || r.runId === run.id),
        "run.ended",
      ),
    ).toMatchObject({
      reason: "interrupted",
    });
    await first.session.run("and me", { maxTurns: 0 }).result;
    expect(said(first.session.messages()).slice(0, 2)).toEqual(said(second.session.messages()).slice(0, 2));
  });
});

import { getEventListeners } from "node:events";
import { describe, expect } from "vitest";
import type { SessionEvent } from "../../src/core/event.ts";
import { Feed } from "../../src/session/feed.ts";
import { all, call, gate, look, readTool, settled, standing, test } from "./support.ts";

const collect = async (events: AsyncIterable<SessionEvent>): Promise<SessionEvent[]> => {
  const seen: SessionEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
};
const seqs = (events: readonly SessionEvent[]) => events.flatMap((e) => ("seq" in e ? [e.seq] : []));
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

describe("the events of a run", () => {
  test("begin with its input, end with run.ended, dense and in order, partials between them", async ({ world }) => {
    const { session } = await world.open(["first", { text: ["a", "b"], calls: [call("look", "x")] }, "done"]);
    await session.run("one").unwrap();
    const seen = await collect(session.run("two"));
    expect(seen[0]).toMatchObject({ type: "input.received", dir: "in", v: 1 });
    expect(seen.at(-1)).toMatchObject({ type: "run.ended", status: "completed" });
    const first = seqs(seen)[0]!;
    expect(seqs(seen)).toEqual(upTo(seqs(seen).length).map((n) => n + first - 1));
    const types = seen.map((e) => e.type);
    for (const [earlier, later] of [
      ["run.started", "phase.started"],
      ["attempt.started", "part.started"],
      ["part.started", "part.delta"],
      ["part.ended", "model.completed"],
      ["model.completed", "tool.started"],
      ["tool.started", "tool.settled"],
      ["tool.settled", "exchange.committed"],
    ] as const)
      expect(types.indexOf(earlier), `${earlier} before ${later}`).toBeLessThan(types.indexOf(later));
  });

  test("two readers of one run see the same records; only an owner who leaves cancels", async ({ world }) => {
    const open = gate();
    const { session } = await world.open([{ text: ["a", "b"], after: open.promise }]);
    const run = session.run("go");
    const readings = [collect(run), collect(session.events({ from: 2 }))];
    const bystander = (async () => {
      for await (const _ of session.events({ partials: true })) return "left";
    })();
    await settled();
    open.open();
    const [owned] = await Promise.all([readings[0], bystander]);
    expect((await run.result).status).toBe("completed");
    await session.close();
    expect(seqs(owned!)).toEqual(seqs((await readings[1])!).slice(0, seqs(owned!).length));
  });

  test("a late reader gets the run's records, also when another run has begun or ended since", async ({ world }) => {
    const { session } = await world.open(["one", "two", { hangs: true }]);
    const first = session.run("1");
    await first.result;
    expect((await collect(first)).at(-1)).toMatchObject({ type: "run.ended", runId: first.id });
    const second = session.run("2");
    await second.result;
    const reading = standing(collect(first));
    const seen = await reading;
    expect(seen).not.toBe("pending");
    expect((seen as SessionEvent[])[0]).toMatchObject({ type: "input.received" });
    expect((seen as SessionEvent[]).at(-1)).toMatchObject({ type: "run.ended", runId: first.id });
    const third = session.run("3");
    await world.until(() => session.stateValue === "reason.requesting");
    expect(await standing(collect(second))).not.toBe("pending");
    third.cancel();
    await third.result;
  });

  test("the text stream of a finished run ends, empty: partials are live only", async ({ world }) => {
    const { session } = await world.open([{ text: ["a", "b"] }]);
    const run = session.run("go");
    expect((await run.result).text).toBe("ab");
    const pieces: string[] = [];
    for await (const piece of run.textStream) pieces.push(piece);
    expect(pieces.join("")).toMatch(/^(ab)?$/);
  });

  test("detach() gives the run up: leaving the loop no longer cancels", async ({ world }) => {
    const open = gate();
    const { session } = await world.open([{ text: "done", after: open.promise }]);
    const run = session.run("go").detach();
    for await (const event of run) if (event.type === "attempt.started") break;
    await settled();
    expect(session.state).toBe("running");
    open.open();
    expect((await run.result).status).toBe("completed");
  });
});

describe("session.events()", () => {
  test("gives the whole history from a seq on, then what comes, until the session closes", async ({ world }) => {
    const { session } = await world.open(["one", "two"]);
    await session.run("1").unwrap();
    const whole = collect(session.events());
    const tail = collect(session.events({ from: 5 }));
    await session.run("2").unwrap();
    await session.close();
    const records = await world.records();
    expect(seqs(await whole)).toEqual(upTo(records.length));
    expect(seqs(await tail)).toEqual(upTo(records.length).slice(4));
    expect(await whole).toEqual(records);
  });

  test("without partials there are records only; a signal ends it", async ({ world }) => {
    const { session } = await world.open([{ text: ["a", "b", "c"] }]);
    const controller = new AbortController();
    const reading = collect(session.events({ signal: controller.signal }));
    await session.run("go").unwrap();
    await settled();
    controller.abort();
    expect((await reading).every((e) => "seq" in e)).toBe(true);
    expect(await collect(session.events({ signal: AbortSignal.abort() }))).toEqual([]);
  });

  test("readers see a record only when it is written", async ({ world }) => {
    const store = world.faulty();
    store.lags = true;
    const { session } = await world.open([look("a"), "done"], { store });
    const written = () => store.writes.flat().length;
    for await (const event of session.run("go")) if ("seq" in event) expect(event.seq).toBeLessThanOrEqual(written());
  });

  test("with a slow store records and partials keep their order", async ({ world }) => {
    const store = world.faulty();
    store.lags = true;
    const tools = {
      talk: readTool(async (_, { progress }) => {
        for (let i = 0; i < 4; i++) {
          progress(i);
          await settled();
        }
        return "x";
      }),
      look: readTool(() => "y"),
    };
    const script = [{ text: ["a", "b"], calls: [call("talk", "a"), call("look", "b")] }, { text: ["c", "d"] }];
    const { session } = await world.open(script, { store, tools });
    const seen = await collect(session.run("go"));
    const started = new Set<string>();
    let last = 0;
    for (const event of seen) {
      if ("seq" in event) expect(event.seq).toBe((last ||= event.seq - 1) + 1);
      if ("seq" in event) last = event.seq;
      if (event.type === "tool.started") started.add(event.callId);
      if (event.type === "tool.progress") expect(started).toContain(event.callId);
      if (event.type === "attempt.started") started.add(`attempt ${event.turn}`);
      if (event.type === "part.started") expect(started).toContain(`attempt ${event.turn}`);
    }
    expect(all(seen, "tool.progress")).toHaveLength(4);
  });

  test("nobody is told a partial of work that was given up before it was written", async ({ world }) => {
    const { session } = await world.open([{ text: ["a"], hangs: true }]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    run.cancel();
    await run.result;
    expect(seqs(await collect(run)).length).toBeGreaterThan(0);
  });
});

describe("a slow reader", () => {
  const words = Array.from({ length: 5_000 }, (_, i) => `w${i} `);

  test("never stalls the run, and loses no record; deltas of one part coalesce", async ({ world }) => {
    const script = [{ text: words, calls: [call("look", "a")] }, { text: words }];
    const { session } = await world.open(script, {});
    const run = session.run("go");
    const reader = session.events({ partials: true })[Symbol.asyncIterator]();
    const seen: SessionEvent[] = [];
    const take = async () => {
      const { value, done } = await reader.next();
      if (!done) seen.push(value);
      return !done;
    };
    for (let i = 0; i < 8; i++) await take();
    expect((await run.unwrap()).text).toBe(words.join(""));
    await session.close();
    while (await take());
    const records = await world.records();
    expect(seqs(seen)).toEqual(upTo(records.length));
    const deltas = all(seen, "part.delta");
    expect(deltas.length).toBeLessThan(100);
    expect(
      deltas
        .filter((d) => d.partId === "msg_1_1_0")
        .map((d) => d.delta)
        .join(""),
    ).toBe(words.join(""));
  });

  test("who is far behind reads records back, without gap or repeat, and memory is bounded", async () => {
    const records = upTo(5_000).map(
      (seq) => ({ v: 1, seq, at: 0, dir: "note", type: "tool.late", callId: "c", name: "n", outcome: "ok" }) as const,
    );
    let readBack = 0;
    const feed = new Feed(async function* (after) {
      const chunk = records.slice(after, after + 700);
      readBack += chunk.length;
      yield chunk;
    });
    const reading = feed.read({ after: 0, partials: true })[Symbol.asyncIterator]();
    const first = reading.next();
    await settled();
    for (const record of records) {
      feed.publish(record);
      feed.publish({ type: "tool.progress", callId: "c", name: "n", progress: record.seq, live: true });
    }
    const seen: SessionEvent[] = [(await first).value!];
    for (let last = seen[0]!; !("seq" in last) || last.seq < 5_000; seen.push(last))
      last = (await reading.next()).value!;
    expect(seqs(seen)).toEqual(upTo(5_000));
    expect(seen.length - seqs(seen).length).toBeLessThan(1_024);
    expect(readBack).toBeGreaterThan(3_000);
    await reading.return(undefined);
    expect(feed.isWatched).toBe(false);
  });

  test("a reader who never began leaves nothing behind", async () => {
    const feed = new Feed(async function* () {});
    await feed.read({ after: 0, partials: true }).return(undefined);
    expect(feed.isWatched).toBe(false);
  });

  test("a reader who left has let go of its signal", async ({ world }) => {
    const { session } = await world.open(["ok"]);
    await session.run("go").unwrap();
    const { signal } = new AbortController();
    for (let i = 0; i < 20; i++) for await (const _ of session.events({ signal })) break;
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("a reader who left is forgotten", async ({ world }) => {
    const { session } = await world.open(["one", "two"]);
    for await (const _ of session.events()) break;
    const run = session.run("go");
    for await (const _ of run.detach()) break;
    await run.result;
    expect((await session.run("again").unwrap()).text).toBe("two");
  });
});

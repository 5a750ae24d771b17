import { describe, expect } from "vitest";
import { crashed, endless, pondering } from "./crashes.ts";
import { FaultyStore, holds } from "./faulty-store.ts";
import { all, call, look, newest, only, readTool, said, settled, statusOf, test, told } from "./support.ts";

describe("resume", () => {
  test("folds the journal and starts nothing: no record, no lease, no model call", async ({ world }) => {
    await crashed(world, [look("a"), "never"], holds("tool.started"));
    const before = await world.records();
    const { session, model, agent } = await world.reopen(["x"]);
    expect(session.state).toBe("suspended");
    expect(session.why()).toMatch(/interrupted.*continue/);
    await settled();
    expect(await world.records()).toEqual(before);
    expect(model.requests).toEqual([]);
    expect(session.steer("x")).toBe(false);
    const also = await agent.resumeSession("s1");
    expect(also.messages()).toEqual(session.messages());
    expect(await world.records()).toEqual(before);
  });

  test("an unknown session is not_found", async ({ world }) => {
    await expect(world.agent().agent.resumeSession("nobody")).rejects.toMatchObject({ code: "not_found" });
    await expect(world.agent().agent.read("nobody")).rejects.toMatchObject({ code: "not_found" });
  });

  test("a session at rest goes on where it was, with its history, usage, counters and limits", async ({ world }) => {
    const first = await world.open([
      { ...look("a"), usage: { input: 5 } },
      { text: "one", usage: { input: 9 } },
    ]);
    await first.session.run("1").unwrap();
    const second = await world.reopen(["two"]);
    expect(second.session.messages()).toEqual(first.session.messages());
    expect(second.session.usage()).toEqual(first.session.usage());
    await second.session.run("2").unwrap();
    expect(said(second.model.requests[0]!.messages)).toEqual([
      "user 1",
      "assistant ",
      "tool seen a",
      "assistant one",
      "user 2",
    ]);
    await settled();
    expect(all(second.events, "turn.started").map((e) => e.turn)).toEqual([1, 2, 3]);
    expect(all(second.events, "session.resumed")).toHaveLength(1);
    expect((await first.session.run("3", { maxTurns: 0 }).result).status).toBe("max_turns");
  });
});

describe("a run cut by a crash", () => {
  test("continue goes on with the same run id and its remaining turns", async ({ world }) => {
    await crashed(
      world,
      [look("a"), look("b")],
      (records) => records.some((r) => r.type === "attempt.started" && r.turn === 2),
      {
        options: { maxTurns: 3 },
      },
    );
    const { session, model, events } = await world.reopen([look("b"), look("c"), "never"]);
    const run = session.continue();
    expect(run.id).toBe("run_1");
    expect(await run.result).toMatchObject({ status: "max_turns", turns: 3, runId: "run_1" });
    expect(model.requests).toHaveLength(2);
    await settled();
    expect(only(events, "run.started").runId).toBe("run_1");
    expect(only(events, "run.ended").runId).toBe("run_1");
  });

  test("a cut model request is asked again, with the same messages", async ({ world }) => {
    await crashed(world, [{ text: "half", hangs: true }], holds("attempt.started"));
    const { session, model, events } = await world.reopen(["whole"]);
    expect((await session.continue().unwrap()).text).toBe("whole");
    expect(said(model.requests[0]!.messages)).toEqual(["user go"]);
    await settled();
    expect(all(events, "attempt.started").map((e) => [e.turn, e.attempt])).toEqual([
      [1, 1],
      [1, 2],
    ]);
  });

  test("settled results are kept, calls that never started run, started ones are unknown", async ({ world }) => {
    const tools = { ...world.tools, endless: endless(world) };
    const script = [{ calls: [call("look", "a"), call("endless", "b"), call("look", "c")] }];
    await crashed(world, script, (records) => records.some((r) => r.type === "tool.started" && r.name === "endless"), {
      tools,
      limits: { toolConcurrency: 1 },
    });
    world.ran.length = 0;
    const { session, model } = await world.reopen(["done"], { tools });
    await session.continue().unwrap();
    expect(world.ran).toEqual(["look c"]);
    expect(told(model.requests[0]!.messages)).toEqual([
      "ok seen a",
      expect.stringMatching(/^unknown Outcome unknown/),
      "ok seen c",
    ]);
  });

  test("an answer that was accepted but not reviewed is reviewed; nothing is asked of the model twice", async ({
    world,
  }) => {
    await crashed(world, [look("a")], holds("model.completed"), { middleware: [pondering] });
    const { session, model } = await world.reopen(["done"]);
    await session.continue().unwrap();
    expect(model.requests).toHaveLength(1);
    expect(newest(model.requests[0])).toBe("tool seen a");
  });

  test("a new run() settles it first: results, run.ended cancelled and interrupted, then its own run", async ({
    world,
  }) => {
    const tools = { ...world.tools, endless: endless(world) };
    await crashed(world, [{ calls: [call("endless", "a"), call("look", "b")] }], holds("tool.started"), { tools });
    world.ran.length = 0;
    const { session, model, events } = await world.reopen(["what now"], { tools });
    const run = session.run("never mind");
    expect(run.id).toBe("run_2");
    const seen: string[] = [];
    for await (const event of run) seen.push(event.type);
    expect(seen.at(-1)).toBe("run.ended");
    expect((await run.unwrap()).runId).toBe("run_2");
    expect(world.ran).toEqual([]);
    expect(told(model.requests[0]!.messages).map((t) => t.split(" ")[0])).toEqual(["unknown", "unknown"]);
    await settled();
    expect(all(events, "run.ended").map((e) => [e.runId, e.status, e.reason])).toEqual([
      ["run_1", "cancelled", "interrupted"],
      ["run_2", "completed", undefined],
    ]);
  });

  test("with a new run() calls that never started are cancelled, those that had are unknown, whatever onUnknown says", async ({
    world,
  }) => {
    const tools = {
      retry: endless(world, { onUnknown: "retry" }),
      ask: endless(world, { onUnknown: "ask" }),
      report: endless(world, { onUnknown: "report" }),
    };
    const calls = ["retry", "ask", "report", "report"].map((name, i) => call(name, String(i)));
    const store = new FaultyStore(world.store);
    const first = await world.open([{ calls }], { tools, store, limits: { toolConcurrency: 3 } });
    store.killAfter(holds("tool.started"));
    first.session.run("go");
    await world.until(() => store.isDead);
    const { session } = await world.reopen(["ok"], { tools });
    await session.run("never mind").unwrap();
    expect(told(session.messages()).map((t) => t.split(" ")[0])).toEqual([
      "unknown",
      "unknown",
      "unknown",
      "cancelled",
    ]);
  });

  test("close() ends it too, once", async ({ world }) => {
    await crashed(world, [look("a")], holds("model.completed"), { middleware: [pondering] });
    const { session, events } = await world.reopen([]);
    await session.close();
    await settled();
    expect(only(events, "run.ended")).toMatchObject({ status: "cancelled", reason: "interrupted" });
    expect(told(session.messages())).toEqual(["cancelled [interrupted: tool aborted by user]"]);
  });

  test("its inputs are where they were: what was queued is delivered by whoever goes on", async ({ world }) => {
    const store = new FaultyStore(world.store);
    const first = await world.open([{ hangs: true }], { store });
    first.session.run("go");
    await world.until(() => first.session.stateValue === "reason.requesting");
    store.killAfter(holds("input.received"));
    first.session.steer("and this");
    await world.until(() => store.isDead);
    const { session, model } = await world.reopen(["one", "two"]);
    await session.continue().unwrap();
    expect(JSON.stringify(model.requests.at(-1)!.messages).split("and this")).toHaveLength(2);
  });

  test("a background task whose process is gone is not waited for without end", async ({ world }) => {
    const store = new FaultyStore(world.store);
    const tools = { start: readTool((_, { session }) => session.background("b").taskId) };
    const first = await world.open([{ calls: [call("start", "a")] }, "building"], { tools, store });
    store.killAfter(holds("run.waiting"));
    first.session.run("go");
    await world.until(() => store.isDead);
    const { session } = await world.reopen(["fine"], { tools, limits: { waitMs: 1_000 } });
    const run = session.continue();
    await settled();
    await world.clock.advance(1_000);
    expect(statusOf(await run.result)).toBe("completed");
    const second = session.run("next");
    await settled();
    await world.clock.advance(1_000);
    expect(statusOf(await second.result)).toBe("completed");
  });
});

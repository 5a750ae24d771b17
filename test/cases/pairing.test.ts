import { describe, expect } from "vitest";
import { foldTranscript } from "../../src/core/transcript.ts";
import { pairingFault } from "../../src/core/pairing.ts";
import { holds } from "../session/faulty-store.ts";
import {
  all,
  call,
  gate,
  look,
  newest,
  only,
  readTool,
  said,
  settled,
  statusOf,
  test,
  told,
  World,
} from "../session/support.ts";

/** `fast` answers at once, `stuck` waits for its signal, `deaf` for ever. */
const mixed = (world: World) => ({
  fast: readTool(({ path }) => (world.ran.push(`fast ${path}`), `done ${path}`)),
  stuck: readTool(
    (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped")))),
  ),
});

describe("pairing and commit", () => {
  test("A1 an aborted answer and its results are one unit: the next request has both or neither", async ({ world }) => {
    const { session, model } = await world.open([{ text: "half an ans", hangs: true }, "ok"]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    run.cancel();
    expect((await run.result).status).toBe("cancelled");
    await session.run("again").unwrap();
    expect(model.requests[1]!.messages.map((m) => m.role)).toEqual(["user", "user", "user"]);

    const other = await world.open([{ calls: [call("stuck", "a")] }, "ok"], {
      tools: mixed(world),
      session: { id: "s2" },
    });
    const second = other.session.run("go");
    await world.until(() => other.session.stateValue === "act.executing");
    second.cancel();
    await second.result;
    await other.session.run("again").unwrap();
    expect(other.model.requests[1]!.messages.map((m) => m.role)).toEqual(["user", "assistant", "tool", "user"]);
  });

  test("A2 a crash between call and result leaves one persisted result; loading it again changes nothing", async ({
    world,
  }) => {
    const store = world.faulty();
    const tools = { ...world.tools, fast: readTool(() => new Promise(() => {})) };
    const first = await world.open([{ calls: [call("fast", "a")] }], { tools, store });
    store.killAfter(holds("tool.started"));
    first.session.run("go");
    await world.until(() => store.isDead);

    world.store = store.base;
    const second = await world.reopen(["fine"], { tools });
    expect((await second.session.run("what happened?").unwrap()).text).toBe("fine");
    expect(told(second.session.messages())).toEqual([expect.stringMatching(/^unknown Outcome unknown/)]);
    const before = await world.records();
    const third = await world.reopen([], { tools });
    expect(third.session.messages()).toEqual(second.session.messages());
    expect(await world.records()).toEqual(before);
  });

  test("A3 nothing is visible before the commit: every persisted prefix is a valid history", async ({ world }) => {
    const open = gate();
    const tools = { ...world.tools, slow: readTool(() => open.promise.then(() => "slow")) };
    const { session } = await world.open([{ calls: [call("look", "a"), call("slow", "b")] }, "done"], { tools });
    const run = session.run("go");
    await world.until(() => session.stateValue === "act.executing");
    await settled();
    expect(session.messages().map((m) => m.role)).toEqual(["user"]);
    expect((await world.agent().agent.read("s1")).messages.map((m) => m.role)).toEqual(["user"]);
    open.open();
    await run.unwrap();
    const records = await world.records();
    for (let i = 1; i <= records.length; i++)
      expect(pairingFault(foldTranscript(records.slice(0, i)).messages())).toBeUndefined();
    expect(session.messages().map((m) => m.role)).toEqual(["user", "assistant", "tool", "assistant"]);
  });

  test("A4 an abort while tools run keeps the real results and cancels the unfinished", async ({ world }) => {
    const script = [{ calls: [call("fast", "a"), call("stuck", "b"), call("fast", "c")] }, "ok"];
    const { session, model, events } = await world.open(script, { tools: mixed(world) });
    const run = session.run("go");
    await world.until(() => all(events, "tool.settled").length === 2);
    await settled();
    run.cancel("enough");
    expect(await run.result).toMatchObject({ status: "cancelled", reason: "enough" });
    expect(told(session.messages())).toEqual([
      "ok done a",
      "cancelled [interrupted: tool aborted by user]",
      "ok done c",
    ]);
    await session.continue().unwrap();
    expect(newest(model.requests[1])).toBe("tool done a|[interrupted: tool aborted by user]|done c");
  });

  test("A5 a failed save leaves the exchange uncommitted: the same results are saved again, no tool runs twice", async ({
    world,
  }) => {
    const store = world.faulty();
    const { session, model, events } = await world.open([look("a", "b"), "done"], { store });
    store.fail(holds("exchange.committed"), 2);
    const failed = await session.run("go").result;
    expect(statusOf(failed)).toBe("failed(store)");
    expect(failed.error?.retryable).toBe(true);
    expect(model.requests).toHaveLength(1);
    expect((await world.records()).some((r) => r.type === "exchange.committed")).toBe(false);
    expect((await session.continue().unwrap()).text).toBe("done");
    expect(world.ran).toEqual(["look a", "look b"]);
    expect(told(model.requests[1]!.messages)).toEqual(["ok seen a", "ok seen b"]);
    only(
      events.filter((e) => e.type !== "exchange.committed" || e.results.length > 0),
      "exchange.committed",
    );
  });

  test("A6 repeated and missing call ids: every call has its own id and its own result", async ({ world }) => {
    const twice = { calls: [call("look", "a"), call("look", "b"), call("look", "c")].map((c) => ({ ...c, id: "x" })) };
    const empty = { calls: [{ ...call("look", "d"), id: "" }] };
    const { session, model } = await world.open([twice, twice, empty, "done"]);
    await session.run("go").unwrap();
    expect(world.ran).toEqual(["look a", "look b", "look c", "look a", "look b", "look c", "look d"]);
    const messages = model.requests[3]!.messages;
    const calls = messages
      .flatMap((m) => (m.role === "assistant" ? m.parts : []))
      .flatMap((p) => (p.type === "tool-call" ? [p] : []));
    expect(new Set(calls.map((c) => c.callId)).size).toBe(7);
    expect(told(messages)).toHaveLength(7);
    for (const message of messages.filter((m) => m.role === "assistant")) {
      const wire = message.parts.flatMap((p) => (p.type === "tool-call" && p.wireId ? [p.wireId] : []));
      expect(new Set(wire).size).toBe(wire.length);
    }
  });

  test("A7 calls of an answer that was cut by length do not run: truncated results tell the model", async ({
    world,
  }) => {
    const { session, model } = await world.open([{ ...look("a", "b"), finish: "length" }, "shorter"]);
    expect(await session.run("go").result).toMatchObject({ status: "completed", text: "shorter" });
    expect(world.ran).toEqual([]);
    expect(told(session.messages()).map((t) => t.split(":")[0])).toEqual([
      "truncated Not executed",
      "truncated Not executed",
    ]);
    expect(newest(model.requests[1])).toMatch(/cut by the length limit/);
  });

  test("A8 arguments that are not JSON: a failed result with the raw text, and the loop goes on", async ({ world }) => {
    const script = [{ calls: [{ name: "look", raw: '{"path": "a' }, call("look", "b")] }, "done"];
    const { session, model } = await world.open(script);
    expect((await session.run("go").unwrap()).text).toBe("done");
    expect(told(model.requests[1]!.messages)).toEqual([
      expect.stringMatching(/^failed .*not valid JSON.*\{"path": "a/s),
      "ok seen b",
    ]);
    expect(world.ran).toEqual(["look b"]);
  });

  test("A9 a tool that does not exist: a failed result that lists the tools", async ({ world }) => {
    const { session, model } = await world.open([{ calls: [call("lok", "a")] }, "done"]);
    expect((await session.run("go").unwrap()).text).toBe("done");
    expect(told(model.requests[1]!.messages)).toEqual([expect.stringMatching(/^failed .*"lok".*look, write/s)]);
  });

  test("A10 the turn limit leaves a paired history, and continue() sends the pending results", async ({ world }) => {
    const { session, model } = await world.open([look("a"), look("b"), "done"], { limits: { maxTurns: 2 } });
    const limited = await session.run("go").result;
    expect(limited).toMatchObject({ status: "max_turns", turns: 2 });
    expect(pairingFault(session.messages())).toBeUndefined();
    expect(model.requests).toHaveLength(2);
    const rest = await session.continue().unwrap();
    expect(rest).toMatchObject({ text: "done", turns: 1 });
    expect(rest.runId).not.toBe(limited.runId);
    expect(newest(model.requests[2])).toBe("tool seen b");
  });

  test("A11 the model call after a tool turn fails: the next request still has call and result", async ({ world }) => {
    const { session, model } = await world.open([look("a"), { fails: { class: "fatal" } }, "done"]);
    expect(statusOf(await session.run("go").result)).toBe("failed(fatal)");
    await session.run("try again").unwrap();
    expect(said(model.requests[2]!.messages)).toEqual(["user go", "assistant ", "tool seen a", "user try again"]);
    expect(world.ran).toEqual(["look a"]);
  });
});

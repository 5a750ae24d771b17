import { describe, expect } from "vitest";
import type { JournalRecord } from "../../src/core/event.ts";
import { defineMiddleware, type Middleware } from "../../src/middleware/middleware.ts";
import type { ModelChunk, ModelPort } from "../../src/ports.ts";
import {
  all,
  call,
  codeOf,
  look,
  readTool,
  settled,
  statusOf,
  test,
  told,
  write,
  type Opened,
  type World,
} from "./support.ts";

/** The journal can be read by another process, says the same there, and every text in it is one. */
async function survives(
  world: World,
  { session }: Opened,
  again: () => Opened["session"] | Promise<Opened["session"]>,
) {
  for (let i = 0; i < 5; i++) await settled();
  const other = await again();
  expect(other.messages()).toEqual(session.messages());
  for (const message of other.messages())
    for (const part of message.parts)
      for (const one of part.type === "tool-result" ? part.output : [part])
        if (one.type === "text") expect(typeof one.text, JSON.stringify(one)).toBe("string");
  expect(statusOf(await other.run("and now?").result)).toBe("completed");
  expect(world.warnings.filter((w) => /corrupt|poison/.test(w))).toEqual([]);
}

/** A session on disk, and a way to open it elsewhere. */
async function onDisk(world: World, script: Parameters<World["open"]>[0], setup: Parameters<World["open"]>[1] = {}) {
  const { again } = world.folder();
  const opened = await world.open(script, setup);
  const { middleware: _m, model: _o, ...rest } = setup;
  return { ...opened, again: async () => (await world.reopen(() => "fine", { ...rest, store: again() })).session };
}

describe("what a host says wrong", () => {
  test("memory takes JSON only: anything else is refused, and the session goes on", async ({ world }) => {
    const opened = await onDisk(world, ["ok"]);
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    for (const value of [10n, () => 1, Symbol("x"), cyclic, Number.NaN, new Map(), undefined])
      expect(await codeOf(opened.session.memory.set("k", value as never)), String(typeof value)).toBe(
        "invalid_options",
      );
    expect(await codeOf(opened.session.memory.set(7 as never, 1))).toBe("invalid_options");
    await opened.session.memory.set("k", { fine: [1, "a", null] });
    expect((await opened.session.run("go").unwrap()).text).toBe("ok");
    await survives(world, opened, opened.again);
  });

  test("a notice of a wrong shape is refused where it is given", async ({ world }) => {
    const opened = await onDisk(world, ["ok"]);
    const wrong = [{ kind: "info" }, { kind: "info", text: 5 }, { kind: "loud", text: "x" }, null];
    for (const notice of wrong) expect(() => opened.session.notify(notice as never)).toThrow(/notify|text|kind/);
    await opened.session.run("go").unwrap();
    await survives(world, opened, opened.again);
  });

  test("decided arguments that are not JSON are refused or denied, and do not break the journal", async ({ world }) => {
    const opened = await onDisk(world, [write("a"), "done"]);
    const run = opened.session.run("go", {
      approve: ([r]) => [{ callId: r!.callId, decision: "allow", args: { path: "x", size: 10n } }],
    });
    expect(statusOf(await run.result)).toBe("completed");
    await survives(world, opened, opened.again);
  });

  test("a tool that reports its background work without words still reports it", async ({ world }) => {
    const tools = {
      start: readTool((_, { session }) => {
        const task = session.background(undefined as never);
        task.settle({ exit: 0 } as never);
        return "begun";
      }),
    };
    const opened = await onDisk(world, [{ calls: [call("start", "a")] }, "ok", "ok"], { tools });
    expect(statusOf(await opened.session.run("go").result)).toBe("completed");
    await survives(world, opened, opened.again);
  });
});

describe("what a hook answers wrong", () => {
  test.for([
    ["onInput", { info: [1, null] }],
    ["onInput", { parts: "words" }],
    ["onInput", { parts: [{ type: "text" }] }],
    ["onInput", { refuse: 7 }],
    ["contribute", 42],
    ["contribute", { text: "x" }],
    ["reviewCall", { verdict: "deny", reason: 5 }],
    ["reviewCall", { args: { path: "x", at: 10n } }],
    ["afterCall", { note: 5 }],
    ["afterCall", {}],
    ["onStop", { feedback: 5 }],
    ["onStop", {}],
  ] as [keyof Middleware, unknown][])("%s: %o does not get into the journal", async ([hook, answer], { world }) => {
    let times = 0;
    const odd = defineMiddleware({
      name: "odd",
      [hook]: () => (times++ < 2 ? answer : undefined),
    } as never) as Middleware;
    const opened = await onDisk(world, [look("a"), "one", "two", "three", "four"], { middleware: [odd] });
    const result = await opened.session.run("go").result;
    expect(["completed", "blocked"]).toContain(statusOf(result));
    expect(times).toBeGreaterThan(0);
    if (result.reason !== undefined) expect(typeof result.reason).toBe("string");
    for (const request of opened.model.requests) expect(typeof request.instructions).toBe("string");
    expect(JSON.stringify(opened.model.requests.map((r) => r.instructions))).not.toContain("[object");
    await survives(world, opened, opened.again);
  });
});

describe("what a model port says wrong", () => {
  const saying = (...chunks: unknown[]): ModelPort => ({
    id: "odd",
    async *stream() {
      for (const chunk of chunks) yield chunk as ModelChunk;
    },
  });

  test.for([
    ["a cost that is not a number", [{ type: "usage", usage: { input: 5, costUsd: Number.NaN } }]],
    ["tokens below zero", [{ type: "usage", usage: { input: -5 } }]],
    ["a failure of no known class", [{ type: "failed", failure: { class: "rate_limited", message: "slow down" } }]],
    [
      "a wait that is not a number",
      [{ type: "failed", failure: { class: "auth", message: "x", retryAfterMs: Number.NaN } }],
    ],
    ["a reason to finish that nobody knows", [{ type: "finish", reason: "eos" }]],
    ["a chunk of no known type", [{ type: "audio", delta: "x" }]],
    ["words that are none", [{ type: "text", delta: 5 }]],
  ] as [string, unknown[]][])("%s: the run ends, and the journal holds", async ([, chunks], { world }) => {
    const model = saying({ type: "text", delta: "hello" }, ...chunks, { type: "finish", reason: "stop" });
    const opened = await onDisk(world, [], { model });
    const result = await opened.session.run("go").result;
    expect(["completed", "failed(fatal)", "failed(malformed)", "failed(auth)"]).toContain(statusOf(result));
    const live = opened.session.usage();
    for (const record of await world.records()) expect(JSON.stringify(record)).not.toMatch(/:null[,}]/);
    expect(JSON.parse(JSON.stringify(live))).toEqual(live);
    const codes = ["timeout", "malformed", "overflow", "auth", "refused", "fatal", "store", "internal"];
    if (result.error) expect(codes).toContain(result.error.code);
    await survives(world, opened, opened.again);
  });
});

describe("a journal that was tampered with", () => {
  test("a record of a wrong shape is journal_corrupt, and nothing is written", async ({ world }) => {
    const { session } = await world.open(["ok"]);
    await session.run("go").unwrap();
    const lease = await world.store.acquire("s1", "vandal", "if-free");
    const bad = { v: 1, seq: lease.head + 1, at: 0, dir: "in", type: "input.received", kind: "prompt" };
    const next = await world.store.append(lease, [bad as unknown as JournalRecord]);
    await world.store.release(next, { status: "idle" });
    const before = await world.records();
    const { agent } = world.agent();
    expect(await codeOf(agent.resumeSession("s1"))).toBe("journal_corrupt");
    expect(await codeOf(session.run("go on").result)).toBe("journal_corrupt");
    expect(await world.records()).toEqual(before);
    world.skips = { fold: true, journal: true, partials: true };
  });
});

describe("a tool that answers in its own way", () => {
  test("a thenable is awaited like a promise, and one that fails is a failed result", async ({ world }) => {
    const lazily = (value: string) => ({ then: (resolve: (v: string) => void) => resolve(value) });
    const failing = { then: (_: unknown, reject: (e: Error) => void) => reject(new Error("query failed")) };
    const base = world.tools.look;
    const tools = {
      query: { ...base, execute: () => lazily("3 rows") },
      broken: { ...base, execute: () => failing },
    };
    const { session, events } = await world.open([{ calls: [call("query", "a"), call("broken", "b")] }, "done"], {
      tools,
    });
    await session.run("go").unwrap();
    expect(told(session.messages())).toEqual(["ok 3 rows", "failed query failed"]);
    await settled();
    expect(all(events, "tool.settled")).toHaveLength(2);
  });

  test("a throw of anything at all is a failed result with words in it", async ({ world }) => {
    const throwing = (value: unknown) =>
      readTool(() => {
        throw value;
      });
    const tools = {
      text: throwing("plain words"),
      nothing: throwing(undefined),
      object: throwing({ code: 7 }),
      silent: throwing(new Error("")),
      hostile: throwing({
        toString() {
          throw new Error("no");
        },
      }),
    };
    const { session } = await world.open([{ calls: Object.keys(tools).map((n) => call(n, "a")) }, "done"], { tools });
    expect(statusOf(await session.run("go").result)).toBe("completed");
    for (const result of told(session.messages())) expect(result).toMatch(/^failed ./);
  });
});

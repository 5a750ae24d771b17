import { describe, expect } from "vitest";
import { defineMiddleware } from "../../src/middleware/middleware.ts";
import type { ModelChunk, ModelPort, ModelRequest } from "../../src/ports.ts";
import { fakeIds } from "../../src/testing/fakes.ts";
import { all, call, gate, look, newest, only, said, settled, test } from "./support.ts";

const timeout = { class: "timeout" as const };

describe("a request", () => {
  test("is frozen instructions, contributions in chain order, the view, and direct tools by name", async ({
    world,
  }) => {
    const contribute = (name: string, words: string) => defineMiddleware({ name, contribute: () => words });
    const { session, model } = await world.open(["ok"], {
      instructions: "Be brief.",
      middleware: [contribute("b", "second"), contribute("a", "first"), contribute("none", "")],
      tools: { zebra: world.tools.look, apple: world.tools.look, mango: { ...world.tools.look, deferred: true } },
    });
    await session.run("go").unwrap();
    const [request] = model.requests;
    expect(request).toMatchObject({
      instructions: "Be brief.\n\nsecond\n\nfirst",
      purpose: "turn",
      sessionId: "s1",
    });
    expect(request!.tools.map((t) => t.name)).toEqual(["apple", "call_tool", "search_tools", "zebra"]);
    expect(JSON.stringify(session.messages())).not.toMatch(/second|first/);
    expect(JSON.stringify(await world.records())).not.toMatch(/"second"|"first"/);
  });

  test("contributions are made for each request, and only for it", async ({ world }) => {
    let turn = 0;
    const clock = defineMiddleware({ name: "clock", contribute: async () => `turn ${++turn}` });
    const { session, model } = await world.open([look("a"), "ok"], { middleware: [clock] });
    await session.run("go").unwrap();
    expect(model.requests.map((r) => r.instructions)).toEqual(["turn 1", "turn 2"]);
  });

  test("equal sessions make equal requests, byte for byte", async ({ world }) => {
    const script = [look("a", "b"), { ...look("c"), text: "hm" }, "done"];
    const one = await world.open(script, { ids: fakeIds() });
    const two = await world.open(script, { ids: fakeIds(), session: { id: "s2" } });
    await one.session.run("go").unwrap();
    await two.session.run("go").unwrap();
    const bytes = (requests: ModelRequest[]) => requests.map((r) => JSON.stringify({ ...r, sessionId: "" }));
    expect(bytes(two.model.requests)).toEqual(bytes(one.model.requests));
  });

  test("each request is the beginning of the next, also over retries, cut answers, cancels and runs", async ({
    world,
  }) => {
    const script = [
      look("a"),
      { text: "hal", fails: timeout },
      { text: "half and ", finish: "length" as const },
      { ...look("b"), finish: "length" as const },
      "whole",
      { text: "stopped he", hangs: true },
      { fails: { class: "fatal" as const } },
      "end",
    ];
    const { session, model } = await world.open(script, { limits: { backoffMs: 0 } });
    const run = session.run("one");
    await world.clock.advance(1);
    await run.unwrap();
    const second = session.run("two");
    await world.until(() => model.requests.length === 6);
    await settled();
    second.cancel();
    await second.result;
    await session.run("three").result;
    await session.run("four").unwrap();
    expect(model.requests).toHaveLength(8);
    for (let i = 1; i < 8; i++) {
      const before = model.requests[i - 1]!;
      expect(model.requests[i]!.messages.slice(0, before.messages.length)).toEqual(before.messages);
      expect(model.requests[i]!.tools).toEqual(before.tools);
    }
    expect(session.view().slice(0, model.requests[7]!.messages.length)).toEqual(model.requests[7]!.messages);
  });

  test("what a failed attempt had shown goes to the next one; what showed nothing leaves no trace", async ({
    world,
  }) => {
    const script = [{ fails: timeout }, { text: "partly", thinking: "hm", fails: timeout }, "done"];
    const { session, model, events } = await world.open(script, { limits: { backoffMs: 0 } });
    const run = session.run("go");
    await world.clock.advance(1);
    await run.unwrap();
    expect(said(model.requests[1]!.messages)).toEqual(["user go"]);
    expect(newest(model.requests[2])).toBe("user [turn_retried]\npartly\n[/turn_retried]");
    await settled();
    expect(all(events, "attempt.started").map((e) => [e.turn, e.attempt])).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
    ]);
    expect(only(events, "turn.started").turn).toBe(1);
    expect(all(events, "model.failed")[1]!.parts.map((p) => p.type)).toEqual(["thinking", "text"]);
  });

  test("retries are bounded and wait longer each time; the last failure ends the run with its code", async ({
    world,
  }) => {
    const { session, model } = await world.open([{ fails: timeout }, { fails: timeout }, { fails: timeout }]);
    const run = session.run("go");
    await world.clock.advance(249);
    expect(model.requests).toHaveLength(1);
    await world.clock.advance(1);
    expect(model.requests).toHaveLength(2);
    await world.clock.advance(499);
    expect(model.requests).toHaveLength(2);
    await world.clock.advance(1);
    expect(await run.result).toMatchObject({ status: "failed", error: { code: "timeout", retryable: true }, turns: 1 });
    expect(model.requests).toHaveLength(3);
  });

  test("the exponential policy doubles, with at most a quarter more", async ({ world }) => {
    const asked: number[] = [];
    const script = () => {
      asked.push(world.clock.now());
      return { fails: timeout };
    };
    const { session } = await world.open(script, { limits: { retries: 3, backoff: "exponential", backoffMs: 1_000 } });
    const run = session.run("go");
    await world.clock.advance(60_000);
    expect((await run.result).status).toBe("failed");
    const waits = asked.slice(1).map((at, i) => at - asked[i]!);
    expect(waits).toHaveLength(3);
    for (const [i, ms] of [1_000, 2_000, 4_000].entries()) {
      expect(waits[i]).toBeGreaterThanOrEqual(ms);
      expect(waits[i]).toBeLessThanOrEqual(ms * 1.25);
    }
  });

  test("what was shown when the run failed for good is told to the model later, and not called discarded", async ({
    world,
  }) => {
    const script = [{ text: "I had begu", fails: { class: "fatal" as const } }, "ok"];
    const { session, model, events } = await world.open(script);
    const failed = await session.run("go").result;
    expect(failed.status).toBe("failed");
    await session.continue().unwrap();
    expect(newest(model.requests[1])).toBe("user [turn_aborted]\nI had begu\n[/turn_aborted]");
    await settled();
    expect(all(events, "attempt.discarded")).toEqual([]);
  });

  test("a text answer that was cut is gone on with, twice; then the run is truncated", async ({ world }) => {
    const cut = (text: string) => ({ text, finish: "length" as const });
    const { session, model, events } = await world.open([
      cut("one "),
      cut("two "),
      "three",
      cut("a"),
      cut("b"),
      cut("c"),
    ]);
    expect(await session.run("go").unwrap()).toMatchObject({ text: "one two three", turns: 3 });
    expect(newest(model.requests[1])).toMatch(/^user \[answer_cut\]\n.*Go on exactly where it stopped/);
    expect(await session.run("more").result).toMatchObject({ status: "truncated", text: "abc" });
    expect(model.requests).toHaveLength(6);
    await settled();
    expect(all(events, "turn.started").map((e) => e.continues === true)).toEqual([
      false,
      true,
      true,
      false,
      true,
      true,
    ]);
  });

  test("thinkingLevel holds for retries and continuations of the run, and for no other", async ({ world }) => {
    const script = [{ fails: timeout }, { text: "a", finish: "length" as const }, look("x"), "done", "plain"];
    const { session, model } = await world.open(script, {
      settings: { thinkingLevel: "low" },
      limits: { backoffMs: 0 },
    });
    const run = session.run("go", { thinkingLevel: "high" });
    await world.clock.advance(1);
    await run.unwrap();
    await session.run("again").unwrap();
    expect(model.requests.map((r) => r.settings.thinkingLevel)).toEqual(["high", "high", "high", "high", "low"]);
  });

  test("opaque items of the provider stay with their message, byte for byte", async ({ world }) => {
    const opaque = { provider: "p", data: { sig: "αβγ==", nested: [1, { k: null }] } };
    let turn = 0;
    const seen: ModelRequest[] = [];
    const model: ModelPort = {
      id: "opaque",
      async *stream(request): AsyncGenerator<ModelChunk> {
        seen.push({ ...request, messages: [...request.messages] });
        yield { type: "thinking", delta: "hm", opaque };
        if (turn++ === 0)
          yield { type: "tool-call", key: "0", name: "look", delta: '{"path":"a"}', wireId: "w1", opaque };
        else yield { type: "text", delta: "done" };
        yield { type: "finish", reason: "stop" };
      },
    };
    const { session } = await world.open([], { model });
    await session.run("go").unwrap();
    const [thinking, toolCall] = seen[1]!.messages[1]!.parts as { opaque?: unknown; wireId?: string }[];
    expect(thinking!.opaque).toEqual(opaque);
    expect(toolCall).toMatchObject({ opaque, wireId: "w1" });
    const again = await world.reopen(["ok"]);
    await again.session.run("more").unwrap();
    expect(again.model.requests[0]!.messages.slice(0, 3)).toEqual(seen[1]!.messages.slice(0, 3));
  });

  test("a model that throws, and one that ends before it began, are failures like others", async ({ world }) => {
    const throwing: ModelPort = {
      id: "throws",
      // oxlint-disable-next-line require-yield
      async *stream(): AsyncGenerator<ModelChunk> {
        throw new Error("socket hang up");
      },
    };
    const { session } = await world.open([], { model: throwing });
    expect(await session.run("go").result).toMatchObject({
      status: "failed",
      error: { code: "fatal", message: "socket hang up" },
    });
    const sync: ModelPort = {
      id: "sync",
      stream: () => {
        throw new Error("no network");
      },
    };
    expect(await session.run("go", { model: sync }).result).toMatchObject({ error: { message: "no network" } });
  });

  test("the settlement of a request that was given up changes nothing", async ({ world }) => {
    const late = gate();
    const { session, model } = await world.open([
      { text: "too late", calls: [call("look", "a")], after: late.promise },
      "ok",
    ]);
    const run = session.run("go");
    await world.until(() => model.requests.length === 1);
    run.cancel();
    await run.result;
    late.open();
    await settled();
    expect(world.ran).toEqual([]);
    await session.run("next").unwrap();
    expect(JSON.stringify(session.messages())).not.toContain("too late");
  });
});

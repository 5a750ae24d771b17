/** What comes in: the awkward shapes that providers make of chunks. */
import { describe, expect, test } from "vitest";
import { ChatReader } from "../../src/adapters/model/chat-stream.ts";
import type { ModelChunk } from "../../src/ports.ts";
import { replyOf } from "./chat-fixture.ts";

describe("chunks", () => {
  const read = (...chunks: unknown[]) => {
    const reader = new ChatReader({
      peer: { host: "h", hostname: "h", secrets: [] },
      toolName: (name) => name,
      costUsd: () => undefined,
    });
    const out: ModelChunk[] = chunks.flatMap((c) => reader.take(c));
    return replyOf(out.some((c) => c.type === "failed") ? out : [...out, ...reader.end()]);
  };
  const delta = (delta: unknown, finish_reason: string | null = null) => ({ choices: [{ delta, finish_reason }] });
  const calls = (...tool_calls: unknown[]) => delta({ tool_calls });
  const fn = (name: string | undefined, text: string) => ({ name, arguments: text });
  const stop = delta({}, "stop");

  test("§5 a stop after tool calls is tool-calls", () => {
    expect(read(calls({ index: 0, id: "a", function: fn("f", "{}") }), stop).finish).toBe("tool-calls");
  });

  test("§5 calls without an index, whole in one delta, are told apart by their ids", () => {
    const reply = read(calls({ id: "a", function: fn("f", "{}") }, { id: "b", function: fn("f", "{}") }), stop);
    expect(reply.calls).toEqual([
      { name: "f", text: "{}", wireId: "a" },
      { name: "f", text: "{}", wireId: "b" },
    ]);
  });

  test("§5 calls that all have index 0 are told apart by their ids", () => {
    const one = (id: string, text: string) => calls({ index: 0, id, function: fn("f", text) });
    expect(read(one("a", '{"n":1}'), one("b", '{"n":2}'), stop).calls.map((c) => c.text)).toEqual([
      '{"n":1}',
      '{"n":2}',
    ]);
  });

  test("A6 one id for two calls of an answer gives two calls", () => {
    const one = (index: number) => calls({ index, id: "x", function: fn("f", `{"n":${index}}`) });
    expect(read(one(0), one(1), stop).calls.map((c) => c.text)).toEqual(['{"n":0}', '{"n":1}']);
    const noIndex = (n: number) => calls({ id: "x", function: fn("f", `{"n":${n}}`) });
    expect(read(noIndex(0), noIndex(1), stop).calls.map((c) => c.text)).toEqual(['{"n":0}', '{"n":1}']);
  });

  test("§5 pieces with an empty id, an empty name, a name again or an id of their own belong to their call", () => {
    const reply = read(
      calls({ index: 0, id: "a", function: fn("f", "") }),
      calls({ index: 0, id: "", function: fn("", '{"p"') }),
      calls({ index: 0, id: "rotated", function: fn("f", ":1") }),
      calls({ function: fn(undefined, "}") }),
      stop,
    );
    expect(reply.calls).toEqual([{ name: "f", text: '{"p":1}', wireId: "a" }]);
  });

  test("§5 arguments that come again whole count once, and an object is as good as its text", () => {
    const whole = calls({ index: 0, id: "a", function: { name: "f", arguments: { p: 1 } } });
    expect(read(whole, whole, stop).calls.map((c) => c.text)).toEqual(['{"p":1}']);
  });

  test("§5 the older function_call is a call without an id", () => {
    const reply = read(
      delta({ function_call: { name: "f", arguments: "{" } }),
      delta({ function_call: { arguments: "}" } }, "function_call"),
    );
    expect(reply).toMatchObject({ finish: "tool-calls", calls: [{ name: "f", text: "{}", wireId: undefined }] });
  });

  test("§5 content as a list, a finish reason with content, two finish reasons, and things that are no chunks are read", () => {
    const reply = read(
      null,
      { type: "ping" },
      { choices: [] },
      delta({ content: [{ type: "text", text: "Hel" }] }),
      delta({ content: "lo" }, "stop"),
      { ...stop, model: "m-1" },
    );
    expect(reply).toMatchObject({ text: "Hello", finish: "stop", model: "m-1" });
  });

  test("§5 a finish reason that says the answer is cut is not taken back by a second one", () => {
    expect(read(delta({ content: "a" }, "length"), stop).finish).toBe("length");
  });

  test("§5 a refusal in the model's own words is its answer", () => {
    expect(read(delta({ refusal: "I can't " }), delta({ refusal: "help." }), stop)).toMatchObject({
      text: "I can't help.",
      finish: "stop",
    });
  });

  test("§5 a content filter is refused", () => {
    expect(read(delta({ content: "a" }), delta({}, "content_filter"))).toMatchObject({
      finish: undefined,
      failure: { class: "refused" },
    });
  });

  test("§5 tool calls that are announced and do not come are malformed", () => {
    expect(read(delta({}, "tool_calls")).failure?.class).toBe("malformed");
  });

  test("§5 usage is read from all its places, and the last report counts", () => {
    const usage = (n: number) => ({ prompt_tokens: n, completion_tokens: 1 });
    expect(read(stop, { choices: [], usage: usage(1) }).usage).toEqual({ input: 1, output: 1 });
    expect(read({ ...stop, usage: usage(2) }).usage?.input).toBe(2);
    expect(read({ choices: [{ delta: {}, finish_reason: "stop", usage: usage(3) }] }).usage?.input).toBe(3);
    expect(read({ ...stop, x_groq: { usage: usage(4) } }).usage?.input).toBe(4);
    expect(
      read(
        { ...delta({}), usage: usage(5) },
        { ...stop, usage: usage(6) },
        { choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } },
      ).usage?.input,
    ).toBe(6);
    expect(read(stop).usage).toBeUndefined();
  });

  test("§10 what a provider does not say of usage is absent, not zero", () => {
    expect(read({ ...stop, usage: { prompt_tokens: 3 } }).usage).toEqual({ input: 3 });
    const cached = { prompt_tokens: 9, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 0 } };
    expect(read({ ...stop, usage: cached }).usage).toEqual({ input: 9, output: 1, cacheRead: 0 });
  });

  test("C6 reasoning keeps the name of its field, and its items come together as the provider would send them whole", () => {
    expect(read(delta({ reasoning: "h" }), delta({ reasoning: "m" }), delta({ content: "a" }), stop)).toMatchObject({
      thinking: "hm",
      opaque: [{ field: "reasoning", host: "h" }],
    });
    const detail = (more: object) =>
      delta({ reasoning: "x", reasoning_details: [{ type: "reasoning.text", index: 0, ...more }] });
    const reply = read(detail({ text: "h" }), detail({ text: "m", signature: "s" }), delta({ content: "a" }), stop);
    expect(reply.thinking).toBe("xx");
    const value = [{ type: "reasoning.text", index: 0, text: "hm", signature: "s" }];
    expect(reply.opaque).toEqual([{ field: "reasoning_details", host: "h", value }]);
  });

  test("C6 thinking inside a content list is thinking", () => {
    const reply = read(
      delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] }),
      delta({ content: "a" }),
      stop,
    );
    expect(reply).toMatchObject({ thinking: "hm", text: "a", opaque: [{ field: "content", host: "h" }] });
  });
});

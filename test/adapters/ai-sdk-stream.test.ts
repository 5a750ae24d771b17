/** What is made of the parts that a model of the AI SDK streams. */
import { createAnthropic } from "@ai-sdk/anthropic";
import {
  APICallError,
  InvalidPromptError,
  NoSuchModelError,
  UnsupportedFunctionalityError,
  type LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { MockLanguageModelV4 } from "ai/test";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { AssistantMessage } from "../../src/core/message.ts";
import { Answer } from "../../src/effects/answer.ts";
import { fromAiSdk } from "../../src/ai-sdk.ts";
import { finish, says, v2, v3, v4 } from "./ai-sdk-fixture.ts";
import { ask, request, tool, user, type Reply } from "./chat-fixture.ts";

afterEach(() => void vi.unstubAllEnvs());
const hi = request([user("hello")]);
const metadata = (value: string) => ({ acme: { signature: value } });
const call = (input: string, more: object = {}): LanguageModelV4StreamPart => ({
  type: "tool-call",
  toolCallId: "c1",
  toolName: "read",
  input,
  ...more,
});
const streamed = (...deltas: string[]): LanguageModelV4StreamPart[] => [
  { type: "tool-input-start", id: "c1", toolName: "read" },
  ...deltas.map((delta) => ({ type: "tool-input-delta", id: "c1", delta }) as const),
  { type: "tool-input-end", id: "c1" },
];
function messageOf(reply: Reply): AssistantMessage {
  const answer = new Answer(1, 1, { live: () => undefined, isWatched: false });
  for (const c of reply.chunks)
    if (c.type === "text" || c.type === "thinking" || c.type === "tool-call") answer.take(c);
  return answer.finish();
}

describe("tool calls", () => {
  test("a call that comes whole, without pieces, is one call", async () => {
    const reply = await ask(v4([call('{"path":"a"}'), finish("tool-calls")]).port, hi);
    expect(reply).toMatchObject({
      finish: "tool-calls",
      calls: [{ name: "read", text: '{"path":"a"}', wireId: "c1" }],
    });
  });

  test("a call that comes in pieces and once more whole is one call", async () => {
    const parts = [...streamed('{"pa', 'th":"a"}'), call('{"path":"a"}'), finish("tool-calls")];
    expect((await ask(v4(parts).port, hi)).calls).toEqual([{ name: "read", text: '{"path":"a"}', wireId: "c1" }]);
  });

  test("a call that is written anew when it is whole is the same call", async () => {
    const parts = [...streamed('{ "path": "a" }'), call('{"path":"a"}'), finish("tool-calls")];
    expect(await ask(v4(parts).port, hi)).toMatchObject({ finish: "tool-calls", failure: undefined });
  });

  test("a call whose pieces say something else than the whole is malformed", async () => {
    const parts = [...streamed('{"path":"a"}'), call('{"path":"b"}'), finish("tool-calls")];
    expect((await ask(v4(parts).port, hi)).failure?.class).toBe("malformed");
  });

  test("C2 a call that never came whole is malformed, unless the answer was cut by its length", async () => {
    const begun = streamed('{"path":').slice(0, 2);
    expect((await ask(v4([...begun, finish("tool-calls")]).port, hi)).failure?.class).toBe("malformed");
    expect(await ask(v4([...begun, finish("length")]).port, hi)).toMatchObject({ finish: "length" });
  });

  test("a stop after calls is a turn of calls, and calls that were only announced are malformed", async () => {
    expect((await ask(v4([call("{}"), finish("stop")]).port, hi)).finish).toBe("tool-calls");
    expect((await ask(v4([finish("tool-calls")]).port, hi)).failure?.class).toBe("malformed");
  });
});

describe("what goes back", () => {
  const next = async (parts: LanguageModelV4StreamPart[], provider = "acme.chat") => {
    const reply = await ask(v4(parts).port, hi);
    const later = v4([...says("ok"), finish()], { provider });
    await ask(later.port, request([user("hello"), messageOf(reply), user("go on", "u2")]));
    return { reply, prompt: later.calls[0].prompt as { role: string; content: any[] }[] };
  };

  test("C6 the last metadata of a text, a thought and a call goes back with it, unchanged", async () => {
    const { prompt } = await next([
      { type: "reasoning-start", id: "0" },
      { type: "reasoning-delta", id: "0", delta: "hm", providerMetadata: metadata("early") },
      { type: "reasoning-end", id: "0", providerMetadata: metadata("thought") },
      { type: "text-start", id: "0", providerMetadata: metadata("text") },
      { type: "text-delta", id: "0", delta: "Yes" },
      { type: "text-end", id: "0" },
      call("{}", { providerMetadata: metadata("call") }),
      finish("tool-calls"),
    ]);
    expect(prompt[2]).toEqual({
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm", providerOptions: metadata("thought") },
        { type: "text", text: "Yes", providerOptions: metadata("text") },
        { type: "tool-call", toolCallId: "c1", toolName: "read", input: {}, providerOptions: metadata("call") },
      ],
    });
  });

  test("C6 thinking that nobody signed goes back to its provider, and to no other", async () => {
    const parts: LanguageModelV4StreamPart[] = [
      { type: "reasoning-start", id: "0" },
      { type: "reasoning-delta", id: "0", delta: "hm" },
      { type: "reasoning-end", id: "0" },
      finish(),
    ];
    expect((await next(parts)).prompt[2]?.content).toEqual([{ type: "reasoning", text: "hm" }]);
    // Nothing is left of the message, and none without content is sent.
    expect((await next(parts, "other.chat")).prompt.map((m) => m.role)).toEqual(["system", "user", "user"]);
  });

  test("C6 two thoughts stay two, each with its own signature, and a signature may stand without text", async () => {
    const { prompt } = await next([
      { type: "reasoning-start", id: "0", providerMetadata: metadata("one") },
      { type: "reasoning-end", id: "0" },
      { type: "reasoning-start", id: "0", providerMetadata: metadata("two") },
      { type: "reasoning-delta", id: "0", delta: "b" },
      { type: "reasoning-end", id: "0" },
      ...says("Yes"),
      finish(),
    ]);
    expect(prompt[2]?.content).toEqual([
      { type: "reasoning", text: "", providerOptions: metadata("one") },
      { type: "reasoning", text: "b", providerOptions: metadata("two") },
      { type: "text", text: "Yes" },
    ]);
  });

  test("a tool that the provider ran itself is no call of ours; call and result go back in their place", async () => {
    const parts: LanguageModelV4StreamPart[] = [
      { type: "tool-input-start", id: "s1", toolName: "search", providerExecuted: true },
      { type: "tool-input-delta", id: "s1", delta: '{"q":1}' },
      { type: "tool-input-end", id: "s1" },
      call('{"q":1}', { toolCallId: "s1", toolName: "search", providerExecuted: true }),
      { type: "tool-result", toolCallId: "s1", toolName: "search", result: "half", preliminary: true },
      { type: "tool-result", toolCallId: "s1", toolName: "search", result: [1], providerMetadata: metadata("r") },
      ...says("Found"),
      finish(),
    ];
    const { reply, prompt } = await next(parts);
    expect(reply).toMatchObject({ calls: [], text: "Found", thinking: "", finish: "stop" });
    expect(prompt[2]?.content).toEqual([
      { type: "tool-call", toolCallId: "s1", toolName: "search", input: { q: 1 }, providerExecuted: true },
      {
        type: "tool-result",
        toolCallId: "s1",
        toolName: "search",
        output: { type: "json", value: [1] },
        providerOptions: metadata("r"),
      },
      { type: "text", text: "Found" },
    ]);
    expect((await next(parts, "other.chat")).prompt[2]?.content).toEqual([{ type: "text", text: "Found" }]);
  });

  test("a file that the model made goes back to it, and the host hears that it is not shown", async () => {
    const made = v4([
      { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([1, 2, 3]) } },
      finish(),
    ]);
    const reply = await ask(made.port, hi);
    await ask(made.port, request([user("hello"), messageOf(reply), user("go on", "u2")]));
    expect(made.calls[1].prompt[2].content).toEqual([
      { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } },
    ]);
    expect(made.warnings).toEqual([expect.stringContaining("image/png")]);
  });

  test("a tool of the provider that asks for an approval is a failure that says how to mend it", async () => {
    const parts: LanguageModelV4StreamPart[] = [
      { type: "tool-approval-request", approvalId: "a1", toolCallId: "s1" },
      finish(),
    ];
    const { failure } = await ask(v4(parts).port, hi);
    expect(failure).toMatchObject({ class: "fatal", message: expect.stringContaining("Configure that tool") });
  });
});

describe("ends", () => {
  test("C3 an end without a reason of the provider is malformed in every version", async () => {
    const ends = [
      v4([...says("a"), { ...finish(), finishReason: { unified: "interrupted", raw: undefined } }]),
      v4([...says("a"), { ...finish(), finishReason: { unified: "other", raw: undefined } }]),
      v4([...says("a"), { ...finish(), finishReason: { unified: "error", raw: undefined } }]),
      v4([...says("a")]),
      v3([...says("a"), { ...finish(), finishReason: { unified: "other", raw: undefined } }]),
      v2([...says("a"), { type: "finish", finishReason: "unknown", usage: flat() }]),
    ];
    for (const { port } of ends) expect((await ask(port, hi)).failure?.class).toBe("malformed");
  });

  test("an end for a reason that only the provider knows is an end, when something was said", async () => {
    expect((await ask(v4([...says("a"), finish("other", "quota")]).port, hi)).finish).toBe("stop");
    expect((await ask(v4([finish("other", "quota")]).port, hi)).failure?.class).toBe("malformed");
    expect(
      (await ask(v2([...says("a"), { type: "finish", finishReason: "other", usage: flat() }]).port, hi)).finish,
    ).toBe("stop");
  });

  test("a model that declines in its own words has answered; one that was stopped has not", async () => {
    expect((await ask(v4([...says("I won't."), finish("content-filter", "stop")]).port, hi)).finish).toBe("stop");
    const stopped = await ask(v4([...says("I"), finish("content-filter", "SAFETY")]).port, hi);
    expect(stopped.failure?.class).toBe("refused");
  });

  const flat = (usage: object = {}) => ({
    inputTokens: undefined,
    outputTokens: undefined,
    totalTokens: undefined,
    ...usage,
  });
  test("§10 usage is read in every version; cached tokens count as read, and what was not said is absent", async () => {
    const nested = (raw: object) => ({
      ...finish(),
      usage: {
        inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: 0 },
        outputTokens: { total: 5, text: 5, reasoning: 0 },
        raw: raw as never,
      },
    });
    const usageOf = async ({ port }: { port: Parameters<typeof ask>[0] }) => (await ask(port, hi)).usage;
    expect(await usageOf(v4([...says("a"), nested({ input_tokens: 6, cache_read_input_tokens: 4 })]))).toEqual({
      input: 10,
      output: 5,
      cacheRead: 4,
    });
    expect(
      await usageOf(v3([...says("a"), nested({ input: 6, details: { cache_creation: 0, reasoning_tokens: 0 } })])),
    ).toEqual({ input: 10, output: 5, cacheRead: 4, cacheWrite: 0, reasoning: 0 });
    const counted = { type: "finish" as const, finishReason: "stop" as const };
    const usage = flat({ inputTokens: 6, outputTokens: 5, cachedInputTokens: 4 });
    expect(await usageOf(v2([...says("a"), { ...counted, usage }], { provider: "openai.chat" }))).toEqual({
      input: 6,
      output: 5,
      cacheRead: 4,
    });
    expect(await usageOf(v2([...says("a"), { ...counted, usage }], { provider: "anthropic.messages" }))).toMatchObject({
      input: 10,
    });
    expect(await usageOf(v4([...says("a"), finish()]))).toBeUndefined();
    const prices = { input: 1, output: 2, cacheRead: 0.5 };
    expect(await usageOf(v4([...says("a"), nested({ cached: 4 })], { prices }))).toMatchObject({ costUsd: 18e-6 });
  });

  test("the provider's warnings are heard once each, without the text of messages", async () => {
    const { port, warnings } = v4([
      {
        type: "stream-start",
        warnings: [
          { type: "unsupported", feature: "temperature", details: "not for reasoning models" },
          { type: "other", message: 'Skipping reasoning part: {"text":"a secret thought"}.' },
        ],
      },
      ...says("a"),
      finish(),
    ]);
    await ask(port, hi);
    expect(warnings).toEqual([
      "acme/m: unsupported: temperature: not for reasoning models",
      "acme/m: Skipping reasoning part",
    ]);
  });
});

describe("what is thrown", () => {
  const throwing = (error: unknown) =>
    fromAiSdk(new MockLanguageModelV4({ provider: "acme.chat", modelId: "m", doStream: () => Promise.reject(error) }));
  const failureOf = async (error: unknown) => (await ask(throwing(error), hi)).failure;

  test("§5 a key that is not there is an auth failure, and the package says where it looked", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", undefined);
    const { failure } = await ask(fromAiSdk(createAnthropic()("claude-sonnet-4-5")), hi);
    expect(failure).toMatchObject({ class: "auth", message: expect.stringContaining("ANTHROPIC_API_KEY") });
  });

  test("§5 what no retry will mend is fatal", async () => {
    expect(await failureOf(new NoSuchModelError({ modelId: "m", modelType: "languageModel" }))).toMatchObject({
      class: "fatal",
      message: expect.stringContaining("No such languageModel: m"),
    });
    expect((await failureOf(new InvalidPromptError({ prompt: "p", message: "no" })))?.class).toBe("fatal");
    expect((await failureOf(new UnsupportedFunctionalityError({ functionality: "video" })))?.class).toBe("fatal");
    expect((await failureOf(new Error("something")))?.class).toBe("fatal");
  });

  test("§12 nothing of the request is in a failure", async () => {
    const error = new APICallError({
      message: "Bad request",
      url: "https://acme.test/v1?key=canary-7f3a9c51",
      requestBodyValues: { prompt: "a private letter" },
      responseHeaders: { authorization: "canary-7f3a9c51" },
      statusCode: 400,
    });
    const failure = await failureOf(error);
    expect(failure).toMatchObject({ class: "fatal", status: 400, message: expect.stringContaining("Bad request") });
    expect(JSON.stringify(failure)).not.toMatch(/canary|private letter|acme\.test/);
  });

  test("§12 a key that its model keeps in its headers is taken out of what a server echoes", async () => {
    const error = new APICallError({
      message: "no such key: hunter2hunter2",
      url: "u",
      requestBodyValues: {},
      statusCode: 401,
    });
    const model = new MockLanguageModelV4({ provider: "acme.chat", doStream: () => Promise.reject(error) });
    const keyed = Object.assign(model, { config: { headers: () => ({ Authorization: "Bearer hunter2hunter2" }) } });
    const { failure } = await ask(fromAiSdk(keyed), hi);
    expect(failure?.class).toBe("auth");
    expect(failure?.message).not.toContain("hunter2");
  });

  test("a model that does not listen to its signal is let go all the same", async () => {
    let cancelled = 0;
    const deaf = new ReadableStream<LanguageModelV4StreamPart>({
      start: (c) => says("a").forEach((part) => c.enqueue(part)),
      cancel: () => void cancelled++,
    });
    const model = new MockLanguageModelV4({ doStream: { stream: deaf } });
    const abort = new AbortController();
    const reply = await ask(fromAiSdk(model), hi, { signal: abort.signal, onChunk: () => abort.abort() });
    expect(reply).toMatchObject({ text: "a", failure: { class: "cancelled" } });
    expect(cancelled).toBe(1);

    const never = new MockLanguageModelV4({ doStream: () => new Promise(() => undefined) });
    const second = new AbortController();
    const waiting = ask(fromAiSdk(never), request([user("hello")], { tools: [tool("a")] }), { signal: second.signal });
    second.abort();
    expect((await waiting).failure?.class).toBe("cancelled");
  });
});

/** What a model of the AI SDK is called with, and what `fromAiSdk` takes. */
import { execFileSync } from "node:child_process";
import { anthropic } from "@ai-sdk/anthropic";
import { google } from "@ai-sdk/google";
import { openai } from "@ai-sdk/openai";
import { MockLanguageModelV4 } from "ai/test";
import { describe, expect, test } from "vitest";
import type { Message, ToolResultPart } from "../../src/core/message.ts";
import { fromAiSdk, type AiSdkModel } from "../../src/ai-sdk.ts";
import type { ModelRequest } from "../../src/ports.ts";
import { finish, says, v2, v3, v4, type Told } from "./ai-sdk-fixture.ts";
import { ask, request, tool, user } from "./chat-fixture.ts";

const parts = [...says("ok"), finish()] as const;
const parts2 = [
  ...says("ok"),
  {
    type: "finish",
    finishReason: "stop",
    usage: { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined },
  },
] as const;

async function called(told: Told, what: ModelRequest) {
  const reply = await ask(told.port, what);
  expect(reply.failure).toBeUndefined();
  return told.calls.at(-1);
}
const set = (settings: ModelRequest["settings"], more: Partial<ModelRequest> = {}) =>
  request([user("hello")], { settings, tools: [tool("read.file")], ...more });

describe("settings", () => {
  test("those of the specification go under its names", async () => {
    const call = await called(
      v4([...parts]),
      set(
        { temperature: 0.5, maxOutputTokens: 9, thinkingLevel: "high", toolChoice: { name: "read.file" } },
        { output: { name: "answer", schema: { type: "object" } } },
      ),
    );
    expect(call).toMatchObject({
      temperature: 0.5,
      maxOutputTokens: 9,
      reasoning: "high",
      toolChoice: { type: "tool", toolName: call.tools[0].name },
      tools: [{ type: "function", description: "does read.file", inputSchema: { type: "object" } }],
      responseFormat: { type: "json", schema: { type: "object" }, name: "answer" },
    });
    expect(call.tools[0].name).toMatch(/^read_file_x/);
    expect(call).not.toHaveProperty("providerOptions");
  });

  test("how much to think goes into each provider's own options where the specification has no word for it", async () => {
    const level = set({ thinkingLevel: "low" });
    const options = async (told: Told) => (await called(told, level)).providerOptions;
    expect(await options(v3([...parts], { provider: "openai.responses" }))).toEqual({
      openai: { store: false, reasoningEffort: "low" },
    });
    expect(await options(v2([...parts2], { provider: "anthropic.messages" }))).toEqual({
      anthropic: { thinking: { type: "enabled", budgetTokens: 4096 } },
    });
    const gemini = (modelId: string) => v3([...parts], { provider: "google.generative-ai", modelId });
    expect(await options(gemini("gemini-3-pro"))).toEqual({ google: { thinkingConfig: { thinkingLevel: "low" } } });
    expect(await options(gemini("gemini-2.5-pro"))).toEqual({ google: { thinkingConfig: { thinkingBudget: 4096 } } });
  });

  test("whether calls may be parallel goes into the provider's options, and is never left out silently", async () => {
    const one = set({ parallelToolCalls: false });
    const openaiCall = await called(v4([...parts], { provider: "openai.chat" }), one);
    expect(openaiCall.providerOptions).toEqual({ openai: { parallelToolCalls: false } });
    const anthropicCall = await called(v4([...parts], { provider: "anthropic.messages" }), one);
    expect(anthropicCall.providerOptions).toEqual({ anthropic: { disableParallelToolUse: true } });
    const other = v4([...parts]);
    await called(other, one);
    await called(other, one);
    expect(other.warnings).toEqual([expect.stringContaining("parallelToolCalls")]);
  });

  test("extra is the provider's options, as given, and wins", async () => {
    const told = v4([...parts], { provider: "openai.chat" });
    const extra = { openai: { parallelToolCalls: true, store: false }, gateway: { order: ["a"] } };
    expect((await called(told, set({ parallelToolCalls: false, extra }))).providerOptions).toEqual(extra);
  });

  test("what Responses say is not left with the provider, unless extra says so", async () => {
    const told = v4([...parts], { provider: "openai.responses" });
    expect((await called(told, set({}))).providerOptions).toEqual({ openai: { store: false } });
    const kept = set({ extra: { openai: { store: true } } });
    expect((await called(told, kept)).providerOptions).toEqual({ openai: { store: true } });
  });

  test("extra that names no provider is refused, with what was expected", async () => {
    const { failure } = await ask(v4([...parts], { provider: "openai.chat" }).port, set({ extra: { top_p: 1 } }));
    expect(failure).toMatchObject({ class: "fatal", message: expect.stringMatching(/extra\.top_p.*openai: \{ … \}/) });
  });
});

describe("media", () => {
  const png = { type: "image" as const, mediaType: "image/png", data: "AQID" };
  const linked = { type: "image" as const, mediaType: "image/png", url: "https://pictures.test/a.png" };
  const pdf = { type: "file" as const, mediaType: "application/pdf", name: "a.pdf", data: "AQID" };
  const sound = { type: "audio" as const, mediaType: "audio/wav", data: "AQID" };
  const of = (...given: ToolResultPart["output"]): Message => ({
    id: "u1",
    role: "user",
    kind: "prompt",
    parts: given,
  });
  const returned = (...output: ToolResultPart["output"]): Message[] => [
    user("look"),
    { id: "a1", role: "assistant", parts: [{ type: "tool-call", callId: "c1", name: "look", args: {} }] },
    { id: "r1", role: "tool", parts: [{ type: "tool-result", callId: "c1", name: "look", status: "ok", output }] },
  ];

  test("a user's images, files and sound are file parts, spelled as the version has it", async () => {
    const what = request([of(png, linked, pdf, sound)], { instructions: "" });
    const url = new URL(linked.url);
    expect((await called(v4([...parts]), what)).prompt[0].content).toEqual([
      { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } },
      { type: "file", mediaType: "image/png", data: { type: "url", url } },
      { type: "file", mediaType: "application/pdf", filename: "a.pdf", data: { type: "data", data: "AQID" } },
      { type: "file", mediaType: "audio/wav", data: { type: "data", data: "AQID" } },
    ]);
    expect((await called(v3([...parts]), what)).prompt[0].content.slice(0, 2)).toEqual([
      { type: "file", mediaType: "image/png", data: "AQID" },
      { type: "file", mediaType: "image/png", data: url },
    ]);
  });

  test("bytes inside an address are sent as bytes", async () => {
    const inline = { type: "image" as const, mediaType: "image/png", url: "data:image/png;base64,AQID" };
    const { prompt } = await called(v4([...parts]), request([of(inline)], { instructions: "" }));
    expect(prompt[0].content[0].data).toEqual({ type: "data", data: "AQID" });
  });

  test("what a tool returned is in its result where the provider takes media there", async () => {
    const what = request(returned({ type: "text", text: "here" }, png, linked), { instructions: "" });
    const value = async (told: Told) => (await called(told, what)).prompt[2].content[0].output.value;
    expect(await value(v4([...parts], { provider: "anthropic.messages" }))).toMatchObject([
      { type: "text", text: "here" },
      { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } },
      { type: "file", mediaType: "image/png", data: { type: "url" } },
    ]);
    expect(await value(v3([...parts], { resultMedia: "result" }))).toEqual([
      { type: "text", text: "here" },
      { type: "image-data", mediaType: "image/png", data: "AQID" },
      { type: "image-url", url: linked.url },
    ]);
  });

  test("what cannot be in a result follows it in a message, and the result says so", async () => {
    const told = v2([...parts2], { resultMedia: "result" });
    const { prompt } = await called(told, request(returned(png, linked), { instructions: "" }));
    expect(prompt[2].content[0].output.value).toEqual([
      { type: "text", text: "[1 attached in the next message]" },
      { type: "media", mediaType: "image/png", data: "AQID" },
    ]);
    expect(prompt[3]).toMatchObject({ role: "user", content: [{ type: "text" }, { type: "file" }] });
    const chat = await called(v4([...parts]), request(returned(png), { instructions: "" }));
    expect(chat.prompt[2].content[0].output).toEqual({ type: "text", value: "[1 attached in the next message]" });
  });

  test("a result of any status but ok is an error to the provider", async () => {
    const history = returned({ type: "text", text: "no" });
    (history[2] as Extract<Message, { role: "tool" }>).parts[0]!.status = "denied";
    const { prompt } = await called(v4([...parts]), request(history, { instructions: "" }));
    expect(prompt[2].content[0].output).toEqual({ type: "error-text", value: "no" });
  });
});

describe("fromAiSdk", () => {
  test("names a port by provider and model, and knows what it was told", () => {
    expect(fromAiSdk(anthropic("claude-sonnet-4-5"))).toMatchObject({
      id: "anthropic/claude-sonnet-4-5",
      structured: true,
      priced: false,
    });
    expect(fromAiSdk(openai("gpt-5.2")).id).toBe("openai/gpt-5.2");
    const options = { id: "mine", window: 1_000, prices: { input: 1, output: 2 }, structured: false };
    expect(fromAiSdk(google("gemini-3-pro-preview"), options)).toMatchObject({
      id: "mine",
      window: 1_000,
      structured: false,
      priced: true,
    });
    expect(fromAiSdk(new MockLanguageModelV4({ provider: "acme" }))).toMatchObject({ structured: false });
  });

  test.each<[string, unknown, unknown, RegExp]>([
    ["a name instead of a model", "openai/gpt-5.2", {}, /expected a model object.*"openai\/gpt-5\.2"/],
    ["something else", {}, {}, /expected a language model of the AI SDK/],
    ["nothing", undefined, {}, /expected a language model of the AI SDK/],
    [
      "a version to come",
      { ...new MockLanguageModelV4(), provider: "acme", doStream: () => undefined, specificationVersion: "v9" },
      {},
      /acme speaks specification v9.*v2, v3, v4/,
    ],
    ["an option of no sense", new MockLanguageModelV4(), { window: -1 }, /window: /],
    ["an unknown option", new MockLanguageModelV4(), { windows: 1 }, /windows/],
  ])("§12 refuses %s with one line that says what was expected", (_, model, options, message) => {
    expect(() => fromAiSdk(model as AiSdkModel, options as object)).toThrow(
      expect.objectContaining({ code: "invalid_options", message: expect.stringMatching(message) }),
    );
  });

  test("importing rcra/ai-sdk loads no package of the AI SDK, and no client of a provider", () => {
    const code = `
      import { registerHooks } from "node:module";
      const seen = new Set();
      registerHooks({ resolve: (s, c, next) => { const r = next(s, c); seen.add(r.url); return r; } });
      await import(${JSON.stringify(new URL("../../src/ai-sdk.ts", import.meta.url).href)});
      const packages = [...seen].flatMap((url) => /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1] ?? []);
      console.log(JSON.stringify([...new Set(packages)]));`;
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
    expect(JSON.parse(printed)).toEqual(["zod"]);
  });
});

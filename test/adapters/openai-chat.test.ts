/** The chat adapter with the real client, over real HTTP, against a mock of the provider. */
import { LLMock } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { wireName } from "../../src/adapters/model/tool-names.ts";
import { mayAskAgain } from "../../src/core/failure.ts";
import { openai, type OpenAIOptions } from "../../src/openai.ts";
import { ask, request, tool, user } from "./chat-fixture.ts";

describe("over HTTP", () => {
  const mock = new LLMock({ port: 0 });
  beforeAll(() => mock.start());
  afterAll(() => mock.stop());
  afterEach(() => {
    mock.clearChaos();
    mock.clearFixtures();
    mock.clearRequests();
  });
  const port = (more: Partial<OpenAIOptions> = {}) =>
    openai({ model: "gpt-4o", baseURL: `${mock.url}/v1`, apiKey: "mock-key-123456", ...more });
  const sent = () => mock.getLastRequest()!.body as unknown as { [key: string]: unknown };

  test("§5 a text answer streams in pieces, then reports usage, then finishes", async () => {
    mock.onMessage("hello", {
      content: "Hi there, how are you today?",
      usage: { prompt_tokens: 5, completion_tokens: 7 },
    });
    const reply = await ask(port(), request([user("hello")]));
    expect(reply).toMatchObject({ text: "Hi there, how are you today?", finish: "stop", failure: undefined });
    expect(reply.usage).toMatchObject({ input: 5, output: 7 });
    expect(reply.chunks.filter((c) => c.type === "text").length).toBeGreaterThan(1);
    expect(reply.chunks.slice(-2).map((c) => c.type)).toEqual(["usage", "finish"]);
    expect(sent()).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test("§5 parallel tool calls come apart by key and keep the provider's ids", async () => {
    const toolCalls = [
      { id: "call_a", name: "read_file", arguments: '{"path":"a"}' },
      { id: "call_b", name: "read_file", arguments: '{"path":"b"}' },
    ];
    mock.onMessage("read", { toolCalls });
    const reply = await ask(port(), request([user("read")], { tools: [tool("read_file")] }));
    expect(reply.finish).toBe("tool-calls");
    expect(reply.calls).toEqual([
      { name: "read_file", text: '{"path":"a"}', wireId: "call_a" },
      { name: "read_file", text: '{"path":"b"}', wireId: "call_b" },
    ]);
  });

  test("G2 a tool name with dots is mapped on the wire and back", async () => {
    const wire = wireName("math.gcd");
    mock.onMessage("gcd", { toolCalls: [{ id: "c", name: wire, arguments: "{}" }] });
    const reply = await ask(port(), request([user("gcd")], { tools: [tool("math.gcd")] }));
    expect(reply.calls[0]?.name).toBe("math.gcd");
    expect(JSON.stringify(sent()["tools"])).toContain(`"name":"${wire}"`);
  });

  test("C7 a rate limit is a timeout with what the server asked to wait", async () => {
    mock.onMessage("hello", { error: { message: "Rate limit", type: "rate_limit_error" }, status: 429, retryAfter: 1 });
    const { failure, finish } = await ask(port(), request([user("hello")]));
    expect(failure).toMatchObject({ class: "timeout", status: 429, retryAfterMs: 1000 });
    expect(finish).toBeUndefined();
    expect(mock.getRequests().length).toBe(1);
  });

  test("§5 a server error is a timeout, asked once: retries are not the adapter's", async () => {
    mock.nextRequestError(500, { message: "boom", type: "server_error" });
    mock.onMessage("hello", { content: "Hi" });
    expect((await ask(port(), request([user("hello")]))).failure).toMatchObject({ class: "timeout", status: 500 });
    expect(mock.getRequests().length).toBe(1);
  });

  test("§5 an answer cut by length finishes with length", async () => {
    mock.onMessage("hello", { content: "Once upon a", finishReason: "length" });
    expect(await ask(port(), request([user("hello")]))).toMatchObject({ text: "Once upon a", finish: "length" });
  });

  test("C3 a stream that the server cuts off is retried, never a success", async () => {
    const content = "word ".repeat(200);
    mock.onMessage("hello", { content }, { truncateAfterChunks: 3 });
    const { failure, finish } = await ask(port(), request([user("hello")]));
    // Whether the first bytes still arrive is up to the socket: either class is retried.
    expect(failure && mayAskAgain(failure, 0, { retries: 1 })).toBe(true);
    expect(finish).toBeUndefined();
  });

  test.each([
    ["dropRate", "timeout"],
    ["malformedRate", "malformed"],
    ["rateLimitRate", "timeout"],
    ["disconnectRate", "timeout"],
  ])("§5 chaos (%s) gives a class that is retried", async (kind, expected) => {
    mock.onMessage("hello", { content: "Hi" });
    mock.setChaos({ [kind]: 1 });
    const { failure } = await ask(port(), request([user("hello")]));
    expect(failure?.class).toBe(expected);
  });

  test("§5 settings are sent under the provider's names", async () => {
    mock.onMessage("hello", { content: "Hi" });
    const settings = {
      maxOutputTokens: 50,
      temperature: 0,
      toolChoice: { name: "a.b" },
      parallelToolCalls: false,
      thinkingLevel: "low",
      extra: { seed: 7, temperature: 1 },
    } as const;
    await ask(port(), request([user("hello")], { tools: [tool("a.b")], settings }));
    expect(sent()).toMatchObject({
      max_tokens: 50,
      temperature: 1,
      tool_choice: { type: "function", function: { name: wireName("a.b") } },
      parallel_tool_calls: false,
      reasoning_effort: "low",
      seed: 7,
    });
    await ask(port(), request([user("hello")], { settings }));
    expect(sent()).not.toHaveProperty("tool_choice");
    expect(sent()).not.toHaveProperty("tools");
  });

  test("§12 the key is sent, and a server that needs none gets the word none", async () => {
    mock.onMessage("hello", { content: "Hi" });
    const seen: (string | null)[] = [];
    const spy: typeof globalThis.fetch = (url, init) => {
      seen.push(new Headers(init?.headers).get("authorization"));
      return globalThis.fetch(url, init);
    };
    await ask(port({ fetch: spy }), request([user("hello")]));
    await ask(openai({ model: "m", baseURL: `${mock.url}/v1`, fetch: spy }), request([user("hello")]));
    const fromEnvironment = process.env["OPENAI_API_KEY"];
    expect(seen).toEqual(["Bearer mock-key-123456", `Bearer ${fromEnvironment ?? "none"}`]);
  });
});

describe("options", () => {
  const wrong: [unknown, string][] = [
    [{}, "model"],
    [{ model: "m", apiKey: "k", maxRetries: 3 }, "maxRetries"],
    [{ model: "m", apiKey: "k", baseURL: "localhost" }, "baseURL"],
    [{ model: "m", apiKey: "k", window: -1 }, "window"],
    [{ model: "m", apiKey: "k", prices: { input: 1 } }, "prices.output"],
    [{ model: "m", apiKey: "k", api: "completions" }, "api"],
    [{ model: "m", apiKey: "k", settings: { temprature: 1 } }, "temprature"],
  ];
  test.each(wrong)("§12 %j is refused with its path", (options, path) => {
    expect(() => openai(options as OpenAIOptions)).toThrow(
      expect.objectContaining({ code: "invalid_options", message: expect.stringContaining(path) }),
    );
  });

  test("§12 no key and no other server is refused with what to do", () => {
    const env = { key: process.env["OPENAI_API_KEY"], url: process.env["OPENAI_BASE_URL"] };
    delete process.env["OPENAI_API_KEY"];
    delete process.env["OPENAI_BASE_URL"];
    try {
      expect(() => openai({ model: "gpt-5.2" })).toThrow(/OPENAI_API_KEY/);
    } finally {
      if (env.key !== undefined) process.env["OPENAI_API_KEY"] = env.key;
      if (env.url !== undefined) process.env["OPENAI_BASE_URL"] = env.url;
    }
  });

  test("§10 OpenAI's own models know their window and price, others only what they are told", () => {
    const official = { apiKey: "k", baseURL: "https://api.openai.com/v1" };
    expect(openai({ model: "gpt-5.2-2025-12-11", ...official })).toMatchObject({ priced: true, window: 272_000 });
    expect(openai({ model: "gpt-99", ...official }).priced).toBe(false);
    const elsewhere = openai({ model: "gpt-5.2", baseURL: "http://localhost:1/v1", window: 9 });
    expect(elsewhere).toMatchObject({ id: "localhost/gpt-5.2", priced: false, window: 9 });
    expect(openai({ model: "m", baseURL: "http://localhost:1", prices: { input: 1, output: 2 } }).priced).toBe(true);
  });
});

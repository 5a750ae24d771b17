/** What every model adapter promises, as tests over real HTTP. An adapter's own test file calls {@link modelContract}. */
import { LLMock } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { wireName } from "../../src/adapters/model/tool-names.ts";
import { callsOf, type AssistantMessage, type AssistantPart, type Message } from "../../src/core/message.ts";
import type { ToolMessage } from "../../src/core/message.ts";
import type { FailureClass } from "../../src/core/failure.ts";
import type { ModelPort, ModelRequest } from "../../src/ports.ts";
import { Answer } from "../../src/effects/answer.ts";
import { ask, request, tool, user, type Reply } from "./chat-fixture.ts";
import type { Dialect } from "./model-dialects.ts";
import { RawServer } from "./raw-server.ts";

/** What {@link modelContract} is given. */
export type ModelUnderTest = {
  /** A port to a server at this address, without a path, that holds this key. */
  make: (server: { url: string; key: string }) => ModelPort;
  dialect: Dialect;
  /** Pieces of the dialect's signed answer that must be in the next request, byte for byte. Absent: it keeps nothing. */
  returns?: string[];
  /** Whether reasoning is shown at all. Default: true. */
  thinks?: boolean;
  /** Whether errors inside a stream can be told apart. Default: true. */
  errorsInStream?: boolean;
};

/** No real key; nothing an adapter says may show it or a large part of it. */
const KEY = "canary-7f3a9c51e2b84d60";
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Registers the whole contract as tests. */
export function modelContract(name: string, it: ModelUnderTest): void {
  const mock = new LLMock({ port: 0 });
  const raw = new RawServer();
  const replies: Reply[] = [];
  const asked = async (port: ModelPort, what: ModelRequest, options?: Parameters<typeof ask>[2]) => {
    const reply = await ask(port, what, options);
    replies.push(reply);
    return reply;
  };
  const mocked = (what: ModelRequest) => asked(it.make({ url: mock.url, key: KEY }), what);
  const port = () => it.make({ url: raw.url, key: KEY });
  const context: Context = { it, mock, raw, asked, mocked, port };

  describe(`${name} keeps the contract of a model port`, () => {
    beforeAll(() => Promise.all([mock.start(), raw.start()]));
    afterAll(() => Promise.all([mock.stop(), raw.stop()]));
    afterEach(() => {
      mock.clearFixtures();
      mock.clearRequests();
      raw.clear();
      // Keys are in nothing that was said, and nothing comes after the end.
      for (const { chunks } of replies.splice(0)) {
        expect(JSON.stringify(chunks)).not.toContain(KEY.slice(7));
        expect(chunks.filter((c) => c.type === "finish" || c.type === "failed")).toEqual([chunks.at(-1)]);
      }
    });
    answers(context);
    failures(context);
    breaks(context);
    requests(context);
  });
}

type Context = {
  it: ModelUnderTest;
  mock: LLMock;
  raw: RawServer;
  asked: (port: ModelPort, what: ModelRequest, options?: Parameters<typeof ask>[2]) => Promise<Reply>;
  mocked: (what: ModelRequest) => Promise<Reply>;
  port: () => ModelPort;
};

const hi = request([user("hello")]);

/** The message that the runtime makes of a reply. */
function messageOf(reply: Reply, id = "a1"): AssistantMessage {
  const answer = new Answer(1, 1, { live: () => undefined, isWatched: false });
  for (const c of reply.chunks)
    if (c.type === "text" || c.type === "thinking" || c.type === "tool-call") answer.take(c);
  return { ...answer.finish(), id };
}

function answers({ it, mock, mocked, raw, asked, port }: Context): void {
  test("§5 a text answer streams in pieces, then reports usage, then finishes", async () => {
    // Each provider has its own words for what it counts.
    const usage = { prompt_tokens: 7, completion_tokens: 5, input_tokens: 7, output_tokens: 5 };
    mock.onMessage("hello", {
      content: "Hi there, how are you today? I am well, thank you.",
      usage: { ...usage, promptTokenCount: 7, candidatesTokenCount: 5 },
    });
    const reply = await mocked(hi);
    expect(reply).toMatchObject({ text: "Hi there, how are you today? I am well, thank you.", finish: "stop" });
    expect(reply.chunks.filter((c) => c.type === "text").length).toBeGreaterThan(1);
    expect(reply.chunks.slice(-2).map((c) => c.type)).toEqual(["usage", "finish"]);
    expect(reply.usage).toMatchObject({ input: 7, output: 5 });
  });

  test("§10 what the provider does not say of usage is absent, not 0", async () => {
    mock.onMessage("hello", { content: "Hi" });
    const { usage } = await mocked(hi);
    expect(usage).not.toHaveProperty("cacheWrite");
    expect(usage).not.toHaveProperty("costUsd");
  });

  test.skipIf(it.thinks === false)("§5 thinking comes apart from the text, before it", async () => {
    mock.onMessage("hello", { content: "Four.", reasoning: "Two and two are four." });
    const reply = await mocked(request([user("hello")], { settings: { thinkingLevel: "low" } }));
    expect(reply).toMatchObject({ text: "Four.", thinking: "Two and two are four.", finish: "stop" });
    expect(messageOf(reply).parts.map((p) => p.type)).toEqual(["thinking", "text"]);
  });

  test("§5 parallel tool calls come apart, whole, in order, each with the id of the provider", async () => {
    mock.onMessage("read", {
      toolCalls: [
        { id: "call_a", name: "read_file", arguments: '{"path":"a.txt"}' },
        { id: "call_b", name: "read_file", arguments: '{"path":"b.txt"}' },
      ],
    });
    const reply = await mocked(request([user("read")], { tools: [tool("read_file")] }));
    expect(reply.finish).toBe("tool-calls");
    expect(reply.calls.map((c) => [c.name, JSON.parse(c.text)])).toEqual([
      ["read_file", { path: "a.txt" }],
      ["read_file", { path: "b.txt" }],
    ]);
    expect(new Set(reply.calls.map((c) => c.wireId)).size).toBe(2);
  });

  test("§5 a call without arguments has none, and is a call all the same", async () => {
    mock.onMessage("now", { toolCalls: [{ id: "call_a", name: "clock", arguments: "{}" }] });
    const reply = await mocked(request([user("now")], { tools: [tool("clock")] }));
    expect(reply.finish).toBe("tool-calls");
    expect(callsOf(messageOf(reply).parts)).toMatchObject([{ type: "tool-call", name: "clock", args: {} }]);
  });

  test("G2 a tool name with dots is mapped on the wire and back", async () => {
    const wire = wireName("math.gcd");
    mock.onMessage("gcd", { toolCalls: [{ id: "call_a", name: wire, arguments: '{"path":"x"}' }] });
    const reply = await mocked(request([user("gcd")], { tools: [tool("math.gcd")] }));
    expect(reply.calls[0]?.name).toBe("math.gcd");
    const sent = JSON.stringify(mock.getLastRequest()?.body);
    expect(sent).toContain(`"name":"${wire}"`);
    expect(sent).not.toContain('"name":"math.gcd"');
  });

  test("§5 an answer that is cut by its length says so", async () => {
    raw.will({ body: it.dialect.tooLong });
    expect(await asked(port(), hi)).toMatchObject({ text: "Once upon a", finish: "length", failure: undefined });
  });
}

function failures({ mock, mocked, raw, asked, port, it }: Context): void {
  const error = (message: string, type: string, status: number) => ({ error: { message, type }, status });
  const cases: [string, ReturnType<typeof error>, FailureClass][] = [
    ["a broken server", error("Internal error", "server_error", 500), "timeout"],
    ["an overloaded server", error("Overloaded", "overloaded_error", 529), "timeout"],
    ["a key that is refused", error(`Wrong key: ${KEY}`, "authentication_error", 401), "auth"],
    ["a model that does not exist", error("The model `m` does not exist", "not_found_error", 404), "fatal"],
    ["a request that is wrong", error("temperature is out of range", "invalid_request_error", 400), "fatal"],
    [
      "a prompt that is too long",
      error("prompt is too long: 250000 tokens > 200000 maximum", "invalid_request_error", 400),
      "overflow",
    ],
  ];
  test.each(cases)("§5 %s has its class", async (_, response, expected) => {
    mock.onMessage("hello", response);
    const { failure } = await mocked(hi);
    expect(failure).toMatchObject({ class: expected, status: response.status });
    expect(failure?.message).toMatch(/^\S.*[^ ]$/);
  });

  test("C7 a rate limit is a timeout with what the server asked to wait", async () => {
    mock.onMessage("hello", { ...error("Rate limit", "rate_limit_error", 429), retryAfter: 2 });
    expect((await mocked(hi)).failure).toMatchObject({ class: "timeout", status: 429, retryAfterMs: 2000 });
  });

  test("§5 an answer that the content filter stops is refused, with what was said so far", async () => {
    raw.will({ body: it.dialect.refused });
    expect(await asked(port(), hi)).toMatchObject({ text: "I", failure: { class: "refused" } });
  });

  test.skipIf(it.errorsInStream === false)("C5 an error inside a stream has its class", async () => {
    raw.will({ body: it.dialect.begun("Hel") + it.dialect.overloaded });
    expect(await asked(port(), hi)).toMatchObject({ text: "Hel", failure: { class: "timeout" } });
  });

  test("§5 an error as the first thing in a stream has its class", async () => {
    raw.will({ body: it.dialect.overloaded });
    expect((await asked(port(), hi)).failure?.class).toBe("timeout");
  });

  test("§5 a request that fails is sent once: retries are the runtime's", async () => {
    raw.will({
      status: 503,
      body: '{"error":{"message":"Unavailable"}}',
      headers: { "content-type": "application/json" },
    });
    expect((await asked(port(), hi)).failure).toMatchObject({ class: "timeout", status: 503 });
    expect(raw.bodies.length).toBe(1);
  });

  test("§5 a server that is not there is a timeout", async () => {
    const nobody = it.make({ url: "http://127.0.0.1:1", key: KEY });
    expect((await asked(nobody, hi)).failure).toMatchObject({
      class: "timeout",
      message: expect.stringContaining("reach"),
    });
  });
}

function breaks({ raw, asked, port, it }: Context): void {
  const { begun } = it.dialect;
  test("C3 a clean end of stream without a finish reason is malformed", async () => {
    raw.will({ body: begun("Hel") });
    expect(await asked(port(), hi)).toMatchObject({ text: "Hel", failure: { class: "malformed" } });
  });

  test("C3 a stream with nothing in it is malformed", async () => {
    raw.will({ body: "" });
    expect((await asked(port(), hi)).failure?.class).toBe("malformed");
  });

  test("§5 a connection that is cut in the middle of the answer is malformed", async () => {
    raw.will({ body: begun("Hel"), end: "cut" });
    expect((await asked(port(), hi)).failure?.class).toBe("malformed");
  });

  test("§5 a line that is not JSON is malformed", async () => {
    raw.will({ body: `${begun("Hel")}data: {"half":\n\n` });
    expect(await asked(port(), hi)).toMatchObject({ text: "Hel", failure: { class: "malformed" } });
  });

  test("§5 a first line that is not JSON is malformed", async () => {
    raw.will({ body: 'data: {"half":\n\n' });
    expect((await asked(port(), hi)).failure?.class).toBe("malformed");
  });

  test("C5 a web page with status 200 is malformed and says so", async () => {
    const headers = { "content-type": "text/html; charset=utf-8" };
    raw.will({ body: "<!doctype html><html><body>Sign in</body></html>", headers });
    expect((await asked(port(), hi)).failure).toMatchObject({
      class: "malformed",
      message: expect.stringMatching(/web page.*baseURL/),
    });
  });

  test("C4 a body that stalls ends soon after the abort, and leaves no connection open", async () => {
    raw.will({ body: begun("Hel"), end: "stall" });
    const abort = new AbortController();
    const reply = await asked(port(), hi, {
      signal: abort.signal,
      onChunk: (chunk) => chunk.type === "text" && chunk.delta !== "" && abort.abort(),
    });
    expect(reply).toMatchObject({ text: "Hel", failure: { class: "cancelled" } });
    await raw.quiet();
  });

  test("§5 a reader that goes away ends the connection", async () => {
    raw.will({ body: begun("Hel"), end: "stall" });
    for await (const chunk of port().stream(hi, { signal: new AbortController().signal }))
      if (chunk.type === "text" && chunk.delta !== "") break;
    await raw.quiet();
  });

  test("§5 a request that is aborted before it is sent sends nothing", async () => {
    const reply = await asked(port(), hi, { signal: AbortSignal.abort() });
    expect(reply.failure?.class).toBe("cancelled");
    expect(raw.bodies).toEqual([]);
  });
}

function requests({ raw, asked, port, it }: Context): void {
  const { answer, messages } = it.dialect;
  const ok = { body: answer("Hi") };
  const said = (id: string, ...parts: AssistantPart[]): AssistantMessage => ({ id, role: "assistant", parts });
  const sent = async (model: ModelPort, what: ModelRequest) => {
    raw.will(ok);
    expect((await asked(model, what)).failure).toBeUndefined();
    return raw.bodies.at(-1)!;
  };
  const call = (id: string): AssistantPart => ({
    type: "tool-call",
    callId: id,
    wireId: `wire_${id}`,
    name: "read.file",
    args: { path: id },
  });
  const results = (id: string, output: ToolMessage["parts"][number]["output"], ...calls: string[]): ToolMessage => ({
    id,
    role: "tool",
    parts: calls.map((callId) => ({ type: "tool-result", callId, name: "read.file", status: "ok", output })),
  });
  const text = (value: string) => ({ type: "text" as const, text: value });

  test("§5 equal requests give equal bytes, also from another port, and each is a prefix of the next", async () => {
    const history: Message[] = [
      user("one"),
      said("a1", text("I read."), call("c1"), call("c2")),
      results("r1", [text("content")], "c1", "c2"),
      said("a2", text("Done.")),
      user("two", "u2"),
      said("a3", text("Again."), call("c3")),
      results("r2", [text("more")], "c3"),
      said("a4", text("Ready.")),
      user("three", "u3"),
    ];
    const tools = [tool("read.file")];
    const model = port();
    let last = "";
    for (const length of [1, 3, 5, 7, 9]) {
      const what = request(history.slice(0, length), { tools });
      const body = await sent(model, what);
      expect(await sent(model, what)).toBe(body);
      expect(await sent(port(), structuredClone(what))).toBe(body);
      const list = JSON.stringify(messages(body)).slice(0, -1);
      expect(list.startsWith(last)).toBe(true);
      last = list;
    }
    expect(last).toContain("wire_c1");
  });

  test("§5 an image of the user goes with the prompt", async () => {
    const image = { type: "image" as const, mediaType: "image/png", data: PNG };
    const looks: Message = { id: "u1", role: "user", kind: "prompt", parts: [text("what is this?"), image] };
    expect(await sent(port(), request([looks]))).toMatch(asMedia);
  });

  test("§5 an image that a tool returned goes as an image, not as text", async () => {
    const image = { type: "image" as const, mediaType: "image/png", data: PNG };
    const history = [user("look"), said("a1", call("c1")), results("r1", [text("here"), image], "c1")];
    const body = await sent(port(), request(history, { tools: [tool("read.file")] }));
    expect(body).toMatch(asMedia);
    expect(body).toContain("here");
  });

  test("C2 arguments that are no JSON go back as an object, so that the session stays usable", async () => {
    const broken: AssistantPart = { type: "tool-call", callId: "c1", name: "read.file", raw: '{"path":' };
    const history = [user("read"), said("a1", broken), results("r1", [text("no JSON")], "c1")];
    const body = await sent(port(), request(history, { tools: [tool("read.file")] }));
    expect(body).not.toContain('{\\"path\\":');
  });

  test.skipIf(!it.dialect.signed)(
    "C6 what the provider wants back goes back byte for byte, and only to it",
    async () => {
      raw.will({ body: it.dialect.signed! });
      const model = port();
      const reply = await asked(model, hi);
      expect(reply).toMatchObject({ text: "Yes", finish: "stop" });
      const message = messageOf(reply);
      const next = (m: AssistantMessage) => request([user("hello"), m, user("go on", "u2")]);
      const body = await sent(model, next(message));
      for (const piece of it.returns ?? []) expect(body).toContain(piece);
      // A journal gives the same bytes.
      expect(await sent(port(), next(JSON.parse(JSON.stringify(message)) as AssistantMessage))).toBe(body);

      const foreign: AssistantMessage = {
        ...message,
        parts: message.parts.map((p) => (p.opaque ? { ...p, opaque: { ...p.opaque, provider: "somebody-else" } } : p)),
      };
      const other = await sent(model, next(foreign));
      for (const piece of it.returns ?? []) expect(other).not.toContain(piece);
      expect(other).toContain("Yes");
    },
  );
}

/** The image as bytes of a part, not inside a text that holds JSON. */
const asMedia = new RegExp(`(base64,|"data":")${PNG.replaceAll("+", "\\+")}`);

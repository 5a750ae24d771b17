/** What is special about the Responses API; what all adapters promise is in the contract. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { isStrict } from "../../src/adapters/model/output-format.ts";
import { chatThinking } from "../../src/adapters/model/thinking-levels.ts";
import type { Json, Message, ToolResultPart } from "../../src/core/message.ts";
import { Answer } from "../../src/effects/answer.ts";
import { createAgent, defineMiddleware, tool as makeTool } from "../../src/index.ts";
import { openai, type OpenAIOptions } from "../../src/openai.ts";
import { z } from "zod";
import { ask, request, tool, user, type Reply } from "./chat-fixture.ts";
import { chat, responses } from "./model-dialects.ts";
import { RawServer } from "./raw-server.ts";

const server = new RawServer();
beforeAll(() => server.start());
afterAll(() => server.stop());
afterEach(() => server.clear());

const port = (more: Partial<OpenAIOptions> = {}) =>
  openai({ api: "responses", model: "gpt-5.2", baseURL: `${server.url}/v1`, apiKey: "mock-key-123456", ...more });
type Body = { [field: string]: Json } & { input: { [field: string]: Json }[] };
const sent = (at = -1) => JSON.parse(server.bodies.at(at)!) as Body;

const events = (...list: object[]) => list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const created = { type: "response.created", response: { id: "r", model: "gpt-5.2" } };
const completed = {
  type: "response.completed",
  response: { model: "gpt-5.2", usage: { input_tokens: 3, output_tokens: 2 } },
};
const done = (place: number, item: object) => ({ type: "response.output_item.done", output_index: place, item });
const said = (text: string, more: object = {}) => ({
  type: "message",
  content: [{ type: "output_text", text }],
  ...more,
});

/** The message that a reply becomes. */
function messageOf(reply: Reply): Message {
  const answer = new Answer(1, 1, { isWatched: false, live: () => {} });
  for (const c of reply.chunks)
    if (c.type === "text" || c.type === "thinking" || c.type === "tool-call") answer.take(c);
  return answer.finish();
}
/** What goes back of an answer with these items. */
async function returned(...items: object[]): Promise<Body["input"]> {
  server.will(
    { body: events(created, ...items.map((item, i) => done(i, item)), completed) },
    { body: responses.answer("ok") },
  );
  const model = port();
  const reply = await ask(model, request([user("hi")], { tools: [tool("look")] }));
  await ask(model, request([user("hi"), messageOf(reply), user("and?", "u2")]));
  return sent().input.slice(1, -1);
}

describe("items go back", () => {
  test("C6 reasoning byte for byte before what came of it, with the call it led to", async () => {
    const reasoning = {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "hm" }],
      encrypted_content: "b3=",
    };
    const call = {
      type: "function_call",
      id: "fc_1",
      call_id: "call_1",
      name: "look",
      arguments: '{"path":"a"}',
      status: "completed",
    };
    expect(await returned(reasoning, call)).toEqual([
      reasoning,
      { type: "function_call", call_id: "call_1", name: "look", arguments: '{"path":"a"}' },
    ]);
  });

  test("the phase of a message, the caller of a call, and what the provider did for itself", async () => {
    const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } };
    const call = {
      type: "function_call",
      call_id: "c",
      name: "look",
      arguments: "{}",
      caller: { type: "program", caller_id: "p" },
    };
    expect(await returned(search, said("so far", { phase: "commentary", id: "m1" }), call)).toEqual([
      search,
      expect.objectContaining({
        role: "assistant",
        phase: "commentary",
        content: [expect.objectContaining({ text: "so far" })],
      }),
      {
        type: "function_call",
        call_id: "c",
        name: "look",
        arguments: "{}",
        caller: { type: "program", caller_id: "p" },
      },
    ]);
  });

  test("a custom tool's call as one, with its input as it was; its output answers it", async () => {
    const item = { type: "custom_tool_call", call_id: "c1", name: "look", input: "SELECT 'a'" };
    server.will({ body: events(created, done(0, item), completed) }, { body: responses.answer("ok") });
    const model = port();
    const message = messageOf(await ask(model, request([user("hi")], { tools: [tool("look")] })));
    const [call] = message.parts;
    expect(call).toMatchObject({ type: "tool-call", name: "look", args: { input: "SELECT 'a'" } });
    const result: ToolResultPart = {
      type: "tool-result",
      callId: "call_1_1_0",
      name: "look",
      status: "ok",
      output: [{ type: "text", text: "rows" }],
    };
    await ask(model, request([user("hi"), message, { id: "t", role: "tool", parts: [result] }]));
    expect(sent().input.slice(1)).toEqual([
      { type: "custom_tool_call", call_id: "c1", name: "look", input: "SELECT 'a'" },
      { type: "custom_tool_call_output", call_id: "c1", output: "rows" },
    ]);
  });

  test("reasoning that nothing came of is left out, and so is all of another host", async () => {
    const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "b3=" };
    expect(await returned(said("half"), reasoning)).toEqual([expect.objectContaining({ role: "assistant" })]);
    server.will(
      { body: events(created, done(0, reasoning), done(1, said("yes")), completed) },
      { body: responses.answer("ok") },
    );
    const message = messageOf(await ask(port(), request([user("hi")])));
    await ask(port({ baseURL: server.url.replace("127.0.0.1", "localhost") + "/v1" }), request([user("hi"), message]));
    expect(sent().input.map((item) => item["type"] ?? item["role"])).toEqual(["user", "message"]);
  });
});

describe("endings", () => {
  const ends = async (...list: object[]) => {
    server.will({ body: events(created, ...list) });
    return ask(port(), request([user("hi")], { tools: [tool("look")] }));
  };
  test.each([
    ["server_error", "timeout"],
    ["rate_limit_exceeded", "timeout"],
    ["context_length_exceeded", "overflow"],
    ["invalid_prompt", "malformed"],
  ])("§5 a response that failed has its class: %s is %s", async (code, kind) => {
    const { failure } = await ends({ type: "response.failed", response: { error: { code, message: "no" } } });
    expect(failure?.class).toBe(kind);
  });

  test("§5 an answer cut by its length says so, one stopped by the filter is refused", async () => {
    const incomplete = (reason: string) => ({
      type: "response.incomplete",
      response: { incomplete_details: { reason } },
    });
    expect((await ends(done(0, said("half")), incomplete("max_output_tokens"))).finish).toBe("length");
    expect((await ends(done(0, said("half")), incomplete("content_filter"))).failure?.class).toBe("refused");
  });

  test("C3 an end without response.completed is malformed, whatever was whole before", async () => {
    expect((await ends(done(0, said("whole")))).failure?.class).toBe("malformed");
    expect((await ends()).failure?.class).toBe("malformed");
  });

  test("§5 a call that the client would have to do for the provider is a failure that says which", async () => {
    const { failure } = await ends(done(0, { type: "shell_call", call_id: "c" }), completed);
    expect(failure).toMatchObject({ class: "fatal", message: expect.stringContaining("shell_call") });
    const both = await ends(
      done(0, { type: "shell_call", call_id: "c" }),
      done(1, { type: "shell_call_output", call_id: "c" }),
      completed,
    );
    expect(both.finish).toBe("stop");
  });

  test("A6 calls that share an id or an item id are two calls", async () => {
    const call = { type: "function_call", id: "fc", call_id: "same", name: "look", arguments: '{"path":"a"}' };
    const { calls } = await ends(done(0, call), done(1, { ...call, arguments: '{"path":"b"}' }), completed);
    expect(calls.map((c) => c.text)).toEqual(['{"path":"a"}', '{"path":"b"}']);
  });

  test("§12 an unknown model is fatal, once, with what to check", async () => {
    server.will({
      status: 404,
      body: JSON.stringify({ error: { message: "The model `gpt-9` does not exist", code: "model_not_found" } }),
      headers: { "content-type": "application/json" },
    });
    const { failure } = await ask(port({ model: "gpt-9" }), request([user("hi")]));
    expect(failure).toMatchObject({ class: "fatal", message: expect.stringMatching(/gpt-9.*Check model and baseURL/) });
  });
});

describe("requests", () => {
  test("§5 nothing is kept by the provider, and reasoning comes encrypted where there can be any", async () => {
    server.will({ body: responses.answer("ok") }, { body: responses.answer("ok") });
    await ask(port(), request([user("hi")]));
    expect(sent()).toMatchObject({
      store: false,
      include: ["reasoning.encrypted_content"],
      instructions: "Be brief.",
      stream: true,
    });
    await ask(port({ model: "gpt-4o" }), request([user("hi")], { instructions: "" }));
    expect(sent()).not.toHaveProperty("include");
    expect(sent()).not.toHaveProperty("instructions");
  });

  test("§1 settings of the model are replaced by those of the request, field by field; extra wins over all", async () => {
    server.will({ body: responses.answer("ok") });
    const model = port({ settings: { temperature: 0.5, maxOutputTokens: 10, thinkingLevel: "low" } });
    const settings = {
      maxOutputTokens: 20,
      toolChoice: { name: "my.look" },
      parallelToolCalls: false,
      extra: { store: true, user: "u" },
    };
    await ask(model, request([user("hi")], { tools: [tool("my.look")], settings }));
    const { temperature, max_output_tokens, reasoning, tool_choice, parallel_tool_calls, store, user: who } = sent();
    expect([temperature, max_output_tokens, reasoning, parallel_tool_calls, store, who]).toEqual([
      0.5,
      20,
      { effort: "low", summary: "auto" },
      false,
      true,
      "u",
    ]);
    expect(tool_choice).toEqual({ type: "function", name: (sent()["tools"] as { name: string }[])[0]!.name });
  });

  test("an output schema goes where each API wants it, strict when it can be", async () => {
    const schema = {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
      additionalProperties: false,
    };
    server.will({ body: responses.answer("{}") }, { body: chat.answer("{}") });
    await ask(port(), request([user("hi")], { output: { name: "answer", schema } }));
    expect(sent()["text"]).toEqual({ format: { type: "json_schema", name: "answer", schema, strict: true } });
    await ask(port({ api: "chat" }), request([user("hi")], { output: { name: "answer", schema: { type: "object" } } }));
    expect(sent()["response_format"]).toEqual({
      type: "json_schema",
      json_schema: { name: "answer", schema: { type: "object" }, strict: false },
    });
    expect([port().structured, port({ structured: true }).structured]).toEqual([false, true]);
  });

  test("a schema that the provider refuses is fatal and says why", async () => {
    const message = "Invalid schema for response_format 'answer': schema must have type 'object'.";
    server.will({
      status: 400,
      body: JSON.stringify({ error: { message, type: "invalid_request_error" } }),
      headers: { "content-type": "application/json" },
    });
    const { failure } = await ask(port(), request([user("hi")], { output: { name: "answer", schema: {} } }));
    expect(failure).toMatchObject({ class: "fatal", message: expect.stringContaining(message.slice(0, -1)) });
  });

  test.each([
    ["api.openai.com", { reasoning_effort: "high" }, { reasoning_effort: "none" }],
    ["openrouter.ai", { reasoning: { effort: "high" } }, { reasoning: { enabled: false } }],
    ["api.deepseek.com", { thinking: { type: "enabled" } }, { thinking: { type: "disabled" } }],
    ["dashscope.aliyuncs.com", { enable_thinking: true }, { enable_thinking: false }],
  ])("§5 a thinking level is said in the words of %s", (host, high, off) => {
    expect([chatThinking("high", host), chatThinking("off", host)]).toEqual([high, off]);
  });

  test.each([
    [{ type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false }, true],
    [{ type: "object", properties: { a: { type: "string" } }, additionalProperties: false }, false],
    [{ type: "object", properties: {}, required: [] }, false],
    [
      {
        type: "object",
        properties: { a: { type: "array", items: { type: "object" } } },
        required: ["a"],
        additionalProperties: false,
      },
      false,
    ],
    [
      {
        type: "object",
        properties: { a: { type: "string", minLength: 1 } },
        required: ["a"],
        additionalProperties: false,
      },
      false,
    ],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, true],
  ])("whether a schema can be enforced to the letter: %j → %j", (schema, strict) => {
    expect(isStrict(schema)).toBe(strict);
  });
});

describe.each(["chat", "responses"] as const)("a session over %s", (api) => {
  const call = (id: string, path: string) =>
    api === "responses"
      ? events(
          created,
          done(0, { type: "reasoning", id: `rs_${id}`, summary: [], encrypted_content: "x=" }),
          done(1, { type: "function_call", call_id: id, name: "look", arguments: JSON.stringify({ path }) }),
          completed,
        )
      : events(
          {
            choices: [
              {
                delta: {
                  tool_calls: [{ index: 0, id, function: { name: "look", arguments: JSON.stringify({ path }) } }],
                },
              },
            ],
          },
          { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
        );
  const dialect = api === "chat" ? chat : responses;

  test.each([
    ["without", []],
    ["with", [defineMiddleware({ name: "words", contribute: () => "Today is a day." })]],
  ] as const)(
    "§5 each request's messages and tools are a byte prefix of the next one's, %s middleware",
    async (_, middleware) => {
      server.will(
        { body: call("c1", "a") },
        { body: call("c2", "b") },
        { body: dialect.answer("one") },
        { body: dialect.answer("two") },
      );
      const look = makeTool({
        description: "Looks.",
        input: z.object({ path: z.string() }),
        readOnly: true,
        execute: ({ path }) => `seen ${path}`,
      });
      const agent = createAgent({
        model: port({ api }),
        tools: { look },
        middleware: [...middleware],
        instructions: "Be brief.",
      });
      const session = await agent.createSession();
      await session.run("go").unwrap();
      await session.run("and?").unwrap();
      const bodies = server.bodies.map((body) => JSON.parse(body) as { messages?: Json; input?: Json; tools: Json });
      expect(bodies).toHaveLength(4);
      for (const [i, body] of bodies.entries()) {
        const before = bodies[i - 1];
        if (!before) continue;
        const [now, then] = [body, before].map((b) => JSON.stringify(b.messages ?? b.input)) as [string, string];
        expect(now.startsWith(then.slice(0, -1))).toBe(true);
        expect(JSON.stringify(body.tools)).toBe(JSON.stringify(before.tools));
      }
    },
  );
});

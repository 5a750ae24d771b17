/** Whole sessions over models of the AI SDK: the real provider packages, over real HTTP, against a mock of the providers. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { fromAiSdk } from "../../src/ai-sdk.ts";
import { createAgent, tool, type ModelPort } from "../../src/index.ts";

const mock = new LLMock({ port: 0 });
beforeAll(() => mock.start());
afterAll(() => mock.stop());
afterEach(() => {
  mock.clearFixtures();
  mock.clearRequests();
  sent.length = 0;
});

/** Bodies as they went out, oldest first. */
const sent: string[] = [];
const recording: typeof fetch = (url, init) => {
  sent.push(String(init?.body));
  return fetch(url, init);
};
const warnings: string[] = [];
const logger = { warn: (message: string) => warnings.push(message) };
const shared = { apiKey: "mock-key-123456", fetch: recording };

const models: Record<string, () => ModelPort> = {
  openai: () =>
    fromAiSdk(createOpenAI({ ...shared, baseURL: `${mock.url}/v1` }).responses("gpt-5.2"), {
      logger,
    }),
  anthropic: () =>
    fromAiSdk(createAnthropic({ ...shared, baseURL: `${mock.url}/v1` })("claude-sonnet-4-5"), { logger }),
  google: () =>
    fromAiSdk(createGoogle({ ...shared, baseURL: `${mock.url}/v1beta` })("gemini-3-pro-preview"), { logger }),
};

const ran: string[] = [];
const path = z.object({ path: z.string() });
const tools = {
  "files.look": tool({
    description: "Looks at a file",
    input: path,
    readOnly: true,
    execute: (args) => `seen ${args.path}`,
  }),
  write: tool({
    description: "Writes a file",
    input: path,
    execute: (args) => {
      ran.push(args.path);
      return `written ${args.path}`;
    },
  }),
};
const lookAndWrite = [
  { id: "call_look", name: "", arguments: '{"path":"a.txt"}' },
  { id: "call_write", name: "write", arguments: '{"path":"b.txt"}' },
];

/** The model looks and writes at once, then says it is done. */
async function plan(word: string, thinking: object): Promise<void> {
  const { wireName } = await import("../../src/adapters/model/tool-names.ts");
  const toolCalls = lookAndWrite.map((c) => (c.name === "" ? { ...c, name: wireName("files.look") } : c));
  mock.on({ userMessage: word, hasToolResult: false }, { toolCalls, ...thinking });
  mock.on({ userMessage: word, hasToolResult: true }, { content: `Done with ${word}.` });
}
const resultsOf = (messages: { role: string; parts: object[] }[]) =>
  messages.filter((m) => m.role === "tool").flatMap((m) => m.parts.map((p) => (p as { status: string }).status));

describe("a session over a model of the AI SDK", () => {
  test.each(Object.keys(models))("%s calls two tools at once, one after an approval, and answers", async (name) => {
    await plan("tidy", { reasoning: "First I look." });
    const asked: string[] = [];
    const agent = createAgent({ model: models[name]!(), tools, logger });
    const session = await agent.createSession();
    const result = await session
      .run("tidy", {
        thinkingLevel: "low",
        approve: async (requests) => {
          asked.push(...requests.map((r) => `${r.name} ${JSON.stringify(r.args)}`));
          return requests.map((r) => ({ callId: r.callId, decision: "allow" as const }));
        },
      })
      .unwrap();
    expect(result).toMatchObject({ status: "completed", text: "Done with tidy.", turns: 2 });
    expect(asked).toEqual(['write {"path":"b.txt"}']);
    expect(ran.splice(0)).toEqual(["b.txt"]);
    expect(resultsOf(session.messages())).toEqual(["ok", "ok"]);
    // The provider's ids come back to it, with the results.
    expect(sent[1]).toContain("seen a.txt");
    expect(sent[1]).toContain("call_write");
    await agent.close();
  });

  test("a conversation moves from provider to provider, and what one signed reaches no other", async () => {
    await plan("one", { reasoning: "I am Claude.", reasoningSignature: "c2lnbmVkLWJ5LWFudGhyb3BpYw==" });
    await plan("two", { reasoning: "I am Gemini." });
    await plan("three", { reasoning: "I am GPT." });
    await plan("four", { reasoning: "I am Claude again.", reasoningSignature: "YWdhaW4=" });
    const agent = createAgent({ model: models["anthropic"]!(), tools, defaults: { approve: "allow" }, logger });
    const session = await agent.createSession();
    const anthropic = models["anthropic"]!();
    const turns: [string, ModelPort][] = [
      ["one", anthropic],
      ["two", models["google"]!()],
      ["three", models["openai"]!()],
      ["four", anthropic],
    ];
    const bodies: Record<string, string> = {};
    for (const [word, model] of turns) {
      sent.length = 0;
      const result = await session.run(word, { model, thinkingLevel: "low" }).unwrap();
      expect(result).toMatchObject({ status: "completed", text: `Done with ${word}.`, turns: 2 });
      expect(sent.length).toBe(2);
      bodies[word] = sent.join("\n");
    }
    expect(bodies["one"]).toContain("c2lnbmVkLWJ5LWFudGhyb3BpYw==");
    for (const word of ["two", "three"]) {
      expect(bodies[word]).not.toContain("c2lnbmVkLWJ5LWFudGhyb3BpYw==");
      expect(bodies[word]).not.toContain("I am Claude.");
      expect(bodies[word]).toContain("seen a.txt");
    }
    expect(bodies["three"]).toMatch(/"type":"reasoning","id":"rs-[^"]*","encrypted_content":"[^"]/);
    // Nothing is left with a provider that the journal does not have.
    expect(bodies["three"]).not.toContain("item_reference");
    expect(bodies["four"]).toContain("c2lnbmVkLWJ5LWFudGhyb3BpYw==");
    expect(bodies["four"]).not.toContain("I am Gemini.");
    expect(bodies["four"]).not.toMatch(/"rs-/);
    expect(ran.splice(0)).toEqual(["b.txt", "b.txt", "b.txt", "b.txt"]);
    await agent.close();
  });

  test("a provider that must think before it calls is not asked to, after the calls of another model", async () => {
    await plan("tidy", { reasoning: "I am GPT." });
    warnings.length = 0;
    const openai = models["openai"]!();
    const anthropic = models["anthropic"]!();
    // The first turn is one model's, all later ones are the other's.
    let turn = 0;
    const changing: ModelPort = { id: "changing", stream: (r, o) => (turn++ === 0 ? openai : anthropic).stream(r, o) };
    const agent = createAgent({ model: changing, tools, defaults: { approve: "allow" }, logger });
    const session = await agent.createSession();
    const result = await session.run("tidy", { thinkingLevel: "low" }).unwrap();
    expect(result).toMatchObject({ status: "completed", text: "Done with tidy." });
    expect(sent[0]).toContain('"effort":"low"');
    expect(sent[1]).not.toContain('"thinking"');
    expect(warnings.filter((w) => w.includes("thinkingLevel")).length).toBe(1);
    ran.length = 0;
    await agent.close();
  });
});

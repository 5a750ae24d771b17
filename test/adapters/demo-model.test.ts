/** The demo model, asked over HTTP through the chat adapter, with files in memory. */
import { fc, test as property } from "@fast-check/vitest";
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { demoAnswer, type DemoRequest } from "../../src/adapters/model/demo-rules.ts";
import { startDemoModel, type DemoServer } from "../../src/adapters/model/demo.ts";
import type { AssistantPart, Message, ResultStatus } from "../../src/core/message.ts";
import { openai } from "../../src/openai.ts";
import { ask, request, tool, user, type Reply } from "./chat-fixture.ts";

let demo: DemoServer;
beforeAll(async () => {
  demo = await startDemoModel();
});
afterAll(() => demo.close());
const model = () => openai({ model: demo.model, baseURL: demo.baseURL, apiKey: demo.apiKey });

const disk: { [path: string]: string } = {
  "README.md": "# Orchard\n\nCounts apples.\n",
  "src/apples.ts": `/** Apples and how they ripen. */\nexport function ripen() {}\n${"// more\n".repeat(40)}`,
  "src/pears.ts": `export class Pear {}\n${"// more\n".repeat(20)}`,
  "src/plums.ts": "export const plum = 1;\n",
  "docs/apples.md": "# On apples\n\nThey ripen in autumn.\n",
};
const names = ["list_files", "read_file", "run_command", "search_text", "write_file"];

type Result = { status: ResultStatus; text: string };
type Files = { [path: string]: string };

function act(files: Files, name: string, args: { [key: string]: string }): string {
  const paths = Object.keys(files).sort();
  const glob = args["glob"]?.replace("**/*", "");
  const wanted = glob === undefined ? paths : paths.filter((p) => p.endsWith(glob));
  if (name === "list_files") return wanted.map((p) => `${p}\t${files[p]!.length}`).join("\n");
  if (name === "search_text") {
    const pattern = new RegExp(args["pattern"]!);
    const hits = wanted.flatMap((p) => files[p]!.split("\n").map((line, i) => ({ p, line, n: i + 1 })));
    return hits.flatMap(({ p, line, n }) => (pattern.test(line) ? [`${p}:${n}: ${line}`] : [])).join("\n");
  }
  if (name === "run_command") return `ran ${args["command"]}`;
  const path = args["path"]!;
  if (name === "write_file") {
    files[path] = args["content"]!;
    return `Wrote ${path}.`;
  }
  const text = files[path];
  if (text === undefined) return `No such file: ${path}`;
  return text
    .split("\n")
    .map((line, i) => `${String(i + 1).padStart(4)}\t${line}`)
    .join("\n");
}

/** A small loop: asks, does what is asked for, asks again. */
async function converse(
  prompt: string,
  options: { tools?: string[]; files?: Files; meddle?: (name: string) => Result | undefined } = {},
) {
  const files = options.files ?? { ...disk };
  const tools = (options.tools ?? names).map(tool);
  const messages: Message[] = [user(prompt)];
  const turns: Reply[] = [];
  for (;;) {
    const reply = await ask(model(), request([...messages], { tools }));
    expect(reply.failure).toBeUndefined();
    turns.push(reply);
    const n = turns.length;
    expect(n).toBeLessThanOrEqual(6);
    const calls = reply.calls.map((c, i) => ({
      ...c,
      callId: `c${n}_${i}`,
      args: JSON.parse(c.text) as { [key: string]: string },
    }));
    expect(reply.finish).toBe(calls.length ? "tool-calls" : "stop");
    if (!calls.length) return { turns, files, text: reply.text, calls: turns.map((t) => t.calls.map((c) => c.name)) };
    const parts = calls.map((c): AssistantPart => ({
      type: "tool-call",
      callId: c.callId,
      name: c.name,
      args: c.args,
      wireId: c.wireId,
    }));
    messages.push({ id: `m${n}`, role: "assistant", parts });
    messages.push({
      id: `r${n}`,
      role: "tool",
      parts: calls.map((c) => {
        const { status, text } = options.meddle?.(c.name) ?? { status: "ok", text: act(files, c.name, c.args) };
        return { type: "tool-result", callId: c.callId, name: c.name, status, output: [{ type: "text", text }] };
      }),
    });
  }
}

describe("what it does", () => {
  test("it looks in two ways at once, reads the files a prompt means in parallel, writes what was asked for, and says so", async () => {
    const { calls, turns, files, text } = await converse(
      "Read the two longest TypeScript files and write a summary to notes.md",
    );
    expect(calls).toEqual([["search_text", "list_files"], ["read_file", "read_file"], ["write_file"], []]);
    expect(turns[1]!.calls.map((c) => c.text)).toEqual(['{"path":"src/apples.ts"}', '{"path":"src/pears.ts"}']);
    expect(files["notes.md"]).toMatch(/ripen[\s\S]*Pear/);
    expect(text).toMatch(/src\/apples\.ts[\s\S]*src\/pears\.ts[\s\S]*I wrote notes\.md[\s\S]*not an LLM/);
  });

  test("it finds what a question is about by its words", async () => {
    const { turns, text } = await converse("How do apples ripen?");
    expect(turns[1]!.calls.map((c) => JSON.parse(c.text).path)).toEqual(["docs/apples.md", "src/apples.ts"]);
    expect(text).toContain("On apples");
  });

  test("it reads the files that a prompt names", async () => {
    const { turns } = await converse("Compare src/plums.ts with README.md");
    expect(turns[1]!.calls.map((c) => JSON.parse(c.text).path)).toEqual(["src/plums.ts", "README.md"]);
  });

  test("it keeps to the folder that a prompt names", async () => {
    const { turns } = await converse("What do the files under docs say about apples?");
    expect(turns[1]!.calls.map((c) => JSON.parse(c.text).path)).toEqual(["docs/apples.md"]);
  });

  test("it runs a command in backticks", async () => {
    const { calls, text } = await converse("Please run `npm test` and tell me the result");
    expect(calls).toEqual([["run_command"], []]);
    expect(text).toContain("ran npm test");
  });

  test("it answers straight when it has no tools, or nothing to look for", async () => {
    for (const tools of [[], names]) {
      const { turns, text } = await converse("Hello there!", { tools });
      expect(turns.length).toBe(1);
      expect(text).toContain("not an LLM");
    }
  });

  test("it goes on without the tools it was not given", async () => {
    const { calls, text } = await converse("Write about apples to notes.md", { tools: ["list_files", "read_file"] });
    expect(calls).toEqual([["list_files"], ["read_file", "read_file"], []]);
    expect(text).toContain("I did not write notes.md");
  });

  test("it stops at a denial and says what was not allowed", async () => {
    const denied: Result = { status: "denied", text: "Tool call denied by user. Not today." };
    const { calls, files, text } = await converse("Write about apples to notes.md", {
      meddle: (name) => (name === "write_file" ? denied : undefined),
    });
    expect(calls.at(-2)).toEqual(["write_file"]);
    expect(files["notes.md"]).toBeUndefined();
    expect(text).toMatch(/Write_file of notes\.md was not allowed.*Not today/);
    expect(text).not.toContain("I wrote");
  });

  test("it says what did not work and goes on with the rest", async () => {
    const { text } = await converse("Compare README.md with missing.txt");
    expect(text).toMatch(/Read_file of missing\.txt did not work: No such file/);
    expect(text).toContain("README.md (4 lines): Orchard");
  });

  test("it takes steering as a new prompt and starts anew", async () => {
    const steering: Message = {
      ...user("[user_steering]\nHow do pears grow?\n[/user_steering]", "u2"),
      kind: "steering",
    };
    const call: AssistantPart = { type: "tool-call", callId: "c", name: "list_files", args: {} };
    const reply = await ask(
      model(),
      request(
        [user("apples?"), { id: "m", role: "assistant", parts: [call] }, result("c", "src/pears.ts\t9"), steering],
        {
          tools: names.map(tool),
        },
      ),
    );
    expect(JSON.parse(reply.calls[0]!.text).pattern).toContain("[Pp][Ee][Aa][Rr][Ss]");
  });

  test("it answers a request for a summary in its tags, whatever tools are offered", async () => {
    const asked = user("Write everything that matters between [summary] and [/summary].", "u2");
    const reply = await ask(model(), request([user("Count the apples"), asked], { tools: names.map(tool) }));
    expect(reply.calls).toEqual([]);
    expect(reply.text).toMatch(/^\[summary\]\n[\s\S]*Count the apples[\s\S]*\n\[\/summary\]$/);
  });

  const result = (callId: string, text: string): Message => ({
    id: "r",
    role: "tool",
    parts: [{ type: "tool-result", callId, name: "list_files", status: "ok", output: [{ type: "text", text }] }],
  });
});

describe("how it speaks", () => {
  test("text comes in words and arguments in pieces, usage comes last", async () => {
    const reply = await ask(model(), request([user("How do apples ripen?")], { tools: names.map(tool) }));
    expect(reply.chunks.filter((c) => c.type === "text").length).toBeGreaterThan(3);
    expect(reply.chunks.filter((c) => c.type === "tool-call").length).toBeGreaterThan(4);
    expect(reply.chunks.slice(-2).map((c) => c.type)).toEqual(["usage", "finish"]);
    expect(reply.usage!.input).toBeGreaterThan(0);
  });

  test("§5 equal requests get equal answers", async () => {
    const once = () => ask(model(), request([user("How do apples ripen?")], { tools: names.map(tool) }));
    expect((await once()).chunks).toEqual((await once()).chunks);
  });

  test("without its key it answers nothing, and the failure is auth", async () => {
    const { failure } = await ask(
      openai({ model: "m", baseURL: demo.baseURL, apiKey: "wrong-key-123" }),
      request([user("hi")]),
    );
    expect(failure).toMatchObject({ class: "auth", status: 401 });
    expect((await fetch(`${demo.baseURL}/models`)).status).toBe(401);
  });

  test("a request under another host name is refused, key or not", async () => {
    const status = await new Promise((resolve, reject) => {
      const headers = { host: "evil.example", authorization: `Bearer ${demo.apiKey}` };
      httpRequest(`${demo.baseURL}/models`, { headers }, (r) => resolve(r.resume().statusCode))
        .on("error", reject)
        .end();
    });
    expect(status).toBe(403);
  });

  test("it lists itself, answers whole when no stream is asked for, and refuses what it cannot read", async () => {
    const headers = { authorization: `Bearer ${demo.apiKey}`, "content-type": "application/json" };
    const list = (await (await fetch(`${demo.baseURL}/models`, { headers })).json()) as { data: { id: string }[] };
    expect(list.data[0]?.id).toBe(demo.model);
    const post = (body: string) => fetch(`${demo.baseURL}/chat/completions`, { method: "POST", headers, body });
    const whole = (await (await post('{"messages":[{"role":"user","content":"hi"}]}')).json()) as {
      choices: { message: { content: string }; finish_reason: string }[];
    };
    expect(whole.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: expect.stringContaining("not an LLM") },
    });
    expect((await post("{")).status).toBe(400);
    expect((await post('{"messages":[]}')).status).toBe(400);
    expect((await fetch(`${demo.baseURL}/else`, { headers })).status).toBe(404);
  });
});

describe("rules", () => {
  const anyOutput = fc.oneof(
    fc.constantFrom(
      "",
      "src/a.ts\t9\nb.md\t7",
      "src/a.ts:1: apples",
      "   1\texport const a = 1;",
      "Tool call denied by policy.",
      "Error: no",
    ),
    fc.string(),
  );
  const prompts = fc.oneof(
    fc.string(),
    fc.constantFrom("Write two apples files to a.md", "run `x`", "largest files?", "read a.ts b.ts c.ts", "[summary]"),
  );

  property.prop([prompts, fc.array(anyOutput, { minLength: 40, maxLength: 40 }), fc.subarray(names)])(
    "it ends within six answers and never makes a call twice, whatever is said and returned",
    (prompt, outputs, tools) => {
      const message = { calls: [], callId: undefined };
      const asked: DemoRequest = {
        messages: [{ ...message, role: "user", text: prompt }],
        tools,
        stream: true,
        includeUsage: true,
      };
      const made = new Set<string>();
      for (let turn = 1; ; turn++) {
        expect(turn).toBeLessThanOrEqual(6);
        const answer = demoAnswer(asked);
        expect(answer.text).not.toBe("");
        if (!answer.calls.length) return;
        const calls = answer.calls.map((c, i) => ({ ...c, id: `${turn}_${i}` }));
        for (const call of answer.calls) {
          expect(tools).toContain(call.name);
          expect(made).not.toContain(JSON.stringify(call));
          made.add(JSON.stringify(call));
        }
        asked.messages.push({ ...message, role: "assistant", text: answer.text, calls });
        for (const call of calls)
          asked.messages.push({ ...message, role: "tool", text: outputs.pop() ?? "", callId: call.id });
      }
    },
  );
});

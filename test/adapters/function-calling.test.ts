/** A public function-calling set, through mapper, tools, real client, HTTP and loop: every call arrives as it was meant. */
import { existsSync, readFileSync } from "node:fs";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json } from "../../src/core/message.ts";
import { createAgent, fromDialect, tool, type Tools } from "../../src/index.ts";
import { openai } from "../../src/openai.ts";
import { wireName } from "../../src/adapters/model/tool-names.ts";

const folder = new URL("../../../shared/data/bfcl/", import.meta.url);
const present = existsSync(folder);
type Args = { [name: string]: Json };
type Row = { id: string; question: { content: string }[][]; function: Fn[] };
type Fn = { name: string; description: string; parameters: { [key: string]: unknown } };
type Truth = { id: string; ground_truth: { [name: string]: { [arg: string]: Json[] } }[] };

const lines = <T>(file: string): T[] =>
  readFileSync(new URL(file, folder), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as T);

/** Of the values that the set accepts, the first; an empty text means that the argument may be left out. */
const firstOf = (args: { [arg: string]: Json[] }): Args =>
  Object.fromEntries(
    Object.entries(args)
      .filter(([, accepted]) => accepted[0] !== "")
      .map(([name, accepted]) => [name, unfold(accepted[0]!)]),
  );
/** Inside an object every value is again a list of accepted ones. */
const unfold = (value: Json): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, Array.isArray(v) ? v[0]! : v]))
    : value;

/** What the schema says of arguments that are left out. */
const presets = ({ function: functions }: Row, name: string): Args =>
  Object.fromEntries(
    Object.entries(functions.find((f) => f.name === name)!.parameters["properties"] as { [arg: string]: Args }).flatMap(
      ([arg, { default: preset }]) => (preset === undefined ? [] : [[arg, preset]]),
    ),
  );

const mock = new LLMock({ port: 0 });
beforeAll(() => mock.start());
afterAll(() => mock.stop());

test.skipIf(!present)("every row of the set is called, executed and answered", { timeout: 60_000 }, async () => {
  const rows = lines<Row>("BFCL_v4_parallel.json");
  const truths = new Map(lines<Truth>("answer_BFCL_v4_parallel.json").map((t) => [t.id, t]));
  let calls = 0;
  for (const row of rows) {
    const gold = truths
      .get(row.id)!
      .ground_truth.flatMap((g) => Object.entries(g).map(([name, args]) => ({ name, args: firstOf(args) })));
    const ran: { name: string; args: Args }[] = [];
    const tools: Tools = Object.fromEntries(
      row.function.map(({ name, description, parameters }) => [
        name,
        tool({
          description,
          input: fromDialect(parameters),
          readOnly: true,
          execute: (args) => {
            ran.push({ name, args });
            return { done: name };
          },
        }),
      ]),
    );
    const prompt = `${row.id}: ${row.question[0]![0]!.content}`;
    mock.clearFixtures();
    mock.on(
      { userMessage: prompt, turnIndex: 0 },
      {
        toolCalls: gold.map(({ name, args }, i) => ({
          id: `call_${i}`,
          name: wireName(name),
          arguments: JSON.stringify(args),
        })),
      },
    );
    mock.on({ userMessage: prompt, turnIndex: 1 }, { content: "done" });
    const model = openai({ model: "gpt-4o", baseURL: `${mock.url}/v1`, apiKey: "mock-key-123456" });
    const session = await createAgent({ model, tools, logger: { warn: () => {} } }).createSession();
    const result = await session.run(prompt).unwrap();
    expect(result, row.id).toMatchObject({ text: "done", turns: 2 });
    expect(ran, row.id).toEqual(gold.map(({ name, args }) => ({ name, args: { ...presets(row, name), ...args } })));
    const sent = mock.getLastRequest()!.body as {
      messages: { role: string; tool_call_id?: string; content: string }[];
    };
    expect(
      sent.messages.filter((m) => m.role === "tool").map((m) => [m.tool_call_id, m.content]),
      row.id,
    ).toEqual(gold.map(({ name }, i) => [`call_${i}`, JSON.stringify({ done: name })]));
    calls += gold.length;
  }
  console.log(`function calling: ${rows.length} rows, ${calls} calls, all executed and mapped back`);
});

test("types of other dialects are translated, and what has no translation is refused with its place", () => {
  expect(
    fromDialect({
      type: "dict",
      properties: {
        a: { type: "float", required: true },
        b: { type: "tuple", items: { type: "STRING" } },
        c: { type: "any", description: "x" },
        d: { type: "int", nullable: true, optional: true },
        e: { type: ["str", "None"] },
      },
      required: ["b", "d"],
    }),
  ).toEqual({
    type: "object",
    properties: {
      a: { type: "number" },
      b: { type: "array", items: { type: "string" } },
      c: { description: "x" },
      d: { type: ["integer", "null"] },
      e: { type: ["string", "null"] },
    },
    required: ["b", "a"],
  });
  expect(() => fromDialect({ type: "dict", properties: { a: { type: "matrix" } } })).toThrow(
    'input.a: the type "matrix" has no translation; say it in JSON Schema\'s words',
  );
  expect(() => tool({ description: "x", input: { type: "dict" }, execute: () => "" })).toThrow(/object/);
});

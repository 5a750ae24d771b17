import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { AgentError } from "../src/core/errors.ts";
import type { Json } from "../src/core/message.ts";
import type { ToolContext } from "../src/ports.ts";
import { content, toContent, tool, type StandardSchema } from "../src/tool.ts";

const run = () => "";
const text = (value: unknown) => {
  const [part, ...more] = toContent(value);
  expect(more).toEqual([]);
  return part?.type === "text" ? part.text : undefined;
};
const refusal = (work: () => unknown): AgentError => {
  try {
    work();
  } catch (error) {
    expect(error).toMatchObject({ name: "AgentError", code: "invalid_options" });
    return error as AgentError;
  }
  throw new Error("it should have been refused");
};
/** As a host without types would call it. */
const loose = tool as (options: object) => ReturnType<typeof tool>;

describe("tool()", () => {
  test("what a schema says is what the model is shown, as it is before conversion", () => {
    const made = tool({
      description: "Adds.",
      input: z.object({ n: z.string().transform(Number), unit: z.enum(["m", "s"]).default("m").describe("SI") }),
      execute: run,
    });
    expect(made).toMatchObject({ description: "Adds.", readOnly: false });
    expect(made.parameters).toEqual({
      type: "object",
      properties: {
        n: { type: "string" },
        unit: { type: "string", enum: ["m", "s"], default: "m", description: "SI" },
      },
      required: ["n"],
    });
  });

  test("arguments are validated and converted, with the types of the schema", async () => {
    const made = tool({
      description: "d",
      input: z.object({ n: z.string().transform(Number), tag: z.string().optional() }),
      execute: (args, context: ToolContext<{ db: string }>) => {
        expectTypeOf(args).toEqualTypeOf<{ n: number; tag?: string | undefined }>();
        expectTypeOf(context.context).toEqualTypeOf<{ db: string }>();
        return args.n;
      },
      needsApproval: (args) => args.n > 3,
      lockKey: (args, session) => [`${session.workspace}/${args.n}`],
    });
    expect(await made.parse({ n: "7" })).toEqual({ ok: true, value: { n: 7 } });
  });

  test("all mistakes in arguments are one text, each with its place", async () => {
    const made = tool({
      description: "d",
      input: z.strictObject({
        items: z.array(z.object({ name: z.string() })),
        at: z.union([z.string(), z.object({ line: z.number() })]),
      }),
      execute: run,
    });
    expect(await made.parse({ items: [{ name: "a" }, { name: 1 }], at: { line: "x" }, extra: 1 })).toEqual({
      ok: false,
      error: [
        "Invalid arguments:",
        "- items[1].name: Invalid input: expected string, received number",
        "- at.line: Invalid input: expected number, received string",
        '- Unrecognized key: "extra"',
      ].join("\n"),
    });
    for (const args of [null, [], "x", 3]) expect(await made.parse(args)).toMatchObject({ ok: false });
  });

  test("a check that waits is waited for, and one that throws is a mistake of the arguments", async () => {
    const waiting = tool({
      description: "d",
      input: z.object({ a: z.string().refine(async (a) => a === "x", "must be x") }),
      execute: run,
    });
    expect(await waiting.parse({ a: "x" })).toEqual({ ok: true, value: { a: "x" } });
    expect(await waiting.parse({ a: "y" })).toEqual({ ok: false, error: "Invalid arguments:\n- a: must be x" });
    const throwing = tool({
      description: "d",
      input: z.object({ a: z.string().refine(() => JSON.parse("{") as boolean) }),
      execute: run,
    });
    expect(await throwing.parse({ a: "x" })).toMatchObject({ ok: false, error: /could not be checked/ });
  });

  test("a JSON Schema is shown as it is and enforced", async () => {
    const input = {
      type: "object",
      properties: { path: { type: "string", minLength: 1 }, where: { $ref: "#/$defs/where" } },
      required: ["path"],
      additionalProperties: false,
      $defs: { where: { type: "integer", minimum: 1 } },
    };
    const made = tool({ description: "d", input, execute: run });
    expect(made.parameters).toEqual(input);
    expect(await made.parse({ path: "a", where: 2 })).toEqual({ ok: true, value: { path: "a", where: 2 } });
    for (const args of [{}, { path: "" }, { path: "a", where: 0 }, { path: "a", more: 1 }] as Json[])
      expect(await made.parse(args)).toMatchObject({ ok: false });
  });

  test("a JSON Schema of an older draft finds its definitions", async () => {
    const input = {
      properties: { a: { $ref: "#/definitions/A" } },
      definitions: { A: { type: "string" } },
    };
    const made = tool({ description: "d", input, execute: run });
    expect(made.parameters.type).toBe("object");
    expect(await made.parse({ a: 1 })).toMatchObject({ ok: false });
  });

  test("a Standard Schema is validated by its own library, and shown by it where it can", async () => {
    const own: StandardSchema = {
      "~standard": {
        version: 1,
        vendor: "other",
        validate: (value) =>
          typeof (value as { a?: unknown }).a === "string"
            ? { value: { a: 1 } }
            : { issues: [{ message: "needs text", path: [{ key: "a" }, 0] }] },
      },
    };
    const parameters = { type: "object", properties: { a: { type: "string" } } };
    const made = tool({ description: "d", input: own, parameters, execute: run });
    expect(made.parameters).toEqual(parameters);
    expect(await made.parse({ a: "x" })).toEqual({ ok: true, value: { a: 1 } });
    expect(await made.parse({})).toEqual({ ok: false, error: "Invalid arguments:\n- a[0]: needs text" });
    expect(refusal(() => tool({ description: "d", input: own, execute: run })).message).toMatch(
      /a schema of other cannot give its JSON Schema.*`parameters`/,
    );
    const able = { "~standard": { ...own["~standard"], jsonSchema: { input: () => parameters } } };
    expect(tool({ description: "d", input: able, execute: run }).parameters).toEqual(parameters);
  });

  test.each([
    ["a date", z.object({ list: z.array(z.object({ when: z.date() })) }), /input\.list\[\]\.when: Date/],
    ["a big integer", z.object({ n: z.bigint() }), /input\.n: BigInt/],
    ["a map", z.object({ m: z.map(z.string(), z.string()) }), /input\.m: Map/],
    ["a custom check without a type", z.object({ c: z.custom(() => true) }), /input\.c: Custom/],
    ["a text instead of an object", z.string(), /input: must describe an object/],
    ["a choice instead of an object", z.union([z.object({}), z.object({})]), /must describe an object/],
    [
      "a type that no dialect has",
      { type: "object", properties: { a: { items: { type: "date" } } } },
      /input\.a\[\]: .*date/,
    ],
    ["a condition", { type: "object", if: {}, then: {} }, /input: Conditional/],
    ["a reference elsewhere", { type: "object", properties: { a: { $ref: "http://x/y" } } }, /input\.a: External/],
    ["nothing", undefined, /input: .*schema is missing/],
    ["a list", [], /expected a zod schema, a Standard Schema or a JSON Schema/],
  ])("a schema that a model cannot be told is refused with the place: %s", (_, input, message) => {
    expect(refusal(() => loose({ description: "d", input, execute: run })).message).toMatch(message);
  });

  test.each([
    ["an unknown option", { readonly: true }, /readonly/],
    ["no description", { description: "" }, /description/],
    ["no function", { execute: "ls" }, /execute: expected a function/],
    ["a timeout that is none", { timeoutMs: 0 }, /timeoutMs/],
    ["an unknown policy", { onUnknown: "guess" }, /onUnknown/],
    ["an approval that is neither", { needsApproval: "yes" }, /needsApproval: expected a boolean or a function/],
  ])("wrong options are refused by name: %s", (_, change, message) => {
    const options = { description: "d", input: z.object({}), execute: run };
    expect(refusal(() => loose({ ...options, ...change })).message).toMatch(message);
  });
});

describe("what a tool returns", () => {
  test("is text as it is, nothing as an empty text, and everything else as JSON", () => {
    expect(text("as it is\n")).toBe("as it is\n");
    expect(text(undefined)).toBe("");
    expect(text(null)).toBe("null");
    expect(text(0)).toBe("0");
    expect(text([1, { a: "b" }])).toBe('[1,{"a":"b"}]');
    expect(text({ at: new Date(0) })).toBe('{"at":"1970-01-01T00:00:00.000Z"}');
  });

  test("is readable where JSON has no word for it, and never an error", () => {
    const circle: Record<string, unknown> = { twice: [1], n: 1n };
    circle.self = circle;
    circle.list = [circle, circle.twice];
    expect(text(circle)).toBe('{"twice":[1],"n":"1","self":"[circular]","list":["[circular]",[1]]}');
    expect(text(12n)).toBe("12");
    expect(text(new Map([["a", new Set([1])]]))).toBe('[["a",[1]]]');
    expect(text(new TypeError("no"))).toBe("TypeError: no");
    expect(text({ bytes: Buffer.from("abc") })).toBe('{"bytes":"[3 bytes]"}');
    expect(text(Symbol("s"))).toBe("Symbol(s)");
    const hostile = new Proxy({}, { has: () => JSON.parse("{") as boolean, ownKeys: () => JSON.parse("{") as [] });
    for (const value of [hostile, { toJSON: () => JSON.parse("{") as unknown }])
      expect(text(value)).toBe("[a value that cannot be shown]");
  });

  test("has several parts when content() says so", () => {
    const parts = [
      { type: "text", text: "here" },
      { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" },
    ] as const;
    expect(toContent(content(parts))).toEqual(parts);
    expect(toContent(content([]))).toEqual([]);
    expect(refusal(() => content([{ type: "video" } as never])).message).toMatch(/\[0\]: expected a text, image/);
    expect(text(parts)).toBe(JSON.stringify(parts));
  });
});

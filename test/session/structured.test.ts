import { describe, expect } from "vitest";
import { z } from "zod";
import { defineMiddleware } from "../../src/middleware/middleware.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { crashed } from "./crashes.ts";
import { look, test } from "./support.ts";

const verdict = z.object({ count: z.number().int(), note: z.string().optional() });

describe("structured output", () => {
  test("an answer that fits is the result's object, parsed, and the schema is in the instructions", async ({
    world,
  }) => {
    const { session, model } = await world.open([look("a"), '{"count":3}'], { instructions: "Be brief." });
    const result = await session.run("count", { output: verdict }).unwrap();
    expect(result.object).toEqual({ count: 3 });
    for (const request of model.requests) {
      expect(request.instructions).toMatch(/^Be brief\.\n\nYour final answer must be a single JSON value/);
      expect(request.instructions).toContain('"count"');
      expect(request).not.toHaveProperty("output");
    }
  });

  test("a provider that enforces shapes is given the schema instead", async ({ world }) => {
    const model = scriptedModel(['{"count":3}'], { structured: true });
    const { session } = await world.open([], { model, instructions: "Be brief." });
    await session.run("count", { output: verdict.meta({ title: "The verdict!" }) }).unwrap();
    expect(model.requests[0]).toMatchObject({
      instructions: "Be brief.",
      output: { name: "The_verdict_", schema: { type: "object", required: ["count"] } },
    });
  });

  test("the object is what the schema makes of it, defaults and conversions included", async ({ world }) => {
    const { session } = await world.open(['{"day":"2026-01-02"}']);
    const output = z.object({
      day: z.string().transform((s) => s.split("-").map(Number)),
      kind: z.string().default("x"),
    });
    const result = await session.run("when", { output }).unwrap();
    expect(result.object).toEqual({ day: [2026, 1, 2], kind: "x" });
  });

  test("JSON Schema is checked too", async ({ world }) => {
    const { session } = await world.open(['{"n":"two"}', '{"n":2}']);
    const output = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    expect((await session.run("n", { output }).unwrap()).object).toEqual({ n: 2 });
  });

  test("a code fence around the whole answer is taken off; words around it are not", async ({ world }) => {
    const { session, model } = await world.open(['Here it is: {"count":1}', '```json\n{"count":1}\n```']);
    expect((await session.run("count", { output: verdict }).unwrap()).object).toEqual({ count: 1 });
    expect(model.requests).toHaveLength(2);
  });

  test("an answer that does not fit is asked for again, with what was wrong", async ({ world }) => {
    const { session, model } = await world.open(["no idea", '{"count":"many"}', '{"count":7}']);
    const result = await session.run("count", { output: verdict }).unwrap();
    expect(result).toMatchObject({ object: { count: 7 }, text: '{"count":7}', turns: 3 });
    expect(JSON.stringify(model.requests[1]!.messages.at(-1))).toMatch(/The answer is not JSON/);
    expect(JSON.stringify(model.requests[2]!.messages.at(-1))).toMatch(/Invalid values:\\n- count: .*expected number/);
  });

  test("after two repairs the run fails with output_invalid, and keeps its text", async ({ world }) => {
    const { session, model } = await world.open(["one", "two", "three"]);
    const result = await session.run("count", { output: verdict }).result;
    expect(result).toMatchObject({
      status: "failed",
      text: "three",
      error: { code: "output_invalid", retryable: false },
    });
    expect(result.error!.message).toMatch(/^The answer does not fit the output schema\. The answer is not JSON/);
    expect(result).not.toHaveProperty("object");
    expect(model.requests).toHaveLength(3);
    await expect(session.run("", {}).unwrap()).resolves.toMatchObject({ status: "completed" });
  });

  test("an answer that was cut and gone on with is read as a whole", async ({ world }) => {
    const { session } = await world.open([{ text: '{"count"', finish: "length" }, ":5}"]);
    expect((await session.run("count", { output: verdict }).unwrap()).object).toEqual({ count: 5 });
  });

  test("the turn limit holds for repairs", async ({ world }) => {
    const { session } = await world.open(["one", "two"]);
    expect(await session.run("count", { output: verdict, maxTurns: 1 }).result).toMatchObject({ status: "max_turns" });
  });

  test("onStop sees only answers that fit, and what it sends on must fit again", async ({ world }) => {
    const seen: string[] = [];
    const strict = defineMiddleware({
      name: "strict",
      onStop: ({ text }) => {
        seen.push(text);
        return seen.length === 1 ? { feedback: "count again" } : undefined;
      },
    });
    const { session } = await world.open(["bad", '{"count":1}', "bad again", '{"count":2}'], { middleware: [strict] });
    expect((await session.run("count", { output: verdict }).unwrap()).object).toEqual({ count: 2 });
    expect(seen).toEqual(['{"count":1}', '{"count":2}']);
  });

  test("a run that was interrupted goes on with the shape its journal has", async ({ world }) => {
    await crashed(
      world,
      [{ text: "ha", hangs: true }],
      (records) => records.some((r) => r.type === "attempt.started"),
      {
        defaults: { output: verdict },
      },
    );
    const { session } = await world.reopen(["hm", '{"count":9}']);
    expect(await session.continue().result).toMatchObject({ status: "completed", object: { count: 9 } });
  });

  test.for([
    ["an array", z.array(z.string())],
    ["a date", z.object({ at: z.date() })],
    ["a text", "schema"],
  ] as const)("a schema that no answer could meet is refused: %s", async ([, output], { world }) => {
    const { session, model } = await world.open([]);
    const run = session.run("count", { output: output as never });
    await expect(run.result).rejects.toMatchObject({
      code: "invalid_options",
      message: expect.stringMatching(/^run\.output/),
    });
    expect(model.requests).toEqual([]);
  });
});

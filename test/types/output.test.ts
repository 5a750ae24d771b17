/** The compiler is the judge of these; running them only shows that they are well formed. */
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Run, RunResult, Session } from "../../src/index.ts";
import type { StandardSchema } from "../../src/tool.ts";

declare const session: Session;
const never = (run: () => unknown) => void run;

test("a run with an output schema has a result object of the schema's output type", () => {
  const output = z.object({ at: z.string().transform((s) => s.length), note: z.string().optional() });
  never(async () => {
    const run = session.run("x", { output, maxTurns: 3 });
    expectTypeOf(run).toEqualTypeOf<Run<{ at: number; note?: string | undefined }>>();
    const result = await run.result;
    expectTypeOf(result.object).toEqualTypeOf<{ at: number; note?: string | undefined } | undefined>();
    const done = await run.unwrap();
    expectTypeOf(done.object.at).toBeNumber();
    expectTypeOf(done.status).toEqualTypeOf<"completed">();
    expectTypeOf(await session.continue({ output }).unwrap()).toHaveProperty("object");
  });
});

test("a Standard Schema gives its own output type; JSON Schema has none to give", () => {
  type Schema = StandardSchema & {
    readonly "~standard": { readonly types?: { input: string; output: { n: bigint } } };
  };
  never(async () => {
    const schema = {} as Schema;
    expectTypeOf((await session.run("x", { output: schema }).unwrap()).object).toEqualTypeOf<{ n: bigint }>();
    expectTypeOf((await session.run("x", { output: { type: "object" } }).unwrap()).object).toBeAny();
  });
});

test("a run without one has an object that nothing is known of", () => {
  never(async () => {
    const run = session.run("x");
    expectTypeOf(run).toEqualTypeOf<Run>();
    expectTypeOf((await run.result).object).toBeUnknown();
    expectTypeOf(run.text()).resolves.toBeString();
    expectTypeOf(run.textStream).toEqualTypeOf<AsyncIterable<string>>();
    expectTypeOf(run.detach()).toEqualTypeOf<Run>();
    expectTypeOf<RunResult["status"]>().toEqualTypeOf<
      "completed" | "suspended" | "cancelled" | "failed" | "max_turns" | "truncated" | "blocked" | "budget"
    >();
  });
});

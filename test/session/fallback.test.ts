import { describe, expect } from "vitest";
import { fallback } from "../../src/adapters/model/fallback.ts";
import { scriptedModel, type Script } from "../../src/testing/scripted-model.ts";
import { all, look, newest, test } from "./support.ts";

const pair = (first: Script, second: Script) => {
  const models = [scriptedModel(first, { id: "first" }), scriptedModel(second, { id: "second" })] as const;
  return { first: models[0], second: models[1], model: fallback(models) };
};

describe("fallback", () => {
  test.for(["timeout", "auth", "fatal"] as const)(
    "after %s the next model is asked at once, in the same turn",
    async (kind, { world }) => {
      const { model, first, second } = pair([{ fails: { class: kind } }], [look("a"), "done"]);
      const { session } = await world.open([], { model });
      expect(await session.run("go").result).toMatchObject({ status: "completed", text: "done", turns: 2 });
      expect([first.requests.length, second.requests.length]).toEqual([1, 2]);
      const records = await world.records();
      expect(all(records, "model.failed")).toMatchObject([{ failure: { class: kind, next: "second" } }]);
      expect(all(records, "attempt.started").map((e) => [e.turn, e.attempt, e.prefer])).toEqual([
        [1, 1, undefined],
        [1, 2, "second"],
        [2, 1, "second"],
      ]);
      expect(second.requests[0]).not.toHaveProperty("prefer");
    },
  );

  test.for(["malformed"] as const)("%s is tried again with the same model", async (kind, { world }) => {
    const { model, first, second } = pair([{ fails: { class: kind } }, "done"], []);
    const { session } = await world.open([], { model });
    const run = session.run("go");
    await world.until(() => first.requests.length === 1);
    await world.clock.advance(250);
    expect((await run.unwrap()).text).toBe("done");
    expect(second.requests).toEqual([]);
  });

  test("a refusal is not passed on", async ({ world }) => {
    const { model, second } = pair([{ fails: { class: "refused" } }], ["never"]);
    const { session } = await world.open([], { model });
    expect(await session.run("go").result).toMatchObject({ status: "failed", error: { code: "refused" } });
    expect(second.requests).toEqual([]);
  });

  test("a model that hangs is left for the next one by the runtime's own timeout", async ({ world }) => {
    const { model } = pair([{ text: "half a", hangs: true }], ["whole"]);
    const { session, events } = await world.open([], { model, limits: { streamIdleMs: 1_000 } });
    const run = session.run("go");
    await world.until(() => events.some((e) => e.type === "part.delta"));
    await world.clock.advance(1_000);
    expect((await run.unwrap()).text).toBe("whole");
    expect(all(events, "attempt.discarded")).toHaveLength(1);
  });

  test("what the first model had shown is told to the second", async ({ world }) => {
    const { model, second } = pair([{ text: "half a", fails: { class: "timeout" } }], ["whole"]);
    const { session } = await world.open([], { model });
    await session.run("go").unwrap();
    expect(newest(second.requests[0])).toMatch(/\[turn_retried\][\s\S]*half a/);
  });

  test("the last model has the usual retries; then the run fails as it failed", async ({ world }) => {
    const fails = { fails: { class: "timeout" as const } };
    const { model, first, second } = pair([fails], [fails, fails, fails]);
    const { session } = await world.open([], { model });
    const run = session.run("go");
    for (const [i, wait] of [250, 500].entries()) {
      await world.until(() => second.requests.length === i + 1);
      await world.clock.advance(wait);
    }
    expect(await run.result).toMatchObject({ status: "failed", error: { code: "timeout" } });
    expect([first.requests.length, second.requests.length]).toEqual([1, 3]);
  });

  test("a new run begins with the first model again", async ({ world }) => {
    const { model, first } = pair([{ fails: { class: "auth" } }, "back"], ["stood in"]);
    const { session } = await world.open([], { model });
    expect((await session.run("one").unwrap()).text).toBe("stood in");
    expect((await session.run("two").unwrap()).text).toBe("back");
    expect(first.requests).toHaveLength(2);
  });

  test("it promises only what all of its models keep", () => {
    const rich = scriptedModel([], { id: "m", window: 100, priced: true, structured: true });
    const poor = scriptedModel([], { id: "m", window: 50 });
    expect(fallback([rich, poor])).toMatchObject({ id: "m | m#2", window: 50, priced: false, structured: false });
    expect(fallback([rich])).toMatchObject({ id: "m", window: 100, priced: true, structured: true });
    expect(fallback([rich, poor]).standIn?.({ class: "auth", message: "" }, undefined)).toBe("m#2");
    expect(fallback([rich, poor]).standIn?.({ class: "auth", message: "" }, "m#2")).toBeUndefined();
    for (const wrong of [[], [{}], "model", undefined])
      expect(() => fallback(wrong as never)).toThrow(/expected a list of models/);
  });
});

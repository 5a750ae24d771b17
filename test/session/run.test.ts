import { describe, expect } from "vitest";
import { AgentError } from "../../src/core/errors.ts";
import { text } from "../../src/core/message.ts";
import { defineMiddleware } from "../../src/middleware/middleware.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import {
  all,
  call,
  codeOf,
  gate,
  look,
  newest,
  only,
  readTool,
  said,
  settled,
  statusOf,
  test,
  write,
} from "./support.ts";

describe("a run", () => {
  test("gives text, result and events; its result comes also when nobody iterates", async ({ world }) => {
    const { session } = await world.open([{ text: ["Hel", "lo"], usage: { input: 10, output: 2 } }, "again"]);
    const run = session.run("hi");
    const result = await run.result;
    expect(result).toEqual({
      status: "completed",
      text: "Hello",
      turns: 1,
      usage: { input: 10, output: 2 },
      runId: run.id,
      undelivered: [],
    });
    expect(await session.run("more").text()).toBe("again");
  });

  test("never throws: a caller's mistake rejects its result and makes iterating throw", async ({ world }) => {
    const { session, model } = await world.open([]);
    const mistakes = [
      session.run(42 as never),
      session.run([{ role: "system", content: "x" }] as never),
      session.run("x", { maxTurns: "three" } as never),
      session.run("x", { approvals: "maybe" } as never),
      session.run("x", { unknown: true } as never),
    ];
    for (const run of mistakes) {
      expect(await codeOf(run.result)).toBe("invalid_options");
      await expect(run.unwrap()).rejects.toBeInstanceOf(AgentError);
      await expect(
        (async () => {
          for await (const _ of run);
        })(),
      ).rejects.toMatchObject({ code: "invalid_options" });
    }
    await expect(session.run("x", { maxTurns: "three" } as never).result).rejects.toThrow(/maxTurns/);
    expect(model.requests).toEqual([]);
    expect(session.messages()).toEqual([]);
  });

  test("unwrap() and text() throw for any status but completed, and say what to do", async ({ world }) => {
    const { session } = await world.open([look("a"), { fails: { class: "auth", message: "bad key" } }]);
    await expect(session.run("x", { maxTurns: 1 }).unwrap()).rejects.toThrow(/limit of turns \(1\).*continue\(\)/);
    const failed = session.run("x");
    await expect(failed.text()).rejects.toThrow(/auth.*bad key/);
    await expect(failed.unwrap()).rejects.toMatchObject({ cause: { status: "failed" } });
  });

  test("takes text, parts, or user messages", async ({ world }) => {
    const { session, model } = await world.open(["a", "b", "c"]);
    await session.run([text("two "), { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" }]).unwrap();
    expect(model.requests[0]!.messages.at(-1)!.parts).toHaveLength(2);
    await session.run([
      { role: "user", content: "first" },
      { role: "user", content: [text("second")] },
    ]).result;
    expect(said(model.requests[1]!.messages).slice(-2)).toEqual(["user first", "user second"]);
    await session.run([]).unwrap();
    expect(model.requests).toHaveLength(2);
  });

  test("empty input writes nothing, whitespace is written as given", async ({ world }) => {
    const { session, model } = await world.open(["ok"]);
    expect(await session.run("").result).toMatchObject({ status: "completed", text: "", turns: 0 });
    expect(await session.run([{ role: "user", content: "" }]).result).toMatchObject({ status: "completed", turns: 0 });
    expect(model.requests).toEqual([]);
    expect(session.messages()).toEqual([]);
    await session.run("  \n").unwrap();
    expect(said(session.messages())).toEqual(["user   \n", "assistant ok"]);
  });

  test("a signal that had aborted cancels before any model call, and its reason is in run.ended", async ({ world }) => {
    const { session, model, events } = await world.open(["ok"]);
    const result = await session.run("go", { signal: AbortSignal.abort(new Error("too late")) }).result;
    expect(result).toMatchObject({ status: "cancelled", reason: "too late", turns: 0 });
    expect(result.undelivered).toHaveLength(1);
    await settled();
    expect(only(events, "run.ended").reason).toBe("too late");
    expect(model.requests).toEqual([]);
    expect((await session.continue().unwrap()).text).toBe("ok");
    expect(newest(model.requests[0])).toBe("user go");
  });

  test("a signal cancels while it runs", async ({ world }) => {
    const { session } = await world.open([{ hangs: true }]);
    const controller = new AbortController();
    const run = session.run("go", { signal: controller.signal });
    await world.until(() => session.stateValue === "reason.requesting");
    controller.abort("the window was closed");
    expect(await run.result).toMatchObject({ status: "cancelled", reason: "the window was closed" });
  });

  test("a signal that had aborted cancels a continued run too", async ({ world }) => {
    const { session, model } = await world.open([write("a"), "never"]);
    await session.run("go", { approvals: "suspend" }).result;
    const run = session.continue({ signal: AbortSignal.abort(new Error("no more")) });
    expect(await run.result).toMatchObject({ status: "cancelled", reason: "no more" });
    expect(model.requests).toHaveLength(1);
    expect(world.ran).toEqual([]);
  });

  test("cancel() is idempotent, and another run's id has no effect", async ({ world }) => {
    const { session, events } = await world.open([{ hangs: true }, "next"]);
    await session.cancel();
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    await session.cancel({ runId: "run_of_another_life" });
    await settled();
    expect(session.state).toBe("running");
    await session.cancel({ runId: run.id, reason: "first" });
    await session.cancel({ reason: "second" });
    run.cancel("third");
    expect(await run.result).toMatchObject({ status: "cancelled", reason: "first" });
    run.cancel("after the end");
    await session.cancel({ runId: run.id });
    expect((await session.run("again").unwrap()).text).toBe("next");
    await settled();
    expect(all(events, "run.ended").map((e) => e.status)).toEqual(["cancelled", "completed"]);
  });

  test("a cancel right after run() ends the run, also before the machine is reached", async ({ world }) => {
    const { session, model } = await world.open([{ hangs: true }, "ok"]);
    const run = session.run("go");
    run.cancel("at once");
    expect(await run.result).toMatchObject({ status: "cancelled", reason: "at once" });
    expect(model.requests.length).toBeLessThan(2);
  });

  test("with clearInbox, what waits is withdrawn and returned", async ({ world }) => {
    const { session, model, events } = await world.open([{ hangs: true }, "fresh"]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    const receipt = session.steer("also this");
    await session.cancel({ clearInbox: true });
    const { undelivered } = await run.result;
    expect(undelivered).toEqual([receipt && receipt.id]);
    await settled();
    expect(only(events, "run.ended").withdrawn).toEqual(undelivered);
    await session.run("new").unwrap();
    expect(JSON.stringify(model.requests[1]!.messages)).not.toContain("also this");
  });

  test("every status there is", async ({ world }) => {
    const priced = (script: Parameters<typeof scriptedModel>[0]) => scriptedModel(script, { priced: true });
    const refuse = defineMiddleware({ name: "refuse", onInput: () => ({ refuse: "not today" }) });
    const cut = { text: "and then ", finish: "length" as const };
    const statuses: string[] = [];
    const one = async (script: Parameters<typeof scriptedModel>[0], setup: object, options: object = {}) => {
      const { session } = await world.open(script, { ...setup, session: { id: `status-${statuses.length}` } });
      const result = await session.run("go", options).result;
      statuses.push(statusOf(result));
      return result;
    };
    await one(["fine"], {});
    await one([], {}, { signal: AbortSignal.abort() });
    await one([{ fails: { class: "refused" } }], {});
    await one([look("a")], {}, { maxTurns: 1 });
    expect(await one([cut, cut, cut], {})).toMatchObject({ text: "and then and then and then ", turns: 3 });
    expect(await one([], { middleware: [refuse] })).toMatchObject({ reason: "not today", turns: 0 });
    await one([], { model: priced([{ ...look("a"), usage: { costUsd: 2 } }, "x"]), limits: { maxBudgetUsd: 1 } });
    await one([write("a")], {}, { approvals: "suspend" });
    expect(statuses).toEqual([
      "completed",
      "cancelled",
      "failed(refused)",
      "max_turns",
      "truncated",
      "blocked",
      "budget",
      "suspended",
    ]);
  });

  test("the turn limit is checked before a new turn: a final answer on the last allowed turn is completed", async ({
    world,
  }) => {
    const { session, model } = await world.open([look("a"), "done", look("b"), look("c")]);
    expect(await session.run("go", { maxTurns: 2 }).result).toMatchObject({ status: "completed", turns: 2 });
    const limited = await session.run("more", { maxTurns: 2 }).result;
    expect(limited).toMatchObject({ status: "max_turns", turns: 2 });
    expect(model.requests).toHaveLength(4);
    const none = await session.run("nothing", { maxTurns: 0 }).result;
    expect(none).toMatchObject({ status: "max_turns", turns: 0 });
    expect(none.undelivered).toHaveLength(1);
    expect(model.requests).toHaveLength(4);
  });

  test("a spending limit on a model whose price is not known is a caller's mistake", async ({ world }) => {
    const { session, model } = await world.open(["free?"]);
    expect(await codeOf(session.run("go", { maxBudgetUsd: 1 }).result)).toBe("invalid_options");
    expect(() => world.agent({ limits: { maxBudgetUsd: 1 } })).toThrow(/price/);
    expect(model.requests).toEqual([]);
  });

  test("why() says in a sentence what the session waits for, in every state", async ({ world }) => {
    const open = gate();
    const tools = { ...world.tools, slow: readTool(() => open.promise) };
    const { session } = await world.open([{ calls: [call("slow", "a")] }, write("b"), "done"], { tools });
    const said = [session.why()];
    const run = session.run("go", { approvals: "wait" });
    await world.until(() => session.stateValue === "act.executing");
    said.push(session.why());
    open.open();
    await world.until(() => session.state === "awaiting_approval");
    said.push(session.why());
    run.cancel();
    await run.result;
    await session.close();
    said.push(session.why());
    expect(said).toEqual(["Idle.", "Running slow.", "Waiting for 1 approval: write.", "The session is closed."]);
  });

  test("a suspended result says how far the run came", async ({ world }) => {
    const { session } = await world.open([look("x"), { ...write("a"), text: "I will write.", usage: { input: 5 } }]);
    const result = await session.run("go", { approvals: "suspend" }).result;
    expect(result).toMatchObject({ status: "suspended", turns: 2, usage: { input: 5 }, undelivered: [] });
    expect(result.pending).toEqual(session.pending());
  });

  test("the model, tools, settings and context of one run are of that run only", async ({ world }) => {
    const { session, model } = await world.open(["agent's"], { settings: { temperature: 0.1 } });
    const other = scriptedModel([{ calls: [{ name: "extra", args: { path: "a" } }] }, "run's"]);
    const seen: unknown[] = [];
    const extra = { ...world.tools.look, execute: (_: unknown, c: { context: unknown }) => void seen.push(c.context) };
    const mine = { mine: true };
    await session
      .run("go", { model: other, tools: { extra }, settings: { maxOutputTokens: 9 }, context: mine })
      .unwrap();
    expect(seen).toEqual([mine]);
    expect(seen[0]).toBe(mine);
    expect(other.requests[0]!.tools.map((t) => t.name)).toEqual(["extra", "look", "write"]);
    expect(other.requests[0]!.settings).toMatchObject({ temperature: 0.1, maxOutputTokens: 9 });
    await session.run("go on").unwrap();
    expect(model.requests[0]!.tools.map((t) => t.name)).toEqual(["look", "write"]);
    expect(model.requests[0]!.settings).toEqual({ temperature: 0.1 });
    expect(JSON.stringify(await world.records())).not.toContain("mine");
  });
});

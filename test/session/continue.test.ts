import { describe, expect } from "vitest";
import { text } from "../../src/core/message.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { all, look, newest, said, settled, statusOf, test, write } from "./support.ts";

describe("continue", () => {
  test("with nothing to go on with: completed, no model call", async ({ world }) => {
    const { session, model } = await world.open(["ok"]);
    expect(await session.continue().result).toMatchObject({ status: "completed", text: "", turns: 0 });
    await session.run("go").unwrap();
    expect(await session.continue().result).toMatchObject({ status: "completed", turns: 0 });
    expect(model.requests).toHaveLength(1);
  });

  test("after max_turns it is a new run with fresh limits", async ({ world }) => {
    const { session } = await world.open([look("a"), look("b"), look("c"), "done"]);
    const first = await session.run("go", { maxTurns: 2 }).result;
    const second = await session.continue({ maxTurns: 2 }).result;
    expect([first.status, second.status]).toEqual(["max_turns", "completed"]);
    expect(second).toMatchObject({ turns: 2, text: "done" });
    expect(second.runId).not.toBe(first.runId);
  });

  test("after an error it asks again, with nothing lost and nothing repeated", async ({ world }) => {
    const { session, model } = await world.open([look("a"), { fails: { class: "auth" } }, "done"]);
    expect(statusOf(await session.run("go").result)).toBe("failed(auth)");
    expect((await session.continue().unwrap()).text).toBe("done");
    expect(model.requests[2]!.messages).toEqual(model.requests[1]!.messages);
    expect(world.ran).toEqual(["look a"]);
  });

  test("an undelivered prompt in the inbox counts", async ({ world }) => {
    const { session, model } = await world.open(["ok"]);
    const { undelivered } = await session.run("go", { maxTurns: 0 }).result;
    expect(undelivered).toHaveLength(1);
    expect((await session.continue().unwrap()).text).toBe("ok");
    expect(newest(model.requests[0])).toBe("user go");
  });

  test("after a cancel what the user saw is in the next view, and the prompt need not be repeated", async ({
    world,
  }) => {
    const { session, model } = await world.open([{ text: "I was saying", hangs: true }, "as I said"]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    await settled();
    run.cancel();
    await run.result;
    await session.continue().unwrap();
    expect(said(model.requests[1]!.messages)).toEqual([
      "user go",
      "user [turn_aborted]\nI was saying\n[/turn_aborted]",
    ]);
  });

  test("a history that ends with a user is answered", async ({ world }) => {
    const history = [{ id: "h1", role: "user" as const, kind: "prompt" as const, parts: [text("from before")] }];
    const { session, model } = await world.open(["ok"], { session: { history } });
    expect((await session.continue().unwrap()).text).toBe("ok");
    expect(newest(model.requests[0])).toBe("user from before");
  });

  test("after a suspension: the same run, its own limits, its thinking level and its handle's events", async ({
    world,
  }) => {
    const { session, model, events } = await world.open([write("a"), look("b"), "never"]);
    const first = session.run("go", { approvals: "suspend", thinkingLevel: "high", maxTurns: 2 });
    expect((await first.result).status).toBe("suspended");
    await session.decide([{ callId: session.pending()[0]!.callId, decision: "allow" }]);
    const rest = session.continue();
    expect(rest.id).toBe(first.id);
    const seen: string[] = [];
    for await (const event of rest) seen.push(event.type);
    expect(seen.at(-1)).toBe("run.ended");
    expect(seen).toContain("exchange.committed");
    expect(await rest.result).toMatchObject({ status: "max_turns", turns: 2, runId: first.id });
    expect(model.requests.map((r) => r.settings.thinkingLevel)).toEqual(["high", "high"]);
    await settled();
    expect(all(events, "run.started")).toHaveLength(1);
    expect(all(events, "run.ended")).toHaveLength(1);
  });

  test("a suspended run keeps its spending limit", async ({ world }) => {
    const usage = { costUsd: 1 };
    const script = [
      { ...write("a"), usage },
      { ...look("b"), usage },
      { text: "never", usage },
    ];
    const model = scriptedModel(script, { priced: true });
    const { session } = await world.open([], { model });
    await session.run("go", { approvals: "suspend", maxBudgetUsd: 2 }).result;
    await session.decide([{ callId: session.pending()[0]!.callId, decision: "allow" }]);
    expect((await session.continue().result).status).toBe("budget");
    expect(model.requests).toHaveLength(2);
  });

  test("a suspended run that is not decided suspends again, and another run settles it as interrupted", async ({
    world,
  }) => {
    const { session, model, events } = await world.open([write("a"), "new"]);
    const first = await session.run("go", { approvals: "suspend" }).result;
    expect(await session.continue().result).toMatchObject({ status: "suspended", pending: first.pending });
    expect(model.requests).toHaveLength(1);
    expect((await session.run("something else").unwrap()).text).toBe("new");
    await settled();
    expect(all(events, "run.ended").map((e) => [e.runId, e.status, e.reason])).toEqual([
      [first.runId, "cancelled", "interrupted"],
      ["run_2", "completed", undefined],
    ]);
    expect(said(model.requests[1]!.messages).slice(-2)).toEqual([
      "tool [interrupted: tool aborted by user]",
      "user something else",
    ]);
  });

  test("a suspended run can be cancelled: it ends once, with its results", async ({ world }) => {
    const { session, events } = await world.open([write("a"), "never"]);
    await session.run("go", { approvals: "suspend" }).result;
    await session.cancel({ reason: "forget it" });
    await settled();
    expect(all(events, "run.ended").map((e) => [e.status, e.reason])).toEqual([["cancelled", "forget it"]]);
    expect(session.state).toBe("idle");
    expect(session.pending()).toEqual([]);
    await session.cancel();
  });

  test("what another agent did meanwhile is taken up: a run it finished is not gone on with", async ({ world }) => {
    const first = await world.open([write("a"), "mine"]);
    await first.session.run("go", { approvals: "suspend" }).result;
    const second = await world.reopen(["theirs"]);
    await second.session.decide([{ callId: second.session.pending()[0]!.callId, decision: "allow" }]);
    await second.session.continue().unwrap();
    const result = await first.session.continue().result;
    expect(result).toMatchObject({ status: "completed", turns: 0 });
    expect(first.session.messages()).toEqual(second.session.messages());
  });

  test("what another agent did meanwhile is taken up: a run it left open is gone on with", async ({ world }) => {
    const first = await world.open(["hello", "mine"]);
    await first.session.run("hi").unwrap();
    const second = await world.reopen([write("a")]);
    const suspended = await second.session.run("go", { approvals: "suspend" }).result;
    const rest = await first.session.continue({ approve: "allow" }).result;
    expect(rest).toMatchObject({ status: "completed", text: "mine", runId: suspended.runId });
    expect(world.ran).toEqual(["write a"]);
  });
});

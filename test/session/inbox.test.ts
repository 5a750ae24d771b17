import { describe, expect } from "vitest";
import { defineMiddleware } from "../../src/middleware/middleware.ts";
import type { Receipt } from "../../src/session/session.ts";
import { all, call, gate, newest, only, readTool, said, settled, statusOf, test } from "./support.ts";

const notice = (words: string) => `user [notice]\n${words}\n[/notice]`;
const report = (words: string) => `user [background_result]\n${words}\n[/background_result]`;

describe("notices", () => {
  test("only info in the inbox: no model call; the notice enters the transcript and the run completes", async ({
    world,
  }) => {
    const { session, model, events } = await world.open(["ok"]);
    session.notify({ kind: "info", text: "the build is green" });
    expect(await session.continue().result).toMatchObject({ status: "completed", turns: 0, undelivered: [] });
    expect(model.requests).toEqual([]);
    await settled();
    expect(only(events, "inputs.taken").inputs).toHaveLength(1);
    expect(session.messages()).toMatchObject([{ role: "user", kind: "info" }]);
    await session.run("go").unwrap();
    expect(said(model.requests[0]!.messages)).toEqual([notice("the build is green"), "user go"]);
  });

  test("info during a run is shown at the next turn and causes none", async ({ world }) => {
    const open = gate();
    const { session, model } = await world.open([{ text: "first", after: open.promise }, "second"]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    session.notify({ kind: "info", text: "by the way" });
    open.open();
    expect(await run.unwrap()).toMatchObject({ text: "first", turns: 1, undelivered: [] });
    expect(said(session.messages()).at(-1)).toBe("user by the way");
    await session.run("more").unwrap();
    expect(said(model.requests[1]!.messages).slice(-2)).toEqual([notice("by the way"), "user more"]);
  });

  test("several notices and a run in one breath: nothing is lost, nothing is busy", async ({ world }) => {
    const { session, model } = await world.open(["ok"]);
    session.notify({ kind: "info", text: "one" });
    session.notify({ kind: "info", text: "two" });
    const run = session.run("go");
    session.notify({ kind: "info", text: "three" });
    expect(statusOf(await run.result)).toBe("completed");
    expect(said(model.requests[0]!.messages).slice(0, 3)).toEqual([notice("one"), notice("two"), "user go"]);
    expect(JSON.stringify(session.messages())).toContain("three");
    expect(world.warnings).toEqual([]);
  });

  test("inputs are taken first in, first out, whatever their kind", async ({ world }) => {
    const open = gate();
    const tools = { slow: readTool(() => open.promise.then(() => "x")) };
    const { session, model } = await world.open([{ calls: [call("slow", "a")] }, "done"], { tools });
    const run = session.run("go");
    await world.until(() => session.stateValue === "act.executing");
    session.notify({ kind: "info", text: "1" });
    session.steer("2");
    session.notify({ kind: "defer", text: "3" });
    session.steer("4");
    open.open();
    await run.unwrap();
    const words = said(model.requests[1]!.messages).slice(-4);
    expect(words.map((w) => w.split("\n")[1])).toEqual(["1", "2", "3", "4"]);
  });
});

describe("deferred inputs", () => {
  test("a defer that arrives while idle asks to be woken; the host answers with continue()", async ({ world }) => {
    const { session, model, events } = await world.open(["first", "I see"]);
    await session.run("go").unwrap();
    session.notify({ kind: "defer", text: "tests have finished" });
    await world.until(() => all(events, "wake.requested").length === 1);
    await settled();
    expect(session.state).toBe("idle");
    expect(session.why()).toMatch(/1 undelivered/);
    expect(model.requests).toHaveLength(1);
    expect((await session.continue().unwrap()).text).toBe("I see");
    expect(newest(model.requests[1])).toBe(report("tests have finished"));
  });

  test("a defer during a run makes one more turn of it", async ({ world }) => {
    const open = gate();
    const { session, events } = await world.open([{ text: "first", after: open.promise }, "second"]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    session.notify({ kind: "defer", text: "done" });
    open.open();
    expect(await run.unwrap()).toMatchObject({ text: "second", turns: 2 });
    await settled();
    expect(all(events, "wake.requested")).toEqual([]);
  });

  test("with autorun the session answers by itself, with those options", async ({ world }) => {
    const { session, model, events } = await world.open(["first", { calls: [call("write", "a")] }, "woken"], {
      session: { autorun: { approve: "allow" } },
    });
    await session.run("go").unwrap();
    session.notify({ kind: "info", text: "not this" });
    await settled();
    expect(session.state).toBe("idle");
    session.notify({ kind: "defer", text: "wake up" });
    await world.until(() => all(events, "run.ended").length === 2);
    await world.until(() => session.state === "idle");
    expect(model.requests).toHaveLength(3);
    expect(world.ran).toEqual(["write a"]);
    expect(said(model.requests[1]!.messages).slice(-2)).toEqual([notice("not this"), report("wake up")]);
    expect(said(session.messages()).at(-1)).toBe("assistant woken");
  });

  test("continue() hands out the run that autorun began", async ({ world }) => {
    const open = gate();
    const { session, events } = await world.open([{ text: "woken", after: open.promise }], {
      session: { autorun: {} },
    });
    session.notify({ kind: "defer", text: "wake up" });
    await world.until(() => all(events, "wake.requested").length === 1);
    const run = session.continue();
    open.open();
    expect((await run.unwrap()).text).toBe("woken");
    await settled();
    expect(all(events, "run.started")).toHaveLength(1);
  });

  test("a defer that comes while a run ends is not stranded by autorun", async ({ world }) => {
    const { session, events } = await world.open(["first", "second"], { session: { autorun: {} } });
    const run = session.run("go");
    for await (const event of run)
      if (event.type === "exchange.committed") session.notify({ kind: "defer", text: "late" });
    await world.until(() => JSON.stringify(session.view()).includes("late"));
    await world.until(() => session.state === "idle");
    await settled();
    expect(all(events, "run.ended").every((e) => e.status === "completed")).toBe(true);
    expect(said(session.messages()).at(-1)).toBe("assistant second");
  });

  test.for(["completed", "cancelled", "failed(fatal)"])(
    "a defer that comes while a run is still being put away is answered by autorun: %s",
    async (status, { world }) => {
      const open = gate();
      const slow = defineMiddleware({ name: "slow", onRunEnd: () => open.promise });
      const first = {
        completed: "first",
        cancelled: { hangs: true },
        "failed(fatal)": { fails: { class: "fatal" as const } },
      };
      const { session, events } = await world.open([first[status as "completed"], "second"], {
        middleware: [slow],
        session: { autorun: {} },
      });
      const run = session.run("go");
      if (status === "cancelled") {
        await world.until(() => session.stateValue === "reason.requesting");
        run.cancel();
      }
      await world.until(() => all(events, "run.ended").length === 1);
      session.notify({ kind: "defer", text: "late" });
      await settled();
      open.open();
      expect(statusOf(await run.result)).toBe(status);
      await world.until(() => said(session.messages()).at(-1) === "assistant second", "autorun answers");
      await world.until(() => session.state === "idle");
    },
  );

  test("an input that was not delivered survives a close", async ({ world }) => {
    const { session } = await world.open([{ hangs: true }]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    session.steer("keep this");
    await session.close();
    expect((await run.result).undelivered).toHaveLength(1);
    const { session: again, model } = await world.reopen(["ok"]);
    expect(again.why()).toMatch(/1 undelivered/);
    await again.continue().unwrap();
    expect(newest(model.requests[0])).toContain("keep this");
  });

  test("a defer bound to one run is never processed by another", async ({ world }) => {
    const { session, model, events } = await world.open([{ hangs: true }, "ok", "ok"]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    const bound = (id: string, forRun: string) =>
      session.actor.send({
        type: "input.received",
        id,
        kind: "defer",
        parts: [{ type: "text", text: `for ${forRun}` }],
        forRun,
      });
    await bound("own", run.id);
    await bound("foreign", "run_99");
    run.cancel();
    const ended = await run.result;
    expect(ended.undelivered).toEqual([]);
    await settled();
    expect(only(events, "input.refused")).toMatchObject({ id: "foreign" });
    expect(only(events, "run.ended").withdrawn).toEqual(["own"]);
    await bound("late", run.id);
    await session.run("next").unwrap();
    await session.continue().unwrap();
    expect(JSON.stringify(model.requests.map((r) => r.messages))).not.toContain("for run");
  });
});

describe("a full inbox", () => {
  test("rejects new input and evicts nothing", async ({ world }) => {
    const { session, model } = await world.open([{ hangs: true }, "ok"], { limits: { inbox: 2 } });
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    const kept = [session.steer("one"), session.steer("two")] as Receipt[];
    expect(session.steer("three")).toBe(false);
    run.cancel();
    expect((await run.result).undelivered).toEqual(kept.map((r) => r.id));
    await session.continue().unwrap();
    expect(JSON.stringify(model.requests[1]!.messages)).toMatch(/one.*two/);
  });

  test("a prompt that a full inbox refuses is not silently lost: the run says so", async ({ world }) => {
    const { session } = await world.open(["ok"], { limits: { inbox: 1 } });
    session.notify({ kind: "info", text: "fills it" });
    await world.until(() => session.why().includes("1 undelivered"));
    const result = await session.run("where am I?").result;
    expect(result).toMatchObject({ status: "blocked", reason: expect.stringContaining("full") });
  });

  test("a notice that does not fit is refused on the record", async ({ world }) => {
    const { session, events } = await world.open(["ok"], { limits: { inbox: 1 } });
    session.notify({ kind: "info", text: "fits" });
    session.notify({ kind: "info", text: "does not" });
    await world.until(() => all(events, "input.refused").length === 1);
    await session.run("").unwrap();
    expect(said(session.messages())).toEqual(["user fits"]);
  });
});

import { describe, expect } from "vitest";
import { defineMiddleware } from "../../src/middleware/middleware.ts";
import type { Json } from "../../src/core/message.ts";
import type { Run } from "../../src/session/run.ts";
import { all, call, gate, look, newest, only, settled, standing, statusOf, test, told, write } from "./support.ts";

const never = () => new Promise<never>(() => {});

describe("a cancel ends the run within the grace, whoever hangs", () => {
  test("an afterCall hook: the tool's own result is kept", async ({ world }) => {
    const stuck = defineMiddleware({ name: "stuck", afterCall: never });
    const { session } = await world.open([look("a"), "never"], { middleware: [stuck] });
    const run = session.run("go");
    await world.until(() => world.ran.length === 1);
    await settled();
    run.cancel();
    await world.clock.advance(250);
    expect(await standing(run.result.then(statusOf))).toBe("cancelled");
    expect(told(session.messages())).toEqual(["ok seen a"]);
  });

  test.for(["onInput", "contribute", "reviewCall", "onStop"] as const)("a hook: %s", async (hook, { world }) => {
    const stuck = defineMiddleware({ name: "stuck", [hook]: never });
    const { session } = await world.open([look("a"), "done"], { middleware: [stuck as never] });
    const run = session.run("go");
    for (let i = 0; i < 5; i++) await settled();
    run.cancel();
    await world.clock.advance(250);
    expect(await standing(run.result.then(statusOf))).toBe("cancelled");
  });

  test("a schema that never answers, before the review and after it", async ({ world }) => {
    const base = world.tools.look;
    let checks = 0;
    const tools = { slow: { ...base, parse: (args: Json) => (checks++ === 0 ? base.parse(args) : never()) } };
    const allow = defineMiddleware({ name: "allow", reviewCall: () => "allow" });
    const { session } = await world.open([{ calls: [call("slow", "a")] }], { tools, middleware: [allow] });
    const run = session.run("go");
    for (let i = 0; i < 5; i++) await settled();
    run.cancel();
    await world.clock.advance(250);
    expect(await standing(run.result.then(statusOf))).toBe("cancelled");
  });

  test("a file store that never answers", async ({ world }) => {
    const store = world.faulty();
    store.putFile = never;
    const tools = { big: { ...world.tools.look, execute: () => "x".repeat(1_000) } };
    const { session } = await world.open([{ calls: [call("big", "a")] }], {
      tools,
      store,
      limits: { maxOutputChars: 200 },
    });
    const run = session.run("go");
    for (let i = 0; i < 5; i++) await settled();
    run.cancel();
    await world.clock.advance(250);
    expect(await standing(run.result.then(statusOf))).toBe("cancelled");
    expect(told(session.messages())[0]).toMatch(/^(ok|abandoned) /);
  });

  test("an approver whose edited arguments are judged for ever", async ({ world }) => {
    let looks = 0;
    const stuck = defineMiddleware({ name: "stuck", reviewCall: () => (looks++ === 0 ? "ask" : never()) });
    const { session } = await world.open([write("a")], { middleware: [stuck] });
    const run = session.run("go", {
      approve: ([r]) => [{ callId: r!.callId, decision: "allow", args: { path: "b" } }],
    });
    for (let i = 0; i < 5; i++) await settled();
    run.cancel();
    expect(await standing(run.result.then(statusOf))).toBe("cancelled");
    expect(world.ran).toEqual([]);
  });

  test("a compaction hook, in a run and by hand", async ({ world }) => {
    const stuck = defineMiddleware({ name: "stuck", beforeCompact: never });
    const { session } = await world.open(["one"], { middleware: [stuck], compaction: { maxSessionTurns: 1 } });
    await session.run("1").unwrap();
    const run = session.run("2");
    await world.until(() => session.stateValue.startsWith("compact."));
    run.cancel();
    expect(await standing(run.result.then(statusOf))).toBe("cancelled");
    const work = session.compact();
    await world.until(() => session.stateValue.startsWith("compact."));
    await session.cancel();
    expect(await standing(work.then((r) => r.status))).toBe("failed");
  });
});

describe("an observer of the end", () => {
  test("that hangs does not keep the result, nor the session, for longer than the grace", async ({ world }) => {
    const stuck = defineMiddleware({ name: "stuck", onRunEnd: never });
    const { session, events } = await world.open(["one", "two"], { middleware: [stuck] });
    const run = session.run("go");
    await world.until(() => all(events, "run.ended").length === 1);
    await world.clock.advance(250);
    expect(await standing(run.result.then(statusOf))).toBe("completed");
    const next = session.run("more");
    await world.until(() => all(events, "run.ended").length === 2);
    await world.clock.advance(250);
    expect(await standing(next.result.then(statusOf))).toBe("completed");
  });

  test("while it takes its time, send() is not refused: the message is the next run's", async ({ world }) => {
    const open = gate();
    const slow = defineMiddleware({ name: "slow", onRunEnd: () => open.promise });
    const { session, model, events } = await world.open(["one", "two"], { middleware: [slow] });
    const run = session.run("go");
    await world.until(() => all(events, "run.ended").length === 1);
    const sent = session.send("one more thing");
    const outcome =
      "result" in sent ? standing((sent as Run).result.then(statusOf, (e: { code: string }) => e.code)) : "queued";
    open.open();
    expect((await run.result).status).toBe("completed");
    expect(["completed", "pending", "queued"]).toContain(await outcome);
    if ("result" in sent) await (sent as Run).unwrap();
    else await session.continue().unwrap();
    expect(newest(model.requests[1])).toContain("one more thing");
  });

  test("the loop over a run is over, the store is slow, a hook is slow: the next run begins all the same", async ({
    world,
  }) => {
    const store = world.faulty();
    store.lags = true;
    const slow = defineMiddleware({ name: "slow", onRunEnd: () => settled() });
    const { session } = await world.open(["one", "two"], { middleware: [slow], store });
    for await (const _ of session.run("go"));
    const next = await session.run("next").result.catch((error: { code: string }) => error.code);
    expect(next).toMatchObject({ status: "completed", text: "two" });
  });
});

describe("at any moment", () => {
  const ticks = async (n: number) => {
    for (let i = 0; i < n; i++) await Promise.resolve();
  };

  test("a notice is written, however close to the end of something else it comes", async ({ world }) => {
    const store = world.faulty();
    const { session } = await world.open(() => "ok", { store });
    const given: string[] = [];
    for (let n = 0; n < 40; n++) {
      const word = `notice ${n}`;
      const work = n % 2 ? session.memory.set("n", n) : session.run("go").result;
      await ticks(n);
      session.notify({ kind: "info", text: word });
      given.push(word);
      await work;
      for (let i = 0; i < 3; i++) await settled();
      expect(JSON.stringify(store.writes.flat()), word).toContain(word);
    }
    expect(world.warnings).toEqual([]);
  });

  test("a cancel in any microtask of a run ends it once, with a paired history", async ({ world }) => {
    for (let n = 0; n < 60; n++) {
      const id = `c${n}`;
      const { session, events } = await world.open([look("a", "b"), "done"], { session: { id } });
      const run = session.run("go");
      await ticks(n);
      run.cancel("enough");
      const result = await run.result;
      expect(["cancelled", "completed"]).toContain(result.status);
      await settled();
      only(events, "run.ended");
      expect(statusOf(await session.continue({ maxTurns: 0 }).result)).toMatch(/completed|max_turns/);
    }
  });

  test("a steer in any microtask of a run is refused, taken, or undelivered, never lost", async ({ world }) => {
    for (let n = 0; n < 60; n++) {
      const id = `t${n}`;
      const { session } = await world.open(() => "done", { session: { id } });
      const run = session.run("go");
      await ticks(n);
      const receipt = session.steer("hear me");
      const { undelivered } = await run.result;
      const heard = JSON.stringify(session.messages()).includes("hear me");
      if (receipt) expect(heard || undelivered.includes(receipt.id), `after ${n}`).toBe(true);
      else expect(heard).toBe(false);
    }
  });

  test("a close in any microtask of a run ends both, once", async ({ world }) => {
    for (let n = 0; n < 50; n++) {
      const { session, events } = await world.open([look("a"), "done"], { session: { id: `x${n}` } });
      const run = session.run("go");
      await ticks(n);
      await session.close();
      expect(["cancelled", "completed"], `after ${n}`).toContain((await run.result).status);
      await settled();
      expect(events.at(-1)?.type, `after ${n}`).toBe("session.closed");
      only(events, "run.ended");
    }
  });

  test.for(["quick", "slow"])(
    "decisions from another process at any moment of a waiting run: a %s store",
    async (kind, { world }) => {
      const { again } = world.folder();
      const other = again();
      world.faulty().lags = kind === "slow";
      for (let n = 0; n < 12; n++) {
        const id = `d${n}`;
        const tools = {
          ...world.tools,
          write: { ...world.tools.write, execute: () => ticks(n).then(() => "written") },
        };
        const { session } = await world.open([write("a", "b"), "done"], { session: { id }, tools });
        const run = session.run("go", { approvals: "wait" });
        await world.until(() => session.pending().length === 2);
        const far = await world.reopen([], { store: other, tools }, id);
        for (const { callId } of far.session.pending()) {
          await far.session.decide([{ callId, decision: "allow" }]);
          await ticks(n);
        }
        for (let i = 0; i < 4; i++) await world.clock.advance(500);
        expect(await standing(run.result.then(statusOf)), `after ${n}`).toBe("completed");
        expect(told(session.messages())).toEqual(["ok written", "ok written"]);
      }
    },
  );
});

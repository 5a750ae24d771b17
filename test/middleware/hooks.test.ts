import { describe, expect } from "vitest";
import { text } from "../../src/core/message.ts";
import { defineMiddleware, type HookContext } from "../../src/middleware/middleware.ts";
import {
  all,
  call,
  gate,
  look,
  newest,
  only,
  readTool,
  said,
  settled,
  statusOf,
  test,
  told,
} from "../session/support.ts";

describe("onInput", () => {
  test("a refused prompt does not enter the transcript: input.refused, status blocked", async ({ world }) => {
    const filter = defineMiddleware({
      name: "filter",
      onInput: ({ parts }) => (JSON.stringify(parts).includes("secret") ? { refuse: "no secrets" } : undefined),
    });
    const { session, model, events } = await world.open(["ok"], { middleware: [filter] });
    expect(await session.run("my secret").result).toMatchObject({
      status: "blocked",
      reason: "no secrets",
      undelivered: [],
    });
    await settled();
    expect(only(events, "input.refused").reason).toBe("no secrets");
    expect(session.messages()).toEqual([]);
    expect(model.requests).toEqual([]);
    expect((await session.run("fine").unwrap()).text).toBe("ok");
    expect(said(model.requests[0]!.messages)).toEqual(["user fine"]);
  });

  test("may rewrite and add info; the next middleware sees what the one before made of it", async ({ world }) => {
    const seen: string[] = [];
    const chain = [
      defineMiddleware({ name: "one", onInput: () => ({ parts: [text("rewritten")], info: ["from one"] }) }),
      defineMiddleware({
        name: "two",
        onInput: async ({ parts }) => {
          seen.push(JSON.stringify(parts));
          return { info: ["from two"] };
        },
      }),
    ];
    const { session, model } = await world.open(["ok"], { middleware: chain });
    await session.run("original").unwrap();
    expect(seen).toEqual(['[{"type":"text","text":"rewritten"}]']);
    expect(said(model.requests[0]!.messages)).toEqual([
      "user rewritten",
      "user [notice]\nfrom one\n[/notice]",
      "user [notice]\nfrom two\n[/notice]",
    ]);
    expect(said(session.messages())[0]).toBe("user rewritten");
  });

  test("steering is looked at too, notices are not; a refused steer does not block the run", async ({ world }) => {
    const seen: string[] = [];
    const filter = defineMiddleware({
      name: "filter",
      onInput: ({ parts }) => {
        const words = parts.map((p) => (p.type === "text" ? p.text : "")).join("");
        seen.push(words);
        return words === "bad" ? { refuse: "bad words" } : undefined;
      },
    });
    const open = gate();
    const { session, model } = await world.open([{ text: "one", after: open.promise }, "two"], {
      middleware: [filter],
    });
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    session.steer("bad");
    session.steer("good");
    session.notify({ kind: "defer", text: "background" });
    open.open();
    expect(await run.unwrap()).toMatchObject({ text: "two" });
    expect(seen).toEqual(["go", "bad", "good"]);
    expect(JSON.stringify(model.requests[1]!.messages)).toMatch(/good.*background/);
    expect(JSON.stringify(session.messages())).not.toContain('"bad"');
  });

  test("a cancel during a review ends the run, and the prompt stays undelivered", async ({ world }) => {
    const review = gate();
    let signal: AbortSignal | undefined;
    const slow = defineMiddleware({
      name: "slow",
      onInput: async (_, context) => {
        signal = context.signal;
        await review.promise;
      },
    });
    const { session } = await world.open(["ok"], { middleware: [slow] });
    const run = session.run("go");
    await world.until(() => session.stateValue === "receive.admitting");
    run.cancel();
    const result = await run.result;
    expect(result.status).toBe("cancelled");
    expect(result.undelivered).toHaveLength(1);
    expect(signal?.aborted).toBe(true);
    review.open();
    expect((await session.continue().unwrap()).text).toBe("ok");
  });
});

describe("onStop", () => {
  test("sends the run on with feedback, which the model reads; it sees the answer it judges", async ({ world }) => {
    const seen: string[] = [];
    const goal = defineMiddleware({
      name: "goal",
      onStop: ({ text: answer }) => {
        seen.push(answer);
        return seen.length === 1 ? { feedback: "the tests are red" } : undefined;
      },
    });
    const { session, model } = await world.open(["done", "now really"], { middleware: [goal] });
    expect(await session.run("go").unwrap()).toMatchObject({ text: "now really", turns: 2 });
    expect(seen).toEqual(["done", "now really"]);
    expect(newest(model.requests[1])).toContain("the tests are red");
  });

  test("at most stopFeedback times in a row, and tool work in between starts the count again", async ({ world }) => {
    const never = defineMiddleware({ name: "never", onStop: () => ({ feedback: "more" }) });
    const script = ["1", "2", look("a"), "3", "4", "5"];
    const { session, model } = await world.open(script, { middleware: [never], limits: { stopFeedback: 2 } });
    expect(statusOf(await session.run("go").result)).toBe("completed");
    expect(model.requests).toHaveLength(6);
  });

  test("is not asked when a run is cancelled, failed or out of turns", async ({ world }) => {
    let asked = 0;
    const stop = defineMiddleware({ name: "stop", onStop: () => void asked++ });
    const { session } = await world.open([look("a"), { fails: { class: "fatal" } }, { hangs: true }], {
      middleware: [stop],
    });
    await session.run("go", { maxTurns: 1 }).result;
    await session.continue().result;
    const run = session.run("again");
    await world.until(() => session.stateValue === "reason.requesting");
    run.cancel();
    await run.result;
    expect(asked).toBe(0);
  });

  test("a steer while it decides is part of the run", async ({ world }) => {
    const open = gate();
    let asked = 0;
    const slow = defineMiddleware({ name: "slow", onStop: () => (asked++ === 0 ? open.promise : undefined) });
    const { session, model } = await world.open(["one", "two"], { middleware: [slow] });
    const run = session.run("go");
    await world.until(() => session.stateValue === "receive.closing");
    expect(session.steer("one more")).toMatchObject({ status: "queued" });
    open.open();
    expect(await run.unwrap()).toMatchObject({ text: "two", undelivered: [] });
    expect(newest(model.requests[1])).toContain("one more");
  });
});

describe("onRunEnd", () => {
  test("comes after the terminal record, once for every run.ended, however the run ended", async ({ world }) => {
    const ended: unknown[] = [];
    const observer = defineMiddleware({
      name: "observer",
      onRunEnd: ({ runId, status, reason, usage }) => void ended.push([runId, status, reason, usage.input]),
    });
    const { session } = await world.open(
      [
        { text: "ok", usage: { input: 3 } },
        { hangs: true },
        { calls: [call("write", "a")] },
        { calls: [call("write", "b")] },
        "new",
      ],
      { middleware: [observer] },
    );
    await session.run("1").unwrap();
    const second = session.run("2");
    await world.until(() => session.stateValue === "reason.requesting");
    second.cancel("stop");
    await second.result;
    await session.run("3", { approvals: "suspend" }).result;
    expect(ended).toHaveLength(2);
    await session.cancel({ reason: "forget it" });
    for (let i = 0; i < 5; i++) await settled();
    expect(ended.slice(2)).toEqual([["run_3", "cancelled", "forget it", undefined]]);
    await session.run("4", { approvals: "suspend" }).result;
    await session.run("5").unwrap();
    expect(ended.map((e) => (e as unknown[]).slice(0, 3))).toEqual([
      ["run_1", "completed", undefined],
      ["run_2", "cancelled", "stop"],
      ["run_3", "cancelled", "forget it"],
      ["run_4", "cancelled", "interrupted"],
      ["run_5", "completed", undefined],
    ]);
    expect((ended[0] as unknown[])[3]).toBe(3);
  });

  test("may write to the session, and the next run can begin in it", async ({ world }) => {
    const results: string[] = [];
    const chain = defineMiddleware({
      name: "chain",
      onRunEnd: async () => {
        await session.memory.set("ended", true);
      },
    });
    const { session } = await world.open(["one", "two"], { middleware: [chain] });
    results.push((await session.run("1").unwrap()).text, (await session.run("2").unwrap()).text);
    expect(results).toEqual(["one", "two"]);
    expect(session.memory.get("ended")).toBe(true);
  });
});

describe("every hook", () => {
  test("is told where it runs, with the host's live objects of that run", async ({ world }) => {
    const told: [string, HookContext][] = [];
    const note = (hook: string) => (_: unknown, context?: HookContext) =>
      void told.push([hook, context ?? (_ as HookContext)]);
    const all = defineMiddleware({
      name: "all",
      onInput: note("onInput"),
      contribute: note("contribute"),
      reviewCall: note("reviewCall"),
      afterCall: (_c, _r, context) => void told.push(["afterCall", context]),
      onStop: note("onStop"),
      onRunEnd: note("onRunEnd"),
    });
    const mine = { tenant: 7 };
    const { session } = await world.open([look("a"), "done"], {
      middleware: [all],
      session: { workspace: "/w", context: { tenant: 0 } },
    });
    await session.run("go", { context: mine }).unwrap();
    expect(told.map(([hook]) => hook)).toEqual([
      "onInput",
      "contribute",
      "reviewCall",
      "afterCall",
      "contribute",
      "onStop",
      "onRunEnd",
    ]);
    for (const [hook, context] of told) {
      expect(context.session, hook).toEqual({ id: "s1", workspace: "/w", mode: "default" });
      expect(context.runId, hook).toBe("run_1");
      expect(context.context, hook).toBe(mine);
      expect(context.signal, hook).toBeInstanceOf(AbortSignal);
    }
  });

  test("afterCall sees the result and adds a remark; it cannot change the status", async ({ world }) => {
    const seen: unknown[] = [];
    const lint = defineMiddleware({
      name: "lint",
      afterCall: (c, { status, output }) => {
        seen.push([c.name, c.args, status, output]);
        return { note: "\n2 warnings" };
      },
    });
    const liar = defineMiddleware({ name: "liar", afterCall: () => ({ status: "failed" }) as never });
    const { session } = await world.open([look("a"), "done"], { middleware: [lint, liar] });
    await session.run("go").unwrap();
    expect(seen).toEqual([["look", { path: "a" }, "ok", [text("seen a")]]]);
    expect(told(session.messages())).toEqual(["ok seen a\n2 warnings"]);
  });

  test("afterCall is told of failures and cancels too, not of calls that never ran", async ({ world }) => {
    const seen: string[] = [];
    const watch = defineMiddleware({ name: "watch", afterCall: (c, r) => void seen.push(`${c.name} ${r.status}`) });
    const tools = {
      ...world.tools,
      bad: readTool(() => {
        throw new Error("x");
      }),
    };
    const { session, events } = await world.open(
      [{ calls: [call("bad", "a"), call("write", "b"), call("look", "c")] }, "done"],
      {
        middleware: [watch],
        tools,
      },
    );
    await session.run("go").unwrap();
    await settled();
    expect(seen.sort()).toEqual(["bad failed", "look ok"]);
    expect(all(events, "tool.started")).toHaveLength(2);
  });
});

import { describe, expect } from "vitest";
import { all, call, newest, only, readTool, said, settled, standing, test } from "./support.ts";

const notice = (words: string) => `user [notice]\n${words}\n[/notice]`;
const report = (words: string) => `user [background_result]\n${words}\n[/background_result]`;

describe("background tasks", () => {
  /** A tool that hands back work and leaves its handle behind. */
  const starting = (handles: ((text: string) => void)[]) => ({
    start: readTool(({ path }, { session }) => {
      const task = session.background(`build ${path}`);
      handles.push(task.settle);
      return `started ${task.taskId}`;
    }),
    look: readTool(() => "x"),
  });

  test("a run waits for its background work; the report arrives exactly once and makes one more turn", async ({
    world,
  }) => {
    const handles: ((text: string) => void)[] = [];
    const script = [{ calls: [call("start", "a")] }, "it is building", "it is built"];
    const { session, model, events } = await world.open(script, { tools: starting(handles) });
    const run = session.run("go");
    await world.until(() => session.state === "waiting");
    expect(session.why()).toMatch(/1 background task/);
    expect(await standing(run.result)).toBe("pending");
    handles[0]!("all green");
    handles[0]!("again");
    expect(await run.unwrap()).toMatchObject({ text: "it is built", turns: 3 });
    await settled();
    expect(newest(model.requests[2])).toBe(report("all green"));
    expect(JSON.stringify(session.messages())).not.toContain("again");
    expect(only(events, "run.waiting")).toMatchObject({ tasks: ["task_1"], waitMs: 120_000 });
    expect(only(events, "run.woken").reason).toBe("input");
    expect(world.clock.timers).toBe(0);
  });

  test("waiting is bounded by waitMs: then completed with openTasks, and a later report asks to be woken", async ({
    world,
  }) => {
    const handles: ((text: string) => void)[] = [];
    const script = [{ calls: [call("start", "a")] }, "it is building", "it is built"];
    const { session, model, events } = await world.open(script, {
      tools: starting(handles),
      limits: { waitMs: 10_000 },
    });
    const run = session.run("go");
    await world.until(() => session.state === "waiting");
    await world.clock.advance(9_999);
    expect(await standing(run.result)).toBe("pending");
    await world.clock.advance(1);
    expect(await run.result).toMatchObject({ status: "completed", openTasks: ["task_1"], text: "it is building" });
    handles[0]!("finally");
    await world.until(() => all(events, "wake.requested").length === 1);
    expect((await session.continue().unwrap()).text).toBe("it is built");
    expect(newest(model.requests[2])).toBe(report("finally"));
    await settled();
    expect(all(events, "run.woken").map((e) => e.reason)).toEqual(["timeout"]);
  });

  test("waiting is cancellable, and a steer wakes it", async ({ world }) => {
    const handles: ((text: string) => void)[] = [];
    const script = [{ calls: [call("start", "a")] }, "building", "steered", "later"];
    const { session, events } = await world.open(script, { tools: starting(handles) });
    const run = session.run("go");
    await world.until(() => session.state === "waiting");
    session.steer("what about b?");
    await world.until(() => all(events, "exchange.committed").length === 3);
    await world.until(() => session.state === "waiting");
    run.cancel("enough");
    expect(await run.result).toMatchObject({ status: "cancelled", openTasks: ["task_1"] });
    expect(world.clock.timers).toBe(0);
    handles[0]!("done at last");
    await world.until(() => all(events, "wake.requested").length === 1);
    expect((await session.continue().unwrap()).text).toBe("later");
  });

  test("several tasks, one of which reports before its tool has returned", async ({ world }) => {
    const handles: ((text: string) => void)[] = [];
    const tools = {
      ...starting(handles),
      quick: readTool((_, { session }) => {
        session.background("quick").settle("quick is done");
        return "started";
      }),
    };
    const script = [{ calls: [call("start", "a"), call("quick", "b")] }, "one down", "both down"];
    const { session, model, events } = await world.open(script, { tools });
    const run = session.run("go");
    await world.until(() => session.state === "waiting");
    expect(newest(model.requests[1])).toBe(report("quick is done"));
    expect(only(events, "run.waiting").tasks).toEqual(["task_1"]);
    handles[0]!("slow is done");
    expect((await run.unwrap()).text).toBe("both down");
  });

  test("with autorun a late report is answered without the host", async ({ world }) => {
    const handles: ((text: string) => void)[] = [];
    const { session } = await world.open([{ calls: [call("start", "a")] }, "building", "built"], {
      tools: starting(handles),
      limits: { waitMs: 1_000 },
      session: { autorun: {} },
    });
    const run = session.run("go");
    await world.until(() => session.state === "waiting");
    await world.clock.advance(1_000);
    await run.unwrap();
    handles[0]!("at last");
    await world.until(() => said(session.messages()).at(-1) === "assistant built");
    await world.until(() => session.state === "idle");
  });

  test("tools may notify too: info with the results, defer as a turn of its own", async ({ world }) => {
    const tools = {
      tell: readTool((_, { session }) => {
        session.notify({ kind: "info", text: "a hint" });
        return "x";
      }),
    };
    const { session, model } = await world.open([{ calls: [call("tell", "a")] }, "done"], { tools });
    await session.run("go").unwrap();
    expect(said(model.requests[1]!.messages).slice(-2)).toEqual(["tool x", notice("a hint")]);
  });
});

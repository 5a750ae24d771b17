import { describe, expect } from "vitest";
import { defineMiddleware, type Middleware } from "../../src/middleware/middleware.ts";
import { all, look, only, readTool, settled, statusOf, test, told, type World } from "../session/support.ts";

const broken = () => {
  throw new Error("hook broke");
};
const rejecting = async () => broken();
const bad = (hook: keyof Middleware, how: () => unknown = broken) =>
  defineMiddleware({ name: "bad", [hook]: how } as Middleware);

async function runWith(
  world: World,
  hook: keyof Middleware,
  how: () => unknown,
  script = [look("a"), "done"] as never[],
) {
  const opened = await world.open(script, { middleware: [bad(hook, how)] });
  const result = await opened.session.run("go").result;
  await settled();
  return { ...opened, result };
}

describe.for([
  ["throws", broken],
  ["rejects", rejecting],
] as const)("a hook that %s", ([, how]) => {
  test("onInput: the prompt is refused", async ({ world }) => {
    const { result, events } = await runWith(world, "onInput", how);
    expect(result).toMatchObject({ status: "blocked", reason: expect.stringContaining("hook broke") });
    expect(only(events, "input.refused").reason).toMatch(/bad/);
  });

  test("contribute: left out, reported, and the run goes on", async ({ world }) => {
    const { result, model, events } = await runWith(world, "contribute", how);
    expect(statusOf(result)).toBe("completed");
    expect(model.requests[0]!.instructions).toBe("");
    expect(all(events, "middleware.failed")[0]).toMatchObject({
      middleware: "bad",
      hook: "contribute",
      message: "hook broke",
    });
  });

  test("reviewCall: a deny of that call, by policy, and reported", async ({ world }) => {
    const { result, session, events } = await runWith(world, "reviewCall", how);
    expect(statusOf(result)).toBe("completed");
    expect(told(session.messages())).toEqual([expect.stringMatching(/^denied Tool call denied by policy\. .*bad/)]);
    expect(world.ran).toEqual([]);
    expect(only(events, "middleware.failed")).toMatchObject({ hook: "reviewCall", message: "hook broke" });
  });

  test("afterCall: reported, the result stays", async ({ world }) => {
    const { result, session, events } = await runWith(world, "afterCall", how);
    expect(statusOf(result)).toBe("completed");
    expect(told(session.messages())).toEqual(["ok seen a"]);
    expect(only(events, "middleware.failed")).toMatchObject({ hook: "afterCall" });
  });

  test("onStop: reported, the answer stands", async ({ world }) => {
    const { result, events } = await runWith(world, "onStop", how);
    expect(result).toMatchObject({ status: "completed", text: "done" });
    expect(only(events, "middleware.failed")).toMatchObject({ hook: "onStop" });
  });

  test("onRunEnd: reported on the record, the result stands, the session is free", async ({ world }) => {
    const { result, session } = await runWith(world, "onRunEnd", how);
    expect(result).toMatchObject({ status: "completed", text: "done" });
    const notes = (await world.records()).filter((r) => r.type === "middleware.failed");
    expect(notes).toMatchObject([{ hook: "onRunEnd", dir: "note" }]);
    expect(session.state).toBe("idle");
  });

  test("beforeCompact: no compaction, the caller is told why, the session is as it was", async ({ world }) => {
    const { session } = await world.open(["one", "two"], { middleware: [bad("beforeCompact", how)] });
    await session.run("1").unwrap();
    expect(await session.compact()).toMatchObject({ status: "failed", message: expect.stringContaining("hook broke") });
    expect(session.view()).toEqual(session.messages());
    expect((await session.run("2").unwrap()).text).toBe("two");
  });

  test("afterCompact: reported, the compaction stays", async ({ world }) => {
    const script = (r: { purpose: string }) => (r.purpose === "summary" ? "[summary]s[/summary]" : "ok");
    const { session, events } = await world.open(script, { middleware: [bad("afterCompact", how)] });
    await session.run("1").unwrap();
    expect(await session.compact()).toEqual({ status: "ok" });
    await world.until(() => all(events, "middleware.failed").length === 1);
    expect(only(events, "middleware.failed")).toMatchObject({ hook: "afterCompact" });
  });
});

describe("a tool provider", () => {
  test("that throws when the agent is made is a caller's mistake; later the tools of before are kept", async ({
    world,
  }) => {
    let breaks = false;
    const provider = defineMiddleware({
      name: "provider",
      tools: () => {
        if (breaks) throw new Error("registry is down");
        return { extra: readTool(({ path }) => `extra ${path}`) };
      },
    });
    const { session, model, events } = await world.open(
      [
        { calls: [{ name: "extra", args: { path: "1" } }] },
        { calls: [{ name: "extra", args: { path: "2" } }] },
        "done",
      ],
      { middleware: [provider] },
    );
    const run = session.run("go");
    await world.until(() => session.state !== "idle");
    breaks = true;
    expect(statusOf(await run.result)).toBe("completed");
    await settled();
    expect(model.requests.map((r) => r.tools.map((t) => t.name))).toEqual(Array(3).fill(["extra", "look", "write"]));
    expect(told(session.messages())).toEqual(["ok extra 1", "ok extra 2"]);
    expect(all(events, "middleware.failed").every((e) => e.hook === "tools" && e.middleware === "provider")).toBe(true);
    expect(all(events, "middleware.failed").length).toBeGreaterThan(0);
    expect(() => world.agent({ middleware: [provider] })).toThrow(/registry is down/);
  });
});

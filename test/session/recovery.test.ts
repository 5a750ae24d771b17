import { describe, expect } from "vitest";
import { crashed, endless } from "./crashes.ts";
import { FaultyStore, holds } from "./faulty-store.ts";
import { all, call, gate, look, newest, readTool, said, settled, statusOf, test, told, write } from "./support.ts";

describe("onUnknown", () => {
  test("report: the call is unknown and the model is told to look", async ({ world }) => {
    const tools = { endless: endless(world) };
    await crashed(world, [{ calls: [call("endless", "a")] }], holds("tool.started"), { tools });
    const { session, model } = await world.reopen(["done"], { tools });
    await session.continue().unwrap();
    expect(newest(model.requests[0])).toMatch(/Outcome unknown.*Check what it did/);
    expect(world.ran.length).toBeLessThanOrEqual(1);
  });

  test("retry: an idempotent tool runs again", async ({ world }) => {
    const tools = { endless: endless(world, { onUnknown: "retry" }) };
    await crashed(world, [{ calls: [call("endless", "a")] }], holds("tool.started"), { tools });
    const again = { endless: readTool(({ path }) => `at last ${path}`, { onUnknown: "retry" }) };
    const { session, events } = await world.reopen(["done"], { tools: again });
    await session.continue().unwrap();
    expect(told(session.messages())).toEqual(["ok at last a"]);
    await settled();
    expect(all(events, "tool.started")).toHaveLength(2);
  });

  test.for(["allow", "deny", "nobody"] as const)(
    "ask: whoever approves says whether it runs again: %s",
    async (who, { world }) => {
      const tools = { endless: endless(world, { onUnknown: "ask" }) };
      await crashed(world, [{ calls: [call("endless", "a")] }], holds("tool.started"), { tools });
      const again = { endless: readTool(() => "again", { onUnknown: "ask" }) };
      const { session } = await world.reopen(["done"], { tools: again });
      const reasons: unknown[] = [];
      const approve = (requests: { reason?: string | undefined; hash: string }[]) => {
        reasons.push(requests[0]!.reason);
        expect(requests[0]!.hash).not.toBe("");
        return who as "allow" | "deny";
      };
      const run = session.continue(who === "nobody" ? {} : { approve });
      expect(statusOf(await run.result)).toBe("completed");
      expect(told(session.messages())[0]).toMatch(who === "allow" ? /^ok again/ : /^(denied|unknown)/);
      if (who !== "nobody") expect(reasons).toEqual([expect.stringMatching(/running when the process ended/)]);
    },
  );

  test("the same repair twice is a no-op: a second crash right after the resume changes nothing", async ({ world }) => {
    const tools = { ...world.tools, endless: endless(world) };
    await crashed(world, [{ calls: [call("endless", "a")] }], holds("tool.started"), { tools });
    for (let i = 0; i < 3; i++) {
      const store = new FaultyStore(world.store);
      const next = await world.reopen([], { tools, store });
      store.killAfter(holds("session.resumed"));
      next.session.continue();
      await world.until(() => store.isDead);
    }
    const { session } = await world.reopen(["done"], { tools });
    await session.continue().unwrap();
    expect(told(session.messages())).toEqual([expect.stringMatching(/^unknown/)]);
  });
});

describe("pending approvals", () => {
  test("are still pending after a crash, and an approver given to continue is asked", async ({ world }) => {
    await crashed(world, [write("a"), "never"], holds("approval.requested"), {
      options: { approve: () => new Promise(() => {}) },
    });
    const { session } = await world.reopen(["done"]);
    expect(session.pending().map((r) => r.args)).toEqual([{ path: "a" }]);
    expect(session.why()).toMatch(/1 approval/);
    await session.continue({ approve: "allow" }).unwrap();
    expect(world.ran).toEqual(["write a"]);
  });

  test("without an approver, continue ends: nobody is there", async ({ world }) => {
    await crashed(world, [write("a"), "never"], holds("approval.requested"), {
      options: { approve: () => new Promise(() => {}) },
    });
    const { session } = await world.reopen(["done"]);
    expect(statusOf(await session.continue().result)).toBe("completed");
    expect(told(session.messages())[0]).toMatch(/^denied/);
  });

  test("decisions that were taken before the crash still count", async ({ world }) => {
    const store = new FaultyStore(world.store);
    const first = await world.open([write("a", "b")], { store });
    first.session.run("go", { approvals: "wait" });
    await world.until(() => first.session.state === "awaiting_approval");
    const [a] = first.session.pending();
    await first.session.decide([{ callId: a!.callId, decision: "deny" }]);
    await store.kill();
    const { session } = await world.reopen(["done"]);
    expect(session.pending().map((r) => r.args)).toEqual([{ path: "b" }]);
    await session.decide([{ callId: session.pending()[0]!.callId, decision: "allow" }]);
    await session.continue().unwrap();
    expect(world.ran).toEqual(["write b"]);
  });
});

describe("on disk", () => {
  test("another process resumes what one left, and the first takes up what the other did", async ({ world }) => {
    const { again } = world.folder();
    const open = gate();
    const first = await world.open([look("a"), "one", { text: "three", after: open.promise }]);
    await first.session.run("1").unwrap();
    const second = await world.reopen(["two"], { store: again() });
    await second.session.memory.set("k", 1);
    await second.session.run("2").unwrap();
    open.open();
    await first.session.run("3").unwrap();
    expect(said(first.session.messages())).toEqual([
      "user 1",
      "assistant ",
      "tool seen a",
      "assistant one",
      "user 2",
      "assistant two",
      "user 3",
      "assistant three",
    ]);
    expect(first.session.memory.get("k")).toBe(1);
    expect((await world.records()).filter((r) => r.type === "run.ended")).toHaveLength(3);
  });
});

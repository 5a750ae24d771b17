import { describe, expect } from "vitest";
import { oneByOne } from "../../src/effects/ask-approval.ts";
import type { Decision } from "../../src/ports.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import type { Session } from "../../src/session/session.ts";
import { all, call, codeOf, only, settled, standing, statusOf, test, told, write, writeTool } from "./support.ts";

const allow = (callId: string, args?: unknown): Decision => ({
  callId,
  decision: "allow",
  ...(args === undefined ? {} : { args }),
});
const deny = (callId: string): Decision => ({ callId, decision: "deny" });
const ids = (session: Session) => session.pending().map((r) => r.callId);

describe("an approver", () => {
  test("may answer for all at once, in a word or by a function", async ({ world }) => {
    const { session } = await world.open([write("a"), write("b"), write("c"), write("d"), "done"]);
    await session.run("go", { maxTurns: 1, approve: "allow" }).result;
    await session.continue({ maxTurns: 1, approve: "deny" }).result;
    await session.continue({ maxTurns: 1, approve: () => "allow" }).result;
    await session.continue({ approve: async () => "deny" as const }).unwrap();
    expect(world.ran).toEqual(["write a", "write c"]);
  });

  test("is asked once per batch, with names, arguments and a way to be called off", async ({ world }) => {
    const batches: unknown[] = [];
    const { session } = await world.open([
      { calls: [call("write", "a"), call("look", "b"), call("write", "c")] },
      "done",
    ]);
    await session
      .run("go", {
        approve: (requests, { signal }) => {
          batches.push(requests.map(({ name, args }) => ({ name, args })));
          expect(signal.aborted).toBe(false);
          return "allow";
        },
      })
      .unwrap();
    expect(batches).toEqual([
      [
        { name: "write", args: { path: "a" } },
        { name: "write", args: { path: "c" } },
      ],
    ]);
  });

  test("oneByOne asks call by call", async ({ world }) => {
    const { session } = await world.open([write("a", "b", "c"), "done"]);
    const asked: unknown[] = [];
    const approve = oneByOne(async (request) => {
      asked.push(request.args);
      return request.callId.endsWith("1") ? { decision: "deny", reason: "not b" } : "allow";
    });
    await session.run("go", { approve }).unwrap();
    expect(asked).toEqual([{ path: "a" }, { path: "b" }, { path: "c" }]);
    expect(told(session.messages())).toEqual([
      "ok written a",
      "denied Tool call denied by user. not b",
      "ok written c",
    ]);
  });

  test("from the agent's defaults holds for runs that name none", async ({ world }) => {
    const { session } = await world.open([write("a"), write("b"), "done"], { defaults: { approve: "allow" } });
    await session.run("go", { maxTurns: 1 }).result;
    await session.continue({ approve: "deny" }).unwrap();
    expect(world.ran).toEqual(["write a"]);
  });

  test("that answers nonsense denies", async ({ world }) => {
    const { session } = await world.open([write("a"), write("b"), "done"]);
    const answers: unknown[] = [[{ callId: "call_1_1_0", decision: "maybe" }], undefined];
    await session.run("go", { approve: (() => answers.shift()) as never }).unwrap();
    expect(told(session.messages()).map((t) => t.split(" ")[0])).toEqual(["denied", "denied"]);
    expect(world.ran).toEqual([]);
  });

  test("may respond in place of the tool: an ok result by the approver", async ({ world }) => {
    const { session } = await world.open([write("a"), "done"]);
    await session
      .run("go", { approve: (r) => [{ callId: r[0]!.callId, decision: "respond", text: "I did it by hand" }] })
      .unwrap();
    expect(told(session.messages())).toEqual(["ok I did it by hand"]);
    expect(world.ran).toEqual([]);
    const commit = (await world.records()).find((r) => r.type === "exchange.committed");
    expect(commit).toMatchObject({ results: [{ status: "ok", by: "approver" }] });
  });
});

describe("asks without an answer", () => {
  test.for(["deny", "wait", "suspend"] as const)(
    "what an approver leaves out meets the mode: %s",
    async (mode, { world }) => {
      const { session } = await world.open([write("a", "b"), "done"]);
      const run = session.run("go", { approve: ([a]) => [allow(a!.callId)], approvals: mode });
      if (mode === "wait") {
        await world.until(() => session.pending().length === 1);
        expect(await standing(run.result)).toBe("pending");
        await session.decide([allow(ids(session)[0]!)]);
      }
      const result = await run.result;
      expect(statusOf(result)).toBe(mode === "suspend" ? "suspended" : "completed");
      if (mode === "suspend") {
        expect(result.pending).toHaveLength(1);
        expect(world.ran).toEqual([]);
        await session.decide([deny(result.pending![0]!.callId)]);
        await session.continue().unwrap();
      }
      expect(world.ran).toEqual(mode === "wait" ? ["write a", "write b"] : ["write a"]);
    },
  );

  test("suspend: the result resolves without run.ended, and the last decision goes on by itself", async ({ world }) => {
    const { session, events } = await world.open([write("a", "b"), "done"]);
    const result = await session.run("go", { approvals: "suspend" }).result;
    await settled();
    expect(all(events, "run.ended")).toEqual([]);
    expect(only(events, "run.suspended").pending).toEqual(result.pending);
    expect([session.state, session.why()]).toEqual(["suspended", expect.stringMatching(/2 approval.*decide/)]);
    expect(world.clock.timers).toBe(0);
    await session.decide([allow(ids(session)[1]!)]);
    expect(session.state).toBe("suspended");
    await session.decide([allow(ids(session)[0]!)]);
    await world.until(() => session.state === "idle");
    await settled();
    expect(world.ran).toEqual(["write a", "write b"]);
    expect(only(events, "run.ended")).toMatchObject({ status: "completed", runId: result.runId });
  });

  test.for(["run.suspended", "approval.requested"] as const)(
    "a decision made the moment %s is seen goes on too, however slow the store is",
    async (moment, { world }) => {
      const store = world.faulty();
      store.lags = true;
      const { session, events } = await world.open([write("a"), "done"], { store });
      for await (const event of session.run("go", { approvals: "suspend" }))
        if (event.type === moment) await session.decide([allow(ids(session)[0]!)]);
      await world.until(() => all(events, "run.ended").length === 1, "it goes on");
      expect(world.ran).toEqual(["write a"]);
      await world.until(() => session.state === "idle");
    },
  );

  test("in one process, what goes on by itself still has the run's own tools, model and live objects", async ({
    world,
  }) => {
    const seen: unknown[] = [];
    const extra = writeTool(({ path }, { context }) => (seen.push(context), `extra ${path}`));
    const mine = scriptedModel([{ calls: [call("extra", "a")] }, { calls: [call("extra", "b")] }, "done"]);
    const { session, model } = await world.open(["the agent's"]);
    const live = { live: true };
    await session.run("go", { tools: { extra }, model: mine, context: live, approvals: "suspend" }).result;
    await session.decide([allow(ids(session)[0]!)]);
    await world.until(() => session.state === "suspended" || session.state === "idle");
    expect(told(session.messages())).toEqual(["ok extra a"]);
    expect(seen[0]).toBe(live);
    expect(ids(session)).toHaveLength(1);
    expect([mine.requests.length, model.requests.length]).toEqual([2, 0]);
  });

  test("options given to the continue() that follows a decision hold for what is still to come", async ({ world }) => {
    const { session } = await world.open([write("a"), write("b"), "done"]);
    await session.run("go", { approvals: "suspend" }).result;
    await session.decide([allow(ids(session)[0]!)]);
    const result = await session.continue({ approve: "allow" }).result;
    expect(statusOf(result)).toBe("completed");
    expect(world.ran).toEqual(["write a", "write b"]);
  });

  test("wait: the same handle goes on after decide()", async ({ world }) => {
    const { session } = await world.open([write("a"), "done"]);
    const run = session.run("go", { approvals: "wait" });
    const seen: string[] = [];
    for await (const event of run) {
      seen.push(event.type);
      if (event.type === "approval.requested") await session.decide([allow(event.requests[0]!.callId)]);
    }
    expect(seen.at(-1)).toBe("run.ended");
    expect(world.ran).toEqual(["write a"]);
  });

  test("continue() with mode deny, or with an approver, answers what was pending", async ({ world }) => {
    const { session } = await world.open([write("a"), "done", write("b"), "done"]);
    await session.run("go", { approvals: "suspend" }).result;
    expect(statusOf(await session.continue({ approvals: "deny" }).result)).toBe("completed");
    expect(told(session.messages())[0]).toMatch(/^denied/);
    await session.run("again", { approvals: "suspend" }).result;
    expect(statusOf(await session.continue({ approve: "allow" }).result)).toBe("completed");
    expect(world.ran).toEqual(["write b"]);
  });

  test("an answer that comes after approvalMs, or after the run, changes nothing", async ({ world }) => {
    const { session } = await world.open([write("a", "b"), "done"], { limits: { approvalMs: 1_000 } });
    const run = session.run("go", { approvals: "wait" });
    await world.until(() => session.state === "awaiting_approval");
    const [a, b] = ids(session) as [string, string];
    await session.decide([allow(a)]);
    await world.clock.advance(1_000);
    await run.unwrap();
    expect(await session.decide([allow(b)])).toMatchObject({ accepted: [], alreadyDecided: [b] });
    expect(told(session.messages())).toEqual(["ok written a", expect.stringMatching(/^timeout Not executed/)]);
    const commit = (await world.records()).find((r) => r.type === "exchange.committed");
    expect(commit).toMatchObject({ results: [{ status: "ok" }, { status: "timeout", by: "approval" }] });
  });

  test("decide() checks what it is given, and knows no call of an idle session", async ({ world }) => {
    const { session } = await world.open([]);
    expect(await codeOf(session.decide([{ callId: "x", decision: "perhaps" } as never]))).toBe("invalid_options");
    expect(await codeOf(session.decide("allow" as never))).toBe("invalid_options");
    expect(await session.decide([allow("x")])).toEqual({ accepted: [], unknown: ["x"], alreadyDecided: [] });
    expect(session.pending()).toEqual([]);
  });

  test("two answers to one call in one breath: the first counts", async ({ world }) => {
    const { session } = await world.open([write("a"), "done"]);
    const run = session.run("go", { approvals: "wait" });
    await world.until(() => session.state === "awaiting_approval");
    const [a] = ids(session) as [string];
    await session.decide([deny(a), allow(a)]);
    await run.unwrap();
    expect(world.ran).toEqual([]);
  });

  test("a wait that the process did not survive is still pending for the next one", async ({ world }) => {
    const store = world.faulty();
    const first = await world.open([write("a")], { store });
    first.session.run("go", { approvals: "wait" });
    await world.until(() => first.session.state === "awaiting_approval");
    await settled();
    await store.kill();
    world.store = store.base;
    const second = await world.reopen(["done"]);
    expect(ids(second.session)).toEqual(ids(first.session));
    const run = second.session.continue();
    await world.until(() => second.session.state === "awaiting_approval");
    await second.session.decide([allow(ids(second.session)[0]!)]);
    expect((await run.unwrap()).text).toBe("done");
    expect(world.ran).toEqual(["write a"]);
  });
});

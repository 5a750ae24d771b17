import { describe, expect } from "vitest";
import { defineMiddleware } from "../../src/middleware/middleware.ts";
import type { ApprovalRequest, Decision } from "../../src/ports.ts";
import { all, call, gate, look, only, settled, standing, test, told, write } from "../session/support.ts";

const both = { calls: [call("write", "a"), call("look", "b"), call("write", "c")] };
const allow = (callId: string): Decision => ({ callId, decision: "allow" });
const deny = (callId: string, reason?: string): Decision => ({
  callId,
  decision: "deny",
  ...(reason === undefined ? {} : { reason }),
});

describe("approval", () => {
  test("D1 each call has its own decision: a rejection touches neither approved nor free siblings", async ({
    world,
  }) => {
    const { session } = await world.open([both, "done"]);
    let asked: ApprovalRequest[] = [];
    await session
      .run("go", {
        approve: async (requests) => {
          asked = requests;
          return [deny(requests[0]!.callId, "not that one"), allow(requests[1]!.callId)];
        },
      })
      .unwrap();
    expect(asked.map((r) => [r.name, r.args])).toEqual([
      ["write", { path: "a" }],
      ["write", { path: "c" }],
    ]);
    expect(told(session.messages())).toEqual([
      "denied Tool call denied by user. not that one",
      "ok seen b",
      "ok written c",
    ]);
  });

  test("D2 a half-decided batch waits: nothing of it runs before the last decision, and no decision is lost", async ({
    world,
  }) => {
    const { session } = await world.open([both, "done"]);
    const run = session.run("go", { approvals: "wait" });
    await world.until(() => session.state === "awaiting_approval");
    const [first, second] = session.pending().map((r) => r.callId);
    expect(await session.decide([allow(first!)])).toEqual({ accepted: [first], unknown: [], alreadyDecided: [] });
    expect(await standing(run.result)).toBe("pending");
    expect(world.ran).toEqual([]);
    expect(session.pending().map((r) => r.callId)).toEqual([second]);
    expect(session.why()).toMatch(/1 approval.*write/);
    await session.decide([deny(second!)]);
    await run.unwrap();
    expect(world.ran).toEqual(["write a", "look b"]);
    expect(told(session.messages())).toEqual(["ok written a", "ok seen b", "denied Tool call denied by user."]);
  });

  test("D2 a cancel after half of the decisions leaves one result for every call", async ({ world }) => {
    const { session } = await world.open([both]);
    const run = session.run("go", { approvals: "wait" });
    await world.until(() => session.state === "awaiting_approval");
    await session.decide([deny(session.pending()[1]!.callId)]);
    run.cancel();
    await run.result;
    expect(world.ran).toEqual([]);
    expect(told(session.messages()).map((t) => t.split(" ")[0])).toEqual(["cancelled", "cancelled", "denied"]);
  });

  test("D3 typing instead of deciding denies what is pending, and the message is delivered with the results", async ({
    world,
  }) => {
    const { session, model } = await world.open([both, "done"]);
    const run = session.run("go", { approvals: "wait" });
    await world.until(() => session.state === "awaiting_approval");
    await session.decide([allow(session.pending()[0]!.callId)]);
    expect(session.steer("do it differently")).toMatchObject({ status: "queued" });
    await run.unwrap();
    expect(told(session.messages()).map((t) => t.split(" ")[0])).toEqual(["ok", "ok", "denied"]);
    expect(told(session.messages())[2]).toMatch(/user wrote a message/);
    expect(JSON.stringify(model.requests[1]!.messages.at(-1))).toContain("do it differently");
  });

  test("D3 with onSteer: queue the message waits beside the asks, with reject it is refused", async ({ world }) => {
    const { session, model } = await world.open([write("a"), "done", write("b"), "done"]);
    const run = session.run("go", { approvals: { mode: "wait", onSteer: "queue" } });
    await world.until(() => session.state === "awaiting_approval");
    expect(session.steer("by the way")).toMatchObject({ status: "queued" });
    expect(session.pending()).toHaveLength(1);
    await session.decide([allow(session.pending()[0]!.callId)]);
    await run.unwrap();
    expect(world.ran).toEqual(["write a"]);
    expect(JSON.stringify(model.requests[1]!.messages)).toContain("by the way");

    const second = session.run("again", { approvals: { mode: "wait", onSteer: "reject" } });
    await world.until(() => session.state === "awaiting_approval");
    expect(session.steer("by the way")).toBe(false);
    expect(session.pending()).toHaveLength(1);
    await session.decide([allow(session.pending()[0]!.callId)]);
    await second.unwrap();
  });

  test("D3 what an approver answers after the user has typed changes nothing", async ({ world }) => {
    const answer = gate<"allow">();
    const { session } = await world.open([write("a"), "done"]);
    const run = session.run("go", { approve: () => answer.promise });
    await world.until(() => session.state === "awaiting_approval");
    session.steer("no, wait");
    await run.unwrap();
    answer.open("allow");
    await settled();
    expect(world.ran).toEqual([]);
    expect(told(session.messages())).toEqual([expect.stringMatching(/^denied/)]);
  });

  test("D4 two pending calls of one tool: decisions go by call id, in any order", async ({ world }) => {
    const { session, events } = await world.open([write("a", "b", "c"), "done"]);
    const run = session.run("go", { approvals: "wait" });
    await world.until(() => session.state === "awaiting_approval");
    const [a, b, c] = session.pending().map((r) => r.callId) as [string, string, string];
    expect((await session.decide([deny(c), allow(a)])).accepted).toEqual([c, a]);
    expect(await session.decide([allow(c), allow("nobody")])).toEqual({
      accepted: [],
      unknown: ["nobody"],
      alreadyDecided: [c],
    });
    await session.decide([allow(b)]);
    await run.unwrap();
    expect(world.ran).toEqual(["write a", "write b"]);
    expect(told(session.messages()).map((t) => t.split(" ")[0])).toEqual(["ok", "ok", "denied"]);
    expect(await session.decide([deny(a)])).toEqual({ accepted: [], unknown: [], alreadyDecided: [a] });
    await settled();
    expect(only(events, "approval.requested").requests).toHaveLength(3);
  });

  test("D4 decided by another agent, after a restart, while the run is suspended", async ({ world }) => {
    const first = await world.open([write("a", "b"), "unused"]);
    const suspended = await first.session.run("go", { approvals: "suspend" }).result;
    expect(suspended).toMatchObject({ status: "suspended", runId: "run_1" });
    expect(suspended.pending?.map((r) => r.args)).toEqual([{ path: "a" }, { path: "b" }]);
    expect(first.session.state).toBe("suspended");

    const second = await world.reopen(["done by the other"]);
    const [a, b] = second.session.pending().map((r) => r.callId) as [string, string];
    expect((await second.session.decide([allow(b)])).accepted).toEqual([b]);
    expect(second.session.state).toBe("suspended");
    expect(world.ran).toEqual([]);
    expect((await second.session.decide([deny(a)])).accepted).toEqual([a]);
    const result = await second.session.continue().unwrap();
    expect(result).toMatchObject({ text: "done by the other", runId: "run_1" });
    expect(world.ran).toEqual(["write b"]);
  });

  test("D4 decided in another process while the run waits in this one", async ({ world }) => {
    const { again } = world.folder();
    const { session } = await world.open([write("a"), "done"]);
    const run = session.run("go", { approvals: "wait" });
    await world.until(() => session.state === "awaiting_approval");
    const other = await world.reopen([], { store: again() });
    const [a] = other.session.pending().map((r) => r.callId);
    expect((await other.session.decide([allow(a!)])).accepted).toEqual([a]);
    await world.clock.advance(1_000);
    expect((await run.unwrap()).text).toBe("done");
    expect(world.ran).toEqual(["write a"]);
    world.skips.fold = true;
  });

  test("D4 decided by another agent of this process, which shares the store, while the run waits", async ({
    world,
  }) => {
    const { session } = await world.open([write("a"), "done"]);
    const run = session.run("go", { approvals: "wait" });
    await world.until(() => session.state === "awaiting_approval");
    const other = await world.reopen([]);
    const [a] = other.session.pending().map((r) => r.callId);
    const decided = await other.session.decide([allow(a!)]).then(
      ({ accepted }) => accepted,
      (error: { code: string }) => error.code,
    );
    await world.clock.advance(1_000);
    if (decided === "busy") return void run.cancel();
    expect(decided).toEqual([a]);
    expect(await standing(run.result.then((r) => r.status))).toBe("completed");
    expect(world.ran).toEqual(["write a"]);
  });

  test("D5 a rejection of this call beats what a policy allows, and a policy's deny beats an approval", async ({
    world,
  }) => {
    const remembered = defineMiddleware({ name: "remembered", reviewCall: () => ({ verdict: "allow", lift: true }) });
    const rule = defineMiddleware({
      name: "rule",
      reviewCall: (c) => (c.args.path === "secret" ? "deny" : c.args.path === "ask" ? "ask" : undefined),
    });
    const { session } = await world.open([write("ask", "secret", "free"), "done"], { middleware: [remembered, rule] });
    await session.run("go", { approve: (requests) => requests.map((r) => deny(r.callId)) }).unwrap();
    expect(told(session.messages())).toEqual([
      "denied Tool call denied by user.",
      "denied Tool call denied by policy.",
      "ok written free",
    ]);
  });

  test("D6 a decision is bound to the call and the hash of its arguments, and is used once", async ({ world }) => {
    const { session } = await world.open([write("a"), "done", write("a"), "done"]);
    const run = session.run("go", { approvals: "wait" });
    await world.until(() => session.state === "awaiting_approval");
    const [ask] = session.pending();
    const decide = (hash: string) =>
      session.actor.send({
        type: "approval.settled",
        decisions: [{ callId: ask!.callId, decision: "allow", by: "user", hash }],
      });
    await decide("of other arguments");
    expect(session.pending()).toHaveLength(1);
    expect(world.ran).toEqual([]);
    await decide(ask!.hash);
    await run.unwrap();
    expect(world.ran).toEqual(["write a"]);

    const second = session.run("the same again", { approvals: "wait" });
    await world.until(() => session.state === "awaiting_approval");
    expect(session.pending()[0]!.hash).toBe(ask!.hash);
    await decide(ask!.hash);
    expect((await session.decide([allow(ask!.callId)])).accepted).toEqual([]);
    expect(await standing(second.result)).toBe("pending");
    await session.decide([allow(session.pending()[0]!.callId)]);
    await second.unwrap();
    expect(world.ran).toEqual(["write a", "write a"]);
  });

  test("D6 after a reload the hash still binds: what ran is what was shown", async ({ world }) => {
    const first = await world.open([write("a")]);
    await first.session.run("go", { approvals: "suspend" }).result;
    const shown = first.session.pending();
    const second = await world.reopen(["done"]);
    expect(second.session.pending()).toEqual(shown);
    await second.session.actor.send({
      type: "approval.settled",
      decisions: [{ callId: shown[0]!.callId, decision: "allow", by: "user", hash: "stale" }],
    });
    expect(second.session.pending()).toEqual(shown);
    await second.session.decide([allow(shown[0]!.callId)]);
    await second.session.continue().unwrap();
    expect(world.ran).toEqual(["write a"]);
  });

  test("without an approver asks are denied, with one hint for the operator", async ({ world }) => {
    const { session, events } = await world.open([write("a"), write("b"), look("c"), "done"]);
    await session.run("go").unwrap();
    await settled();
    expect(all(events, "approval.requested")).toEqual([]);
    expect(told(session.messages()).map((t) => t.split(" ")[0])).toEqual(["denied", "denied", "ok"]);
    expect(world.warnings).toEqual([expect.stringMatching(/approve.*readOnly/)]);
  });

  test("an approver that throws denies; one that never answers is bounded by approvalMs", async ({ world }) => {
    const limits = { approvalMs: 5_000 };
    const { session } = await world.open([write("a"), write("b"), "done"], { limits });
    const never = gate<"allow">();
    let asked = 0;
    const run = session.run("go", {
      approve: () => {
        if (asked++ === 0) throw new Error("no terminal");
        return never.promise;
      },
    });
    await world.until(() => asked === 2);
    await world.clock.advance(5_000);
    await run.unwrap();
    expect(told(session.messages())).toEqual([
      expect.stringMatching(/^denied Tool call denied by user\. .*no terminal/),
      expect.stringMatching(/^timeout/),
    ]);
    never.open("allow");
    await settled();
    expect(world.ran).toEqual([]);
  });
});

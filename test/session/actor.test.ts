import { describe, expect } from "vitest";
import type { InputEvent } from "../../src/core/event.ts";
import { all, codeOf, gate, look, only, settled, statusOf, test, write } from "./support.ts";

describe("session.actor", () => {
  test("send journals a parsed input; subscribe and getSnapshot are the real actor's", async ({ world }) => {
    const { session, events } = await world.open([look("a"), "done"]);
    const states: unknown[] = [];
    const watch = session.actor.subscribe({ next: (s: any) => states.push(s.value) });
    await session.actor.send({ type: "mode.changed", mode: "plan" });
    expect((session.actor.getSnapshot() as any).context.mode).toBe("plan");
    await session.run("go").unwrap();
    await settled();
    watch?.unsubscribe();
    expect(only(events, "mode.changed")).toMatchObject({ dir: "in", mode: "plan" });
    expect(JSON.stringify(states)).toContain('{"act":"executing"}');
    expect(session.actor.getSnapshot()!.value).toEqual({ receive: "idle" });
    expect(JSON.stringify(session.actor.getPersistedSnapshot()).length).toBeLessThan(6_000);
  });

  test("refuses what is not an input event of its shape, and writes nothing of it", async ({ world }) => {
    const { session } = await world.open([]);
    const before = await world.records();
    const wrong = [
      { type: "mode.changed" },
      { type: "mode.changed", mode: 3 },
      { type: "run.ended", runId: "x", status: "completed", turns: 0, undelivered: [] },
      { type: "xstate.stop" },
      { type: "nonsense" },
      null,
      "mode.changed",
    ];
    for (const event of wrong) expect(await codeOf(session.actor.send(event as never))).toBe("invalid_options");
    expect(await world.records()).toEqual(before);
  });

  test("refuses what only the runtime may say of a session: that it was opened, or opened again", async ({ world }) => {
    const { session, events } = await world.open(["ok"]);
    const [opened] = await world.records();
    const { v: _v, seq: _s, at: _a, dir: _d, ...again } = opened as any;
    expect(await codeOf(session.actor.send(again))).toBe("invalid_options");
    const resumed: InputEvent = { type: "session.resumed", config: again.config, drift: [] };
    expect(await codeOf(session.actor.send(resumed))).toBe("invalid_options");
    await settled();
    expect(all(events, "session.opened")).toHaveLength(1);
    expect((await session.run("go").unwrap()).text).toBe("ok");
  });

  test("events of another moment change nothing that the model or a reader of the history sees", async ({ world }) => {
    const { session, model } = await world.open([look("a"), "done"]);
    await session.run("go").unwrap();
    const before = { messages: session.messages(), context: session.actor.getSnapshot()!.context };
    const strange: InputEvent[] = [
      { type: "tool.settled", callId: "call_1_1_0", name: "look", status: "ok", output: [] },
      { type: "calls.reviewed", calls: [] },
      { type: "timer.elapsed", timer: "wait" },
      { type: "model.failed", failure: { class: "fatal", message: "x" }, parts: [] },
      { type: "approval.settled", decisions: [] },
      { type: "stop.reviewed", feedback: [] },
      { type: "inputs.reviewed", verdicts: [] },
      { type: "store.failed", message: "x" },
      { type: "cancel.requested" },
      { type: "task.settled", taskId: "nobody" },
    ];
    for (const event of strange) await session.actor.send(event);
    expect({ messages: session.messages(), context: session.actor.getSnapshot()!.context }).toEqual(before);
    await session.run("again", { maxTurns: 0 }).result;
    expect(model.requests).toHaveLength(2);
  });

  test("an inspector hears the machine; one that throws is logged and goes no further", async ({ world }) => {
    const seen = new Set<string>();
    const { session } = await world.open(["ok"], {
      inspect: (event: { type: string }) => {
        seen.add(event.type);
        throw new Error("bad inspector");
      },
    });
    await session.run("go").unwrap();
    expect(seen).toContain("@xstate.event");
    expect(world.warnings.join()).toContain("bad inspector");
  });

  test("a subscriber that throws does not stop the run", async ({ world }) => {
    const { session } = await world.open([look("a"), "ok"]);
    const thrown: unknown[] = [];
    const count = (error: unknown) => void thrown.push(error);
    const before = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.on("uncaughtException", count);
    const watch = session.actor.subscribe({
      next: () => {
        throw new Error("bad subscriber");
      },
    });
    expect((await session.run("go").unwrap()).text).toBe("ok");
    watch?.unsubscribe();
    await new Promise((resolve) => setTimeout(resolve, 0));
    process.removeListener("uncaughtException", count);
    for (const listener of before) process.on("uncaughtException", listener as never);
    expect(statusOf(await session.run("again", { maxTurns: 0 }).result)).toBe("max_turns");
  });
});

describe("several things at once", () => {
  test("side writes beside a run neither end it nor lose anything, and the lease is free afterwards", async ({
    world,
  }) => {
    const store = world.faulty();
    store.lags = true;
    const open = gate();
    const { session } = await world.open([{ text: "ok", after: open.promise }, "more"], { store });
    const writes = [session.memory.set("a", 1), session.memory.set("b", 2)];
    const run = session.run("go");
    writes.push(session.memory.set("c", 3), session.actor.send({ type: "mode.changed", mode: "plan" }));
    session.notify({ kind: "info", text: "note" });
    await Promise.all(writes);
    open.open();
    expect((await run.unwrap()).text).toBe("ok");
    await Promise.all([session.memory.set("d", 4), session.run("again").unwrap()]);
    for (let i = 0; i < 10; i++) await settled();
    expect(session.memory.entries().map(([k]) => k)).toEqual(["a", "b", "c", "d"]);
    const other = await world.reopen(["free"], { store: store.base });
    expect((await other.session.run("mine").unwrap()).text).toBe("free");
  });

  test("decisions in parallel, some of them twice: each call is decided once", async ({ world }) => {
    const { session } = await world.open([write("a", "b", "c"), "done"]);
    const run = session.run("go", { approvals: "wait" });
    await world.until(() => session.state === "awaiting_approval");
    const ids = session.pending().map((r) => r.callId);
    await Promise.all(
      [...ids, ...ids].map((callId) => session.decide([{ callId, decision: "allow", args: { path: `e${callId}` } }])),
    );
    await run.unwrap();
    expect(world.ran).toEqual(ids.map((id) => `write e${id}`));
  });

  test("a run that is started by actor.send is a run: it ends, and the lease is given back", async ({ world }) => {
    const { session, events } = await world.open(["ok", "mine"]);
    await session.actor.send({
      type: "input.received",
      id: "in_x",
      kind: "prompt",
      parts: [{ type: "text", text: "hello" }],
    });
    const options = { approvals: { mode: "deny", unanswered: "deny", onSteer: "deny-pending" } } as const;
    await session.actor.send({ type: "run.requested", runId: "run_x", options }).catch(() => {});
    for (let i = 0; i < 10; i++) await settled();
    const ended = all(events, "run.ended").length;
    if (ended) expect(only(events, "run.ended")).toMatchObject({ runId: "run_x", status: "completed" });
    expect(session.state).toBe("idle");
    const other = await world.reopen(["theirs"]);
    expect(statusOf(await other.session.run("go").result)).toBe("completed");
  });

  test("fifty sessions of one agent at once keep to themselves", async ({ world }) => {
    const { agent } = world.agent({
      script: ({ messages, sessionId }) =>
        messages.length === 1 ? { calls: [{ name: "look", args: { path: sessionId } }] } : `answer ${sessionId}`,
    });
    const ids = Array.from({ length: 50 }, (_, i) => `m${i}`);
    const sessions = await Promise.all(ids.map((id) => agent.createSession({ id })));
    const results = await Promise.all(sessions.map((s) => s.run(`prompt ${s.id}`).unwrap()));
    expect(results.map((r) => r.text)).toEqual(ids.map((id) => `answer ${id}`));
    for (const s of sessions) expect(JSON.stringify(s.messages())).toContain(`seen ${s.id}`);
  });
});

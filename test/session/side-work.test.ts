import { describe, expect } from "vitest";
import { text } from "../../src/core/message.ts";
import type { SessionEvent } from "../../src/core/event.ts";
import { codeOf, gate, look, only, said, settled, standing, test, write } from "./support.ts";

describe("memory", () => {
  test("is written to the journal, removed by null, and there after a restart", async ({ world }) => {
    const { session } = await world.open([]);
    await session.memory.set("plan", { steps: [1, 2] });
    await session.memory.set("gone", 1);
    await session.memory.set("gone", null);
    expect(session.memory.entries()).toEqual([["plan", { steps: [1, 2] }]]);
    const again = await world.reopen([]);
    expect(again.session.memory.get("plan")).toEqual({ steps: [1, 2] });
    expect(again.session.memory.get("gone")).toBeUndefined();
  });

  test("knows only what was put into it", async ({ world }) => {
    const { session } = await world.open([]);
    expect(session.memory.get("toString")).toBeUndefined();
    expect(session.memory.get("__proto__")).toBeUndefined();
    await session.memory.set("__proto__", { evil: true });
    await session.memory.set("constructor", 1);
    expect(session.memory.get("evil")).toBeUndefined();
    expect(session.memory.entries()).toEqual([
      ["__proto__", { evil: true }],
      ["constructor", 1],
    ]);
  });

  test("several changes at once, and during a run", async ({ world }) => {
    const open = gate();
    const { session } = await world.open([{ text: "ok", after: open.promise }]);
    await Promise.all(["a", "b", "c"].map((key) => session.memory.set(key, key)));
    const run = session.run("go");
    await session.memory.set("d", "during");
    expect(session.state).toBe("running");
    open.open();
    await run.unwrap();
    expect(session.memory.entries()).toHaveLength(4);
    expect(JSON.stringify(session.messages())).not.toContain("during");
  });
});

describe("titles", () => {
  test("a title is a side request: no tools, not in the transcript, counted by its purpose", async ({ world }) => {
    const { session, model } = await world.open(
      (r) =>
        r.purpose === "title"
          ? { text: '"Tidy the files"', usage: { input: 3 } }
          : { text: "ok", usage: { input: 10 } },
      { settings: { thinkingLevel: "high" } },
    );
    await session.run("go", { thinkingLevel: "max" }).unwrap();
    expect(await session.generateTitle()).toBe("Tidy the files");
    expect(session.title).toBe("Tidy the files");
    expect(model.requests[1]).toMatchObject({ purpose: "title", tools: [] });
    expect(session.messages()).toHaveLength(2);
    expect(session.usage()).toMatchObject({
      total: { input: 13 },
      requests: 2,
      byPurpose: { turn: { input: 10 }, title: { input: 3 } },
    });
    expect((await world.reopen([])).session.title).toBe("Tidy the files");
  });

  test("a model without a title to give rejects, and changes nothing", async ({ world }) => {
    const { session } = await world.open([{ fails: { class: "timeout", message: "no line" } }, ""]);
    await expect(session.generateTitle()).rejects.toThrow(/no line/);
    await expect(session.generateTitle()).rejects.toThrow();
    expect(session.title).toBeUndefined();
  });
});

describe("close", () => {
  test("writes the last record and ends its readers; the journal stays and can be opened again", async ({ world }) => {
    const { session, events, agent } = await world.open(["ok"]);
    await session.run("go").unwrap();
    await session.close();
    await session.close();
    expect(session.state).toBe("closed");
    await settled();
    expect(events.at(-1)?.type).toBe("session.closed");
    expect((await agent.listSessions()).map((s) => s.status)).toEqual(["closed"]);
    const again = await agent.openSession("s1");
    expect(again).not.toBe(session);
    expect(said(again.messages())).toEqual(["user go", "assistant ok"]);
  });

  test("cancels what runs, waits for it, and leaves the session closed", async ({ world }) => {
    const { session, events, agent } = await world.open([{ text: "I was", hangs: true }]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    await session.close();
    expect(await run.result).toMatchObject({ status: "cancelled", reason: "closed" });
    await settled();
    expect(only(events, "run.ended").status).toBe("cancelled");
    expect((await agent.listSessions()).map((s) => s.status)).toEqual(["closed"]);
  });

  test("ends a suspended run as interrupted", async ({ world }) => {
    const { session, events } = await world.open([write("a")]);
    await session.run("go", { approvals: "suspend" }).result;
    await session.close();
    await settled();
    expect(only(events, "run.ended")).toMatchObject({ status: "cancelled", reason: "interrupted" });
  });

  test("a closed session refuses everything that writes, and holds no lease", async ({ world }) => {
    const { session, model } = await world.open([]);
    await session.close();
    const tries = [
      session.run("x").result,
      session.continue().result,
      session.compact(),
      session.memory.set("a", 1),
      session.decide([]),
      session.generateTitle(),
      session.actor.send({ type: "mode.changed", mode: "plan" }),
    ];
    expect(await Promise.all(tries.map(codeOf))).toEqual(tries.map(() => "closed"));
    expect(session.steer("x")).toBe(false);
    session.notify({ kind: "info", text: "x" });
    await session.cancel();
    await settled();
    expect(model.requests).toEqual([]);
    const other = await world.reopen(["free"]);
    expect((await other.session.run("go").unwrap()).text).toBe("free");
  });

  test("a reader that comes after the end reads everything and ends too", async ({ world }) => {
    const { session } = await world.open(["ok"]);
    await session.run("go").unwrap();
    await session.close();
    const reading = (async () => {
      const seen: SessionEvent[] = [];
      for await (const event of session.events()) seen.push(event);
      return seen.at(-1)?.type;
    })();
    expect(await standing(reading)).toBe("session.closed");
  });

  test("agent.close() closes every session and waits for them, at most graceMs", async ({ world }) => {
    const { agent, session } = await world.open([{ hangs: true }]);
    const idle = await agent.createSession({ id: "s2" });
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    await agent.close();
    expect((await run.result).status).toBe("cancelled");
    expect([session.state, idle.state]).toEqual(["closed", "closed"]);
    expect(await codeOf(agent.createSession())).toBe("closed");
    expect(world.clock.timers).toBe(0);
  });
});

describe("agent.close()", () => {
  test("leaves a suspended run be: it is decided in another process, later", async ({ world }) => {
    const { agent, session } = await world.open([write("a")]);
    await session.run("go", { approvals: "suspend" }).result;
    await agent.close();
    expect((await world.records()).filter((r) => r.type === "run.ended")).toEqual([]);
    const later = await world.reopen(["done"]);
    await later.session.decide([{ callId: later.session.pending()[0]!.callId, decision: "allow" }]);
    expect((await later.session.continue().unwrap()).text).toBe("done");
    expect(world.ran).toEqual(["write a"]);
  });

  test("does not wait longer than graceMs for a store that never answers", async ({ world }) => {
    const store = world.faulty();
    const { agent, session } = await world.open([{ hangs: true }], { store });
    session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    await store.kill();
    const closing = agent.close({ graceMs: 1_000 });
    await world.clock.advance(999);
    expect(await standing(closing)).toBe("pending");
    await world.clock.advance(1);
    expect(await standing(closing)).toBeUndefined();
  });
});

describe("an agent's sessions", () => {
  test("are listed with where they stand", async ({ world }) => {
    const { session, agent } = await world.open([write("a"), "done", { hangs: true }]);
    const status = async () => (await agent.listSessions()).map((s) => [s.id, s.status, s.lastRun]);
    expect(await status()).toEqual([["s1", "idle", undefined]]);
    await session.run("go", { approvals: "suspend" }).result;
    expect(await status()).toEqual([["s1", "suspended", undefined]]);
    await session.decide([{ callId: session.pending()[0]!.callId, decision: "deny" }]);
    await session.continue().unwrap();
    expect(await status()).toEqual([["s1", "idle", "completed"]]);
    const run = session.run("again");
    await world.until(() => session.stateValue === "reason.requesting");
    expect(await status()).toEqual([["s1", "running", "completed"]]);
    run.cancel();
    await run.result;
    expect(await status()).toEqual([["s1", "idle", "cancelled"]]);
  });

  test("history that begins a session must be whole, and is there from the first request on", async ({ world }) => {
    const toolCall = { type: "tool-call" as const, callId: "c1", name: "look", args: { path: "a" } };
    const asked = { id: "h1", role: "user" as const, kind: "prompt" as const, parts: [text("before")] };
    const answer = { id: "h2", role: "assistant" as const, parts: [toolCall] };
    const { agent } = world.agent();
    expect(await codeOf(agent.createSession({ history: [asked, answer] }))).toBe("invalid_options");
    const result = {
      type: "tool-result" as const,
      callId: "c1",
      name: "look",
      status: "ok" as const,
      output: [text("x")],
    };
    const history = [asked, answer, { id: "h3", role: "tool" as const, parts: [result] }];
    const { session, model } = await world.open(["ok"], { session: { history } });
    expect(session.messages()).toEqual(history);
    await session.run("go").unwrap();
    expect(said(model.requests[0]!.messages)).toEqual(["user before", "assistant ", "tool x", "user go"]);
  });

  test("openSession gives the live one of this process, else a resumed one, else a new one", async ({ world }) => {
    const { agent } = world.agent({ script: ["ok"] });
    expect(await codeOf(agent.openSession("x"))).toBe("not_found");
    const made = await agent.openSession("x", { create: true });
    expect(await agent.openSession("x")).toBe(made);
    expect(await codeOf(agent.createSession({ id: "x" }))).toBe("invalid_options");
    const other = await world.agent().agent.openSession("x", { create: true });
    expect(other).not.toBe(made);
    expect(other.id).toBe("x");
    const both = await Promise.all([world.agent().agent, world.agent().agent].map((a) => a.openSession("x")));
    expect(both.map((s) => s.state)).toEqual(["idle", "idle"]);
  });

  test("opening one session twice at once gives one session", async ({ world }) => {
    await world.open([]);
    const { agent } = world.agent();
    const [one, two] = await Promise.all([agent.openSession("s1"), agent.openSession("s1")]);
    expect(one).toBe(two);
  });

  test("read() needs no lease and tells messages, pending approvals, usage and title", async ({ world }) => {
    const { session } = await world.open([look("a"), { ...write("b"), usage: { input: 4 } }]);
    await session.run("go", { approvals: "suspend" }).result;
    const reading = await world.agent().agent.read("s1");
    expect(reading.messages).toEqual(session.messages());
    expect(reading.pending).toEqual(session.pending());
    expect(reading.usage.total).toEqual({ input: 4 });
    expect(reading.info).toMatchObject({ id: "s1", status: "suspended" });
    expect(reading.records.at(-1)?.type).toBe("run.suspended");
  });

  test("deleteSession removes it; a running one is busy", async ({ world }) => {
    const { session, agent } = await world.open([{ hangs: true }]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    expect(await codeOf(agent.deleteSession("s1"))).toBe("busy");
    run.cancel();
    await run.result;
    await agent.deleteSession("s1");
    expect(await codeOf(agent.openSession("s1"))).toBe("not_found");
    expect(await codeOf(session.run("x").result)).toBe("not_found");
  });

  test("instructions are frozen per session; drift of tools and instructions is on the record", async ({ world }) => {
    const { session } = await world.open(["ok"], { instructions: "be kind" });
    await session.run("go").unwrap();
    const other = await world.reopen(["ok"], { instructions: "be rude", tools: { look: world.tools.look } });
    await other.session.run("more").unwrap();
    expect(other.model.requests[0]!.instructions).toBe("be kind");
    await settled();
    expect(only(other.events, "session.resumed").drift).toEqual([
      "tool removed: write",
      expect.stringContaining("instructions differ"),
    ]);
  });
});

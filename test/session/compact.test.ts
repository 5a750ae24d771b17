import { describe, expect } from "vitest";
import { defineMiddleware } from "../../src/middleware/middleware.ts";
import type { ModelRequest } from "../../src/ports.ts";
import { all, codeOf, gate, look, only, said, settled, test } from "./support.ts";

const summarizing = (answer: () => string) => (request: ModelRequest) =>
  request.purpose === "summary" ? { text: "[summary]what was[/summary]", usage: { input: 100 } } : answer();

describe("a manual compaction", () => {
  test("puts a summary in the place of what came before; the transcript is not edited", async ({ world }) => {
    const { session, model, events } = await world.open(
      summarizing(() => "ok"),
      {
        instructions: "be kind",
        settings: { thinkingLevel: "high" },
      },
    );
    await session.run("never touch production").unwrap();
    await session.run("two").unwrap();
    const before = session.messages();
    expect(session.compactability()).toBe("ok");
    expect(await session.compact()).toEqual({ status: "ok" });
    expect(session.messages()).toEqual(before);
    const view = said(session.view());
    expect(view[0]).toBe("user [context_summary]\nwhat was\n[/context_summary]");
    expect(view.join("\n")).toContain("never touch production");
    await settled();
    expect(only(events, "compaction.started")).toMatchObject({ reason: "manual", kind: "summarize" });
    const asked = model.requests[2]!;
    expect(asked).toMatchObject({ purpose: "summary", instructions: "be kind" });
    expect(asked.tools).toEqual(model.requests[0]!.tools);
    expect(session.usage().byPurpose.summary).toEqual({ input: 100 });
    expect(session.compactability()).toBe("just_compacted");
    expect(await session.compact()).toEqual({ status: "just_compacted" });
    await session.run("three").unwrap();
    expect(said(model.requests.at(-1)!.messages)[0]).toContain("[context_summary]");
    expect((await world.reopen([])).session.view()).toEqual(session.view());
  });

  test("an empty session has nothing to compact; mode discard asks no model", async ({ world }) => {
    const { session, model } = await world.open(["one", "two"]);
    expect(await session.compact()).toEqual({ status: "empty" });
    await session.run("1").unwrap();
    await session.run("2").unwrap();
    expect(await session.compact({ mode: "discard" })).toEqual({ status: "ok" });
    expect(model.requests).toHaveLength(2);
    expect(session.view().length).toBeLessThan(session.messages().length);
  });

  test("meanwhile run() is busy, steer() is false, and a second compact() is busy", async ({ world }) => {
    const open = gate();
    const { session } = await world.open((r) =>
      r.purpose === "summary" ? { text: "[summary]s[/summary]", after: open.promise } : "ok",
    );
    await session.run("1").unwrap();
    const work = session.compact();
    await world.until(() => session.stateValue === "compact.summarizing");
    expect(session.compactability()).toBe("busy");
    expect(await codeOf(session.run("2").result)).toBe("busy");
    expect(await codeOf(session.compact())).toBe("busy");
    expect(session.steer("x")).toBe(false);
    open.open();
    expect(await work).toEqual({ status: "ok" });
    expect(session.state).toBe("idle");
  });

  test("a cancel before its commit changes nothing", async ({ world }) => {
    const { session } = await world.open((r) => (r.purpose === "summary" ? { text: "[summ", hangs: true } : "ok"));
    await session.run("1").unwrap();
    const view = session.view();
    const work = session.compact();
    await world.until(() => session.stateValue === "compact.summarizing");
    await session.cancel();
    expect(await work).toMatchObject({ status: "failed", message: expect.stringMatching(/cancel/i) });
    expect(session.view()).toEqual(view);
    expect(session.state).toBe("idle");
    expect((await session.run("2").unwrap()).text).toBe("ok");
  });

  test("a close during it waits, or ends it, and leaves the session whole", async ({ world }) => {
    const open = gate();
    const { session } = await world.open((r) =>
      r.purpose === "summary" ? { text: "[summary]s[/summary]", after: open.promise } : "ok",
    );
    await session.run("1").unwrap();
    const work = session.compact();
    await world.until(() => session.stateValue === "compact.summarizing");
    const closing = session.close();
    open.open();
    await closing;
    expect(["ok", "failed"]).toContain((await work).status);
    expect(session.state).toBe("closed");
  });

  test("a summary that calls tools, is empty, or fails is asked for again, at most three times", async ({ world }) => {
    const bad = [look("a"), "", { fails: { class: "timeout" as const, message: "no line" } }];
    const { session, model } = await world.open((r, i) => (r.purpose === "summary" ? bad[(i - 1) % 3]! : "ok"));
    await session.run("1").unwrap();
    const result = await session.compact();
    expect(result).toMatchObject({ status: "failed", message: expect.stringContaining("3 attempts") });
    expect(model.requests.filter((r) => r.purpose === "summary")).toHaveLength(3);
    expect(world.ran).toEqual([]);
    expect(session.view()).toEqual(session.messages());
    expect((await session.run("2").unwrap()).text).toBe("ok");
  });
});

describe("a compaction inside a run", () => {
  /** Answers at length, and refuses what is longer than 14,000 characters. */
  const reader = (request: ModelRequest) => {
    if (request.purpose === "summary") return { text: "[summary]short[/summary]" };
    const size = JSON.stringify(request.messages).length;
    return size > 14_000 ? { fails: { class: "overflow" as const, message: "too long" } } : "blah ".repeat(800);
  };

  test("answers 'prompt too long', retries the same turn, and is paired in its events", async ({ world }) => {
    const { session, events } = await world.open(reader, { compaction: { window: 8_000 } });
    for (const prompt of ["1", "2", "3", "4"]) await session.run(prompt).unwrap();
    expect(await session.run("5").unwrap()).toMatchObject({ turns: 1 });
    await settled();
    expect(all(events, "compaction.started").at(-1)).toMatchObject({ reason: "overflow" });
    expect(all(events, "turn.started")).toHaveLength(5);
    expect(said(session.view()).at(-2)).toBe("user 5");
  });

  test("an overflow far below the believed window still makes the view smaller", async ({ world }) => {
    const { session } = await world.open(reader);
    for (const prompt of ["1", "2", "3", "4"]) await session.run(prompt).unwrap();
    expect(await session.run("5").unwrap()).toMatchObject({ turns: 1 });
  });

  test("an overflow that no compaction mends is context_exhausted, without a loop", async ({ world }) => {
    const { session, model } = await world.open((r) =>
      r.purpose === "summary" ? "[summary]s[/summary]" : { fails: { class: "overflow", message: "too long" } },
    );
    expect(await session.run("go").result).toMatchObject({ status: "failed", error: { code: "context_exhausted" } });
    expect(model.requests.length).toBeLessThan(10);
    expect(session.messages()).toHaveLength(1);
  });

  test("maxSessionTurns counts turns over all runs", async ({ world }) => {
    const { session, events } = await world.open(
      summarizing(() => "ok"),
      { compaction: { maxSessionTurns: 2 } },
    );
    for (const prompt of ["1", "2", "3", "4", "5"]) await session.run(prompt).unwrap();
    await settled();
    expect(all(events, "compaction.started").map((e) => e.reason)).toEqual(["turns", "turns"]);
  });

  test("a blocked one does not stop the run below the hard limit, and its hooks are told", async ({ world }) => {
    const seen: string[] = [];
    const guard = defineMiddleware({
      name: "guard",
      beforeCompact: ({ kind }) => {
        seen.push(`before ${kind}`);
        return seen.length === 1 ? { block: "not now" } : undefined;
      },
      afterCompact: ({ kind, tokens }) => void seen.push(`after ${kind} ${tokens > 0}`),
    });
    const { session, events } = await world.open(
      summarizing(() => "ok"),
      {
        compaction: { maxSessionTurns: 1 },
        middleware: [guard],
      },
    );
    await session.run("1").unwrap();
    await session.run("2").unwrap();
    await session.run("3").unwrap();
    await settled();
    expect(all(events, "compaction.failed")[0]!.message).toMatch(/guard.*not now/);
    expect(seen).toEqual(["before summarize", "before summarize", "after summarize true"]);
  });
});

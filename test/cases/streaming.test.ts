import { describe, expect } from "vitest";
import { textOf } from "../../src/core/message.ts";
import type { SessionEvent } from "../../src/core/event.ts";
import { all, call, gate, look, newest, only, said, settled, statusOf, test, told } from "../session/support.ts";

const cutAfter = (...text: string[]) => ({ text, fails: { class: "timeout" as const, message: "the line went dead" } });

/** What somebody who shows text and obeys `attempt.discarded` has on the screen in the end. */
function screen(events: readonly SessionEvent[]): string {
  const parts = new Map<string, { attempt: string; text: string }>();
  for (const e of events)
    if (e.type === "part.started" && e.kind === "text")
      parts.set(e.partId, { attempt: `${e.turn}/${e.attempt}`, text: "" });
    else if (e.type === "part.delta" && parts.has(e.partId)) parts.get(e.partId)!.text += e.delta;
    else if (e.type === "attempt.discarded")
      for (const [id, part] of parts) if (part.attempt === `${e.turn}/${e.attempt}`) parts.delete(id);
  return [...parts.values()].map((p) => p.text).join("");
}

describe("streaming and retry", () => {
  test("C1 a mid-stream retry announces what is discarded, and the history has one text", async ({ world }) => {
    const { session, model, events } = await world.open([cutAfter("Hello ", "wo"), { text: ["Hello ", "world"] }]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.backingOff");
    await world.clock.advance(250);
    expect((await run.unwrap()).text).toBe("Hello world");
    await settled();
    expect(only(events, "attempt.discarded")).toMatchObject({ turn: 1, attempt: 1 });
    expect(screen(events)).toBe("Hello world");
    expect(session.messages().flatMap((m) => (m.role === "assistant" ? [textOf(m.parts)] : []))).toEqual([
      "Hello world",
    ]);
    expect(newest(model.requests[1])).toBe("user [turn_retried]\nHello wo\n[/turn_retried]");
  });

  test("C1 the text stream does not hand out twice what the retry repeats", async ({ world }) => {
    const { session } = await world.open([cutAfter("Hello ", "wo"), { text: ["Hel", "lo ", "world"] }]);
    const run = session.run("go");
    let text = "";
    const reading = (async () => {
      for await (const piece of run.textStream) text += piece;
    })();
    await world.until(() => session.stateValue === "reason.backingOff");
    expect(text).toBe("Hello wo");
    await world.clock.advance(250);
    await reading;
    expect(text).toBe("Hello world");
  });

  test("C1 the text stream goes on behind what it has shown, and begins a new line where an attempt says something else", async ({
    world,
  }) => {
    const script = [cutAfter("Hel"), cutAfter("Hello ", "w"), { text: ["Hello", " world"] }];
    const other = [cutAfter("Hello wor"), { text: ["Good", "bye"] }];
    const { session } = await world.open([...script, ...other], { limits: { backoffMs: 0 } });
    const shown: string[] = [];
    for (const prompt of ["one", "two"]) {
      let text = "";
      const reading = (async () => {
        for await (const piece of session.run(prompt).textStream) text += piece;
      })();
      for (let i = 0; i < 4; i++) await world.clock.advance(1);
      await reading;
      shown.push(text);
    }
    expect(shown).toEqual(["Hello world", "Hello wor\nGoodbye"]);
  });

  test("C1 joined deltas are the part, and partials and message share their ids", async ({ world }) => {
    const script = [{ thinking: "hm", text: ["a", "b"], calls: [call("look", "x"), call("look", "y")] }, "done"];
    const { session, events } = await world.open(script);
    await session.run("go").unwrap();
    await settled();
    const joined = new Map<string, string>();
    for (const e of all(events, "part.delta")) joined.set(e.partId, (joined.get(e.partId) ?? "") + e.delta);
    const message = all(events, "model.completed")[0]!.message;
    const parts = message.parts.map((p) => (p.type === "tool-call" ? JSON.stringify(p.args) : p.text));
    expect([...joined.values()].slice(0, 4)).toEqual(parts);
    const started = all(events, "part.started").slice(0, 4);
    expect(started.map((p) => p.kind)).toEqual(["thinking", "text", "tool-call", "tool-call"]);
    expect(
      all(events, "part.ended")
        .slice(0, 4)
        .map((p) => p.partId)
        .sort(),
    ).toEqual(started.map((p) => p.partId).sort());
    const ids = message.parts.flatMap((p) => (p.type === "tool-call" ? [p.callId] : []));
    expect(started.slice(2).map((p) => p.partId)).toEqual(ids);
    for (const p of started) expect(p.partId.startsWith(message.id) || ids.includes(p.partId)).toBe(true);
  });

  test("C2 partial JSON is for display only: a call that was cut is never run with missing fields", async ({
    world,
  }) => {
    const cut = { calls: [{ name: "look", raw: '{"path": "a"' }], cut: true };
    const { session } = await world.open([cut, { calls: [{ name: "look", raw: '{"path": "a"' }] }, "done"]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.backingOff");
    await world.clock.advance(250);
    await run.unwrap();
    expect(world.ran).toEqual([]);
    expect(told(session.messages())).toEqual([expect.stringMatching(/^failed/)]);
  });

  test("C3 a clean end of stream without a finish reason is malformed and retried, never an empty success", async ({
    world,
  }) => {
    const empty = { cut: true };
    const { session, events } = await world.open([empty, empty, "there", empty, empty, empty]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.backingOff");
    await world.clock.advance(250);
    await world.until(() => session.stateValue === "reason.backingOff");
    await world.clock.advance(500);
    expect(await run.unwrap()).toMatchObject({ text: "there", turns: 1 });
    await settled();
    expect(all(events, "model.failed").map((e) => e.failure.class)).toEqual(["malformed", "malformed"]);

    const second = session.run("again");
    await world.clock.advance(1_000);
    const result = await second.result;
    expect(statusOf(result)).toBe("failed(malformed)");
    expect(result.error?.retryable).toBe(true);
  });

  test("C4 a stalled body ends by the idle timeout, a silent server by the first-byte timeout", async ({ world }) => {
    const limits = { retries: 0, firstByteMs: 5_000, streamIdleMs: 1_000 };
    const { session, model } = await world.open([{ text: "begin", hangs: true }, { hangs: true }], { limits });
    const run = session.run("go");
    await world.clock.advance(999);
    expect(session.state).toBe("running");
    await world.clock.advance(1);
    expect(await run.result).toMatchObject({ status: "failed", error: { code: "timeout" } });
    const second = session.run("again");
    await world.clock.advance(4_999);
    expect(session.state).toBe("running");
    await world.clock.advance(1);
    expect(statusOf(await second.result)).toBe("failed(timeout)");
    expect(model.requests).toHaveLength(2);
    expect(world.clock.timers).toBe(0);
  });

  test("C5 classes that a retry does not mend end the run at once, each under its own code", async ({ world }) => {
    const classes = ["auth", "refused", "fatal"] as const;
    const { session, model } = await world.open(classes.map((c) => ({ fails: { class: c, message: `it was ${c}` } })));
    for (const c of classes) {
      const result = await session.run(c).result;
      expect(result).toMatchObject({ status: "failed", error: { code: c, message: `it was ${c}`, retryable: false } });
    }
    expect(model.requests).toHaveLength(3);
  });

  test("C7 retry-after is waited for, within its cap: one result, no turn used", async ({ world }) => {
    const busy = (retryAfterMs: number) => ({ fails: { class: "timeout" as const, status: 429, retryAfterMs } });
    const { session, model } = await world.open([busy(1_000), busy(3_600_000), "ok"]);
    const run = session.run("go", { maxTurns: 1 });
    await world.until(() => session.stateValue === "reason.backingOff");
    await world.clock.advance(999);
    expect(model.requests).toHaveLength(1);
    await world.clock.advance(1);
    expect(model.requests).toHaveLength(2);
    await world.clock.advance(59_999);
    expect(model.requests).toHaveLength(2);
    await world.clock.advance(1);
    expect(await run.unwrap()).toMatchObject({ text: "ok", turns: 1 });
    expect(said(session.messages())).toEqual(["user go", "assistant ok"]);
  });

  test("C7 a cancel while it waits to retry ends at once", async ({ world }) => {
    const { session, model } = await world.open([{ fails: { class: "timeout", retryAfterMs: 50_000 } }, "ok"]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.backingOff");
    run.cancel();
    expect((await run.result).status).toBe("cancelled");
    expect(world.clock.timers).toBe(0);
    expect(model.requests).toHaveLength(1);
  });

  test("tools start only after the accepted message, and model.completed is announced before them", async ({
    world,
  }) => {
    const open = gate();
    const script = [{ ...look("a"), hangs: true }, { ...look("b"), after: open.promise, usage: { input: 7 } }, "done"];
    const { session, events } = await world.open(script, { limits: { streamIdleMs: 100, backoffMs: 0 } });
    const run = session.run("go");
    await world.clock.advance(100);
    await world.clock.advance(0);
    expect(world.ran).toEqual([]);
    open.open();
    await run.unwrap();
    await settled();
    expect(world.ran).toEqual(["look b"]);
    const completed = all(events, "model.completed")[0]!;
    expect(completed.usage).toEqual({ input: 7 });
    expect(completed.seq).toBeLessThan(only(events, "tool.started").seq);
  });
});

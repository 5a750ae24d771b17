import { describe, expect } from "vitest";
import type { ModelChunk, ModelPort } from "../../src/ports.ts";
import { all, call, gate, only, readTool, settled, statusOf, test } from "../session/support.ts";

const limits = { retries: 0, firstByteMs: 1_000, streamIdleMs: 300, requestMs: 0 };

/** Streams what it is pushed. */
function pushed() {
  const chunks: ModelChunk[] = [];
  let more = gate();
  let signal: AbortSignal | undefined;
  let returned = false;
  const model: ModelPort = {
    id: "pushed",
    async *stream(_, options) {
      signal = options.signal;
      try {
        while (true) {
          for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) yield chunk;
          await more.promise;
          more = gate();
        }
      } finally {
        returned = true;
      }
    },
  };
  const push = async (...more_: ModelChunk[]) => {
    chunks.push(...more_);
    more.open();
    await settled();
  };
  return { model, push, isAborted: () => signal?.aborted === true, isLetGo: () => returned };
}
const word = (delta: string): ModelChunk => ({ type: "text", delta });
const stop: ModelChunk = { type: "finish", reason: "stop" };

describe("a model request", () => {
  test("every chunk gives the stream its whole idle time again", async ({ world }) => {
    const { model, push } = pushed();
    const { session } = await world.open([], { model, limits });
    const run = session.run("go");
    for (const delta of ["a", "b", "c", "d", "e", "f"]) {
      await world.clock.advance(299);
      await push(word(delta));
    }
    await push(stop);
    expect((await run.unwrap()).text).toBe("abcdef");
    expect(world.clock.timers).toBe(0);
  });

  test("the idle time runs from the last chunk, not from the timer", async ({ world }) => {
    const { model, push, isAborted } = pushed();
    const { session } = await world.open([], { model, limits });
    const run = session.run("go");
    await world.clock.advance(900);
    await push(word("a"));
    await world.clock.advance(299);
    expect(session.state).toBe("running");
    await world.clock.advance(1);
    expect(await run.result).toMatchObject({
      status: "failed",
      error: { code: "timeout", message: expect.stringMatching(/silent/) },
    });
    expect(isAborted()).toBe(true);
  });

  test("requestMs bounds the whole of it, however lively", async ({ world }) => {
    const { model, push } = pushed();
    const { session } = await world.open([], { model, limits: { ...limits, requestMs: 1_000 } });
    const run = session.run("go");
    for (let i = 0; i < 9; i++) {
      await world.clock.advance(100);
      await push(word("x"));
    }
    expect(session.state).toBe("running");
    await world.clock.advance(100);
    expect(statusOf(await run.result)).toBe("failed(timeout)");
  });

  test("who has what it needs lets the stream go", async ({ world }) => {
    const { model, push, isLetGo } = pushed();
    const { session } = await world.open([], { model, limits });
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    await push(word("a"), stop, word("more"));
    expect((await run.unwrap()).text).toBe("a");
    await settled();
    expect(isLetGo()).toBe(true);
  });

  test("a cancel ends it at once, although the model does not stop, and keeps what was shown", async ({ world }) => {
    const { model, push, isAborted } = pushed();
    const { session, events } = await world.open([], { model, limits });
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    await push(word("so f"), { type: "usage", usage: { input: 7 } });
    run.cancel();
    expect(await run.result).toMatchObject({ status: "cancelled", usage: { input: 7 } });
    expect(isAborted()).toBe(true);
    await push(word("ar"), stop);
    await settled();
    expect(only(events, "model.failed")).toMatchObject({
      failure: { class: "cancelled" },
      parts: [{ type: "text", text: "so f" }],
    });
    expect(JSON.stringify(session.view())).toContain("so f");
    expect(JSON.stringify(session.view())).not.toContain("so far");
  });

  test("tokens of failed attempts are counted", async ({ world }) => {
    const usage = { input: 10, output: 1 };
    const { session } = await world.open(
      [
        { usage, fails: { class: "timeout" } },
        { text: "ok", usage },
      ],
      {
        limits: { backoffMs: 0 },
      },
    );
    const run = session.run("go");
    await world.clock.advance(1);
    expect((await run.unwrap()).usage).toEqual({ input: 20, output: 2 });
    expect(session.usage().requests).toBe(2);
  });

  test("parallel calls may interleave, names and ids may come late, and text may come between", async ({ world }) => {
    const { model, push } = pushed();
    const { session, events } = await world.open([], { model, limits });
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    await push(
      word("I look"),
      { type: "tool-call", key: "0", delta: '{"pa' },
      { type: "tool-call", key: "1", name: "look", wireId: "w1", delta: "" },
      { type: "tool-call", key: "0", name: "look", delta: 'th":"a"}', wireId: "w0" },
      { type: "tool-call", key: "1", delta: '{"path":"b"}', name: "", wireId: "" },
      word(" around"),
      { type: "finish", reason: "tool-calls" },
    );
    await world.until(() => all(events, "exchange.committed").length === 1);
    await push(word("done"), stop);
    await run.unwrap();
    expect(world.ran).toEqual(["look a", "look b"]);
    expect(session.messages()[1]!.parts).toMatchObject([
      { type: "text", text: "I look" },
      { type: "tool-call", name: "look", args: { path: "a" }, wireId: "w0" },
      { type: "tool-call", name: "look", args: { path: "b" }, wireId: "w1" },
      { type: "text", text: " around" },
    ]);
  });
});

describe("a side request", () => {
  test("that hangs is bounded by the first-byte limit and does not hold the session", async ({ world }) => {
    const { session } = await world.open([{ hangs: true }, "ok"], { limits });
    const title = session.generateTitle().catch((error: Error) => error.message);
    await settled();
    await world.clock.advance(1_000);
    expect(await title).toMatch(/took too long/);
    expect((await session.run("go").unwrap()).text).toBe("ok");
    expect(world.clock.timers).toBe(0);
  });
});

describe("a large output", () => {
  test("is cut between characters, never within one", async ({ world }) => {
    const tools = { big: readTool(({ path }) => path + "😀".repeat(400)) };
    const { session } = await world.open([{ calls: [call("big", "a"), call("big", "")] }, "done"], {
      tools,
      limits: { maxOutputChars: 301 },
    });
    await session.run("go").unwrap();
    for (const message of session.messages())
      if (message.role === "tool")
        for (const part of message.parts)
          for (const shown of part.output) if (shown.type === "text") expect(shown.text.isWellFormed()).toBe(true);
  });
});

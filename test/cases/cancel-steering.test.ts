import { getEventListeners } from "node:events";
import { describe, expect } from "vitest";
import { defineMiddleware } from "../../src/middleware/middleware.ts";
import { textOf } from "../../src/core/message.ts";
import type { Run } from "../../src/session/run.ts";
import {
  all,
  call,
  codeOf,
  gate,
  look,
  newest,
  only,
  readTool,
  said,
  settled,
  standing,
  test,
  told,
  write,
} from "../session/support.ts";

describe("cancel, timeouts, steering", () => {
  test("B1 a cancel while approve() is pending ends the run, whatever the host does", async ({ world }) => {
    let heard: AbortSignal | undefined;
    const { session } = await world.open([write("a")]);
    const run = session.run("go", {
      approve: (_, { signal }) => {
        heard = signal;
        return new Promise(() => {});
      },
    });
    await world.until(() => session.state === "awaiting_approval" && heard !== undefined);
    run.cancel("changed my mind");
    expect(await run.result).toMatchObject({ status: "cancelled", reason: "changed my mind" });
    expect(heard?.aborted).toBe(true);
    expect(told(session.messages())).toEqual(["cancelled [interrupted: tool aborted by user]"]);
    expect(world.ran).toEqual([]);
  });

  test("B2 a tool that ignores a cancel is abandoned after the grace; its late value is recorded as late", async ({
    world,
  }) => {
    const late = gate<string>();
    const { session, events } = await world.open([{ calls: [call("deaf", "a")] }, "ok"], {
      tools: { deaf: readTool(() => late.promise) },
    });
    const run = session.run("go");
    await world.until(() => session.stateValue === "act.executing");
    run.cancel();
    expect(await standing(run.result)).toBe("pending");
    await world.clock.advance(249);
    expect(await standing(run.result)).toBe("pending");
    await world.clock.advance(1);
    expect((await run.result).status).toBe("cancelled");
    expect(told(session.messages())).toEqual([expect.stringMatching(/^abandoned Outcome unknown/)]);
    late.open("much too late");
    await world.until(() => all(events, "tool.late").length === 1);
    expect(only(events, "tool.late")).toMatchObject({ name: "deaf", outcome: "ok", dir: "note" });
    expect(JSON.stringify(session.messages())).not.toContain("much too late");
    await session.run("next").unwrap();
  });

  test("B2 a tool that ignores its timeout is abandoned too, and its siblings keep their results", async ({
    world,
  }) => {
    const late = gate<string>();
    const tools = { ...world.tools, deaf: readTool(() => late.promise, { timeoutMs: 1_000 }) };
    const { session, events } = await world.open([{ calls: [call("deaf", "a"), call("look", "b")] }, "ok"], { tools });
    const run = session.run("go");
    await world.until(() => all(events, "tool.settled").length === 1);
    await world.clock.advance(1_250);
    expect((await run.result).status).toBe("completed");
    expect(told(session.messages())).toEqual([expect.stringMatching(/^abandoned/), "ok seen b"]);
    late.fail(new Error("too late"));
    await world.until(() => all(events, "tool.late").length === 1);
    expect(only(events, "tool.late").outcome).toBe("failed");
  });

  test("B3 leaving the event loop early is a cancel: the tool does not run afterwards", async ({ world }) => {
    const open = gate();
    const { session } = await world.open([{ ...look("a"), after: open.promise }, "never"]);
    const run = session.run("go");
    for await (const event of run) if (event.type === "attempt.started") break;
    open.open();
    expect((await run.result).status).toBe("cancelled");
    expect(world.ran).toEqual([]);
    expect(session.state).toBe("idle");
  });

  test("B3 a throw in the loop's body and a break out of the text stream are cancels too", async ({ world }) => {
    const { session } = await world.open([
      { text: ["a", "b"], hangs: true },
      { text: "x", hangs: true },
    ]);
    const run = session.run("go");
    const reading = (async () => {
      for await (const event of run) if (event.type === "part.delta") throw new Error("mine");
    })();
    await expect(reading).rejects.toThrow("mine");
    expect((await run.result).status).toBe("cancelled");
    const second = session.run("again");
    for await (const _ of second.textStream) break;
    expect((await second.result).status).toBe("cancelled");
  });

  test("B4 a steer that was accepted is not lost by an abort: undelivered, and delivered by the next run", async ({
    world,
  }) => {
    const { session, model } = await world.open([{ hangs: true }, "ok"]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    const receipt = session.steer("and be quick");
    expect(receipt).toMatchObject({ status: "queued" });
    run.cancel();
    const result = await run.result;
    expect(result.undelivered).toEqual([receipt && receipt.id]);
    await session.continue().unwrap();
    expect(newest(model.requests[1])).toBe("user [user_steering]\nand be quick\n[/user_steering]");
  });

  test.for(["model.completed", "exchange.committed", "run.ended"] as const)(
    "B5 a message sent at %s of the final answer is processed, by this run or the next",
    async (moment, { world }) => {
      const { session, model } = await world.open(["first", "second", "third"]);
      const run = session.run("go");
      let sent: ReturnType<typeof session.send> | undefined;
      for await (const event of run) if (event.type === moment && !sent) sent = session.send("one more thing");
      await run.result;
      expect(sent).toBeDefined();
      if ("status" in sent!) {
        if (session.why().includes("undelivered")) await session.continue().unwrap();
      } else await (sent as Run).unwrap();
      const heard = model.requests.filter((r) => JSON.stringify(r.messages).includes("one more thing"));
      expect(heard.length).toBeGreaterThan(0);
      expect(said(session.messages()).filter((m) => m.includes("one more thing"))).toHaveLength(1);
    },
  );

  test("B5 when the loop over a run is over, the next run can begin at once", async ({ world }) => {
    const { session } = await world.open(["one", "two"]);
    for await (const _ of session.run("go"));
    expect(await session.run("next").result.catch((error: unknown) => error)).toMatchObject({ status: "completed" });
  });

  test("B6 an after-hook throws: its failure is reported and every result of the batch stays", async ({ world }) => {
    const bad = defineMiddleware({
      name: "bad",
      afterCall(seen) {
        if (seen.args.path === "a") throw new Error("hook broke");
        return { note: "checked" };
      },
    });
    const { session, events } = await world.open([look("a", "b", "c"), "done"], { middleware: [bad] });
    await session.run("go").unwrap();
    await settled();
    expect(told(session.messages())).toEqual(["ok seen a", "ok seen bchecked", "ok seen cchecked"]);
    expect(only(events, "middleware.failed")).toMatchObject({
      middleware: "bad",
      hook: "afterCall",
      message: "hook broke",
      dir: "note",
    });
  });

  test("B7 a reader leaves: a run does not depend on session.events(), nor on a detached iterator", async ({
    world,
  }) => {
    const open = gate();
    const { session } = await world.open([{ after: open.promise, text: ["all ", "of it"] }, "more"]);
    const run = session.run("go");
    for await (const _ of session.events({ partials: true })) break;
    run.detach();
    for await (const _ of run) break;
    open.open();
    expect((await run.unwrap()).text).toBe("all of it");
    expect(textOf(session.messages()[1]!.parts)).toBe("all of it");
    expect((await session.run("nobody reads").unwrap()).text).toBe("more");
  });

  test("B8 a second run on one session is busy, from this handle and from another agent", async ({ world }) => {
    const { session } = await world.open([{ hangs: true }, "later"]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    const second = session.run("me too");
    expect(await codeOf(second.result)).toBe("busy");
    await expect((async () => void (await second[Symbol.asyncIterator]().next()))()).rejects.toMatchObject({
      code: "busy",
    });
    second.cancel();
    const other = await world.reopen(["x"]);
    expect(await codeOf(other.session.run("me three").result)).toBe("busy");
    expect(session.state).toBe("running");
    run.cancel();
    await run.result;
    expect((await other.session.run("now").unwrap()).text).toBe("x");
  });

  test("B8 across processes: the journal of two stores on one folder never interleaves", async ({ world }) => {
    const { again } = world.folder();
    const { session } = await world.open([{ hangs: true }]);
    const run = session.run("go");
    await world.until(() => session.stateValue === "reason.requesting");
    const other = await world.reopen(["x"], { store: again() });
    const refused = await other.session.run("me too").result.catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "busy", message: expect.stringContaining("s1") });
    run.cancel();
    await run.result;
    expect((await other.session.run("now").unwrap()).text).toBe("x");
  });

  test("B9 one derived signal per effect: the host's signal has one listener, and none after the run", async ({
    world,
  }) => {
    const controller = new AbortController();
    const counts: number[] = [];
    const tools = {
      look: readTool((_, { signal }) => {
        counts.push(getEventListeners(controller.signal, "abort").length, getEventListeners(signal, "abort").length);
        return "x";
      }),
    };
    const paths = Array.from({ length: 40 }, (_, i) => String(i));
    const { session } = await world.open([look(...paths), look(...paths), "done"], { tools });
    await session.run("go", { signal: controller.signal }).unwrap();
    expect(Math.max(...counts)).toBe(1);
    await settled();
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
    expect(world.clock.timers).toBe(0);
  });
});

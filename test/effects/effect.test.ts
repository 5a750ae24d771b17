import { createActor, setup } from "xstate";
import { describe, expect, test } from "vitest";
import type { InputEvent } from "../../src/core/event.ts";
import { effect, hosts, type Job } from "../../src/effects/effect.ts";
import { settled } from "../../src/testing/fakes.ts";

const elapsed = (timer: string): InputEvent => ({ type: "timer.elapsed", timer });

/** A machine with one effect, which hears what the effect says; `abort` asks it to stop, `leave` leaves its state. */
function run(work: (job: Job) => void | Promise<void>) {
  const heard: string[] = [];
  const machine = setup({
    types: { events: {} as InputEvent | { type: "leave" } | { type: "ask" } },
    actors: {
      work: effect<{ id: string }>(
        (_, job) => work(job),
        (error) => elapsed(`failed: ${(error as Error).message}`),
      ),
    },
    actions: {
      hear: ({ event }) => void heard.push((event as { timer: string }).timer),
      abort: ({ self }) => self.getSnapshot().children.work?.send({ type: "abort" }),
    },
  }).createMachine({
    initial: "on",
    states: {
      on: {
        invoke: { id: "work", src: "work", input: { id: "x" } },
        on: { leave: "off", ask: { actions: "abort" }, "timer.elapsed": { actions: "hear" } },
      },
      off: { on: { "timer.elapsed": { actions: "hear" } } },
    },
  });
  const actor = createActor(machine);
  hosts.set(actor.system, {} as never);
  actor.start();
  return { actor, heard };
}

describe("an effect", () => {
  test("settles exactly once: only the first report counts", () => {
    const { heard } = run((job) => {
      job.report(elapsed("part"));
      job.settle(elapsed("done"));
      job.settle(elapsed("again"));
      job.report(elapsed("late part"));
      expect(job.settled).toBe(true);
    });
    expect(heard).toEqual(["part", "done"]);
  });

  test("settles on every path: a throw and a rejection become its failure", async () => {
    const throwing = run(() => {
      throw new Error("at once");
    });
    const rejecting = run(async () => {
      await settled();
      throw new Error("later");
    });
    await settled();
    await settled();
    expect(throwing.heard).toEqual(["failed: at once"]);
    expect(rejecting.heard).toEqual(["failed: later"]);
  });

  test("a throw after it has settled changes nothing", async () => {
    const { heard } = run(async (job) => {
      job.settle(elapsed("done"));
      throw new Error("too late");
    });
    await settled();
    expect(heard).toEqual(["done"]);
  });

  test("leaving its state settles it silently, aborts its signal and undoes what is to be undone, once", () => {
    const undone: string[] = [];
    let job!: Job;
    const { actor, heard } = run((j) => {
      job = j;
      job.onLeave(() => undone.push("first"));
      job.onLeave(() => undone.push("second"));
    });
    const { signal } = job;
    expect(signal.aborted).toBe(false);
    actor.send({ type: "leave" });
    expect(signal.aborted).toBe(true);
    expect(undone).toEqual(["first", "second"]);
    job.settle(elapsed("late"));
    job.onLeave(() => undone.push("third"));
    expect(heard).toEqual([]);
    expect(undone).toEqual(["first", "second", "third"]);
  });

  test("being asked to stop aborts the signal and leaves the settling to the work", () => {
    let job!: Job;
    let stops = 0;
    const { actor, heard } = run((j) => {
      job = j;
      job.onAbort(() => stops++);
    });
    actor.send({ type: "ask" });
    actor.send({ type: "ask" });
    expect(stops).toBe(1);
    expect(job.signal.aborted).toBe(true);
    job.settle(elapsed("stopped by itself"));
    expect(heard).toEqual(["stopped by itself"]);
  });

  test("who asks too late how to stop is told at once", () => {
    let job!: Job;
    const { actor } = run((j) => void (job = j));
    actor.send({ type: "ask" });
    let stops = 0;
    job.onAbort(() => stops++);
    expect(stops).toBe(1);
    expect(job.signal.aborted).toBe(true);
  });
});

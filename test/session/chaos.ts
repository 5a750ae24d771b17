/** A host, a model, tools and hooks that do anything at any moment, and the same every time. */
import { expect } from "vitest";
import { defineMiddleware, type Middleware } from "../../src/middleware/middleware.ts";
import type { Session } from "../../src/session/session.ts";
import type { ScriptedAnswer } from "../../src/testing/scripted-model.ts";
import { readTool, settled, writeTool, type Opened, type World } from "./support.ts";

/** Numbers that look like chance and are the same every time (mulberry32). */
export function chance(seed: number) {
  let a = seed;
  const next = () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    below: (n: number) => Math.floor(next() * n),
    one: <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)]!,
    may: (share: number) => next() < share,
  };
}
export type Chance = ReturnType<typeof chance>;

const names = ["look", "write", "slow", "deaf", "bad", "background", "nobody"];

export function answer(dice: Chance): ScriptedAnswer {
  const calls = Array.from({ length: 1 + dice.below(4) }, (_, i) =>
    dice.may(0.05) ? { name: "look", raw: "{" } : { name: dice.one(names), args: { path: `${i}` } },
  );
  switch (dice.below(10)) {
    case 0:
      return { text: "partly", fails: { class: dice.one(["timeout", "malformed", "fatal", "overflow"] as const) } };
    case 1:
      return { text: "cut ", finish: "length", ...(dice.may(0.3) ? { calls } : {}) };
    case 2:
      return { text: "hm", ...(dice.may(0.5) ? { hangs: true } : { cut: true }) };
    case 3:
    case 4:
      return "an answer";
    default:
      return { text: dice.one(["", "I will"]), calls, usage: { input: 10, output: 5 } };
  }
}

export function toolsOf(world: World, dice: Chance) {
  const stopping = (signal: AbortSignal) =>
    new Promise((_r, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
  return {
    look: readTool(({ path }) => `seen ${path}`, { lockKey: ({ path }: { path: string }) => [path] }),
    write: writeTool(() => settled().then(() => "written"), { onUnknown: dice.one(["report", "retry", "ask"]) }),
    slow: readTool((_, { signal }) => stopping(signal), { timeoutMs: 400, onUnknown: "retry" }),
    deaf: readTool(() => new Promise(() => {}), { timeoutMs: 300 }),
    bad: readTool(() => {
      throw new Error("bad");
    }),
    background: readTool((_, { session }) => {
      const task = session.background("work");
      world.clock.setTimer(50 + dice.below(400), () => task.settle("report"));
      return "begun";
    }),
  };
}

/** Hooks that take their time, change their mind, and break. */
export function hooksOf(dice: Chance): Middleware[] {
  const breaks = () => {
    if (dice.may(0.05)) throw new Error("hook broke");
    return dice.may(0.5) ? settled() : undefined;
  };
  const moody = defineMiddleware({
    name: "moody",
    onInput: async () => {
      await breaks();
      return dice.may(0.1) ? { refuse: "no" } : dice.may(0.1) ? { info: ["hint"] } : undefined;
    },
    contribute: async () => void (await breaks()),
    reviewCall: async () => {
      await breaks();
      return dice.may(0.1) ? "deny" : dice.may(0.1) ? { args: { path: "rewritten" } } : undefined;
    },
    afterCall: async () => {
      await breaks();
      return dice.may(0.2) ? { note: "noted" } : undefined;
    },
    onStop: async () => {
      await breaks();
      return dice.may(0.2) ? { feedback: "go on" } : undefined;
    },
    beforeCompact: async () => void (await breaks()),
    onRunEnd: async () => void (await breaks()),
  });
  return dice.may(0.5) ? [moody] : [];
}

/** Reads a little, and leaves. */
async function glance(events: AsyncIterable<unknown>, count: number): Promise<void> {
  for await (const _ of events) if (count-- <= 0) return;
}

/** One thing that a host might do at any moment. Whatever is refused is refused politely. */
export async function meddle(world: World, session: Session, dice: Chance, sent: string[]): Promise<void> {
  const quiet = (work: Promise<unknown>) => void work.catch(() => {});
  const words = `words ${sent.length}`;
  const ask = () => session.pending()[0]?.callId ?? "nobody";
  switch (dice.below(18)) {
    case 0: {
      const receipt = session.steer(words);
      if (receipt && !(dice.may(0.3) && session.unsteer(receipt.id))) sent.push(words);
      return;
    }
    case 1: {
      sent.push(words);
      const what = session.send(words, { approvals: "wait" });
      if ("result" in what) quiet(what.result.catch(() => sent.splice(sent.indexOf(words), 1)));
      return;
    }
    case 2:
      return void session.notify({ kind: "info", text: "fyi" });
    case 3:
      return void session.notify({ kind: "defer", text: "report" });
    case 4:
      return quiet(session.cancel({ reason: "meddling" }));
    case 5:
      return quiet(session.memory.set("k", sent.length));
    case 6:
    case 7:
      return quiet(session.decide([{ callId: ask(), decision: dice.one(["allow", "deny", "respond"]), text: "x" }]));
    case 8:
      return quiet(session.decide([{ callId: ask(), decision: "allow", args: { path: "edited" } }]));
    case 9:
      return quiet(session.continue({ approvals: dice.one(["wait", "suspend", "deny"]) }).result);
    case 10:
      return quiet(session.compact());
    case 11:
      return quiet(glance(session.events({ partials: true }), dice.below(20)));
    case 12:
      return quiet(glance(session.continue(), dice.below(20)));
    case 13:
      return quiet(session.generateTitle());
    case 14:
      return dice.may(0.2) ? quiet(session.close()) : undefined;
    default:
      return world.clock.advance(dice.below(300));
  }
}

/** After the storm: somebody goes on, with a model that only answers. */
export async function calm(world: World, setup: object): Promise<Opened> {
  const opened = await world.reopen(() => "calm", setup);
  const { session } = opened;
  for (let i = 0; i < 6; i++) {
    const run = session.continue({ approve: "allow" });
    let result: unknown;
    run.result.then(
      (r) => (result = r),
      (error: unknown) => (result = error),
    );
    await world.until(() => !!result || session.stateValue !== "receive.idle", "it begins");
    for (let step = 0; step < 40 && !result; step++) await world.clock.advance(100);
    await world.until(() => !!result, `it ends: ${session.stateValue}, ${session.why()}`);
    expect(result, "it is not refused").not.toBeInstanceOf(Error);
    if ((result as { turns: number }).turns === 0 && session.state === "idle") break;
  }
  return opened;
}

import { describe, expect } from "vitest";
import { memoryStore } from "../../src/adapters/store/memory.ts";
import type { Store } from "../../src/ports.ts";
import { answer, calm, chance, hooksOf, meddle, toolsOf } from "./chaos.ts";
import { FaultyStore } from "./faulty-store.ts";
import { said, settled, test, type Opened, type Setup, type World } from "./support.ts";

/** Lives that follow each other on one journal; all but the last end by being cut off. */
async function storm(world: World, seed: number): Promise<Opened> {
  const dice = chance(seed);
  const disk = seed % 10 === 0 ? world.folder() : null;
  let base: Store = disk?.store ?? memoryStore({ clock: world.clock });
  const tools = toolsOf(world, dice);
  const limits = { maxTurns: 6, waitMs: 500, streamIdleMs: 700, approvalMs: dice.one([0, 900]) };
  const sent: string[] = [];
  const lives = 1 + dice.below(3);
  for (let life = 0; life < lives; life++) {
    const store = new FaultyStore(base);
    store.lags = dice.may(0.3);
    world.store = store;
    const compaction = dice.one([
      {},
      { maxSessionTurns: 2 },
      { window: 300, mode: dice.one(["discard", "summarize"] as const) },
    ]);
    const setup: Setup = { store, tools, limits, compaction, middleware: hooksOf(dice) };
    const script = () => answer(dice);
    const { session } = life ? await world.reopen(script, setup) : await world.open(script, setup);
    if (dice.may(0.3)) store.fail(() => dice.may(0.2), 2);
    sent.push(`prompt ${life}`);
    const run = session.run(`prompt ${life}`, { approvals: dice.one(["wait", "suspend", "deny"]) });
    run.result.catch(() => sent.splice(sent.indexOf(`prompt ${life}`), 1));
    for (let i = dice.below(30); i > 0; i--) {
      await meddle(world, session, dice, sent);
      if (dice.may(0.6)) await settled();
    }
    await store.kill();
    base = disk?.again() ?? base;
  }
  world.store = base;
  return calm(world, { tools, limits });
}

/** Two agents that live at the same time, on one journal, and know nothing of each other. */
async function duel(world: World, seed: number): Promise<Opened> {
  const dice = chance(seed);
  const disk = seed % 10 === 0 ? world.folder() : null;
  const stores = disk ? [disk.store, disk.again()] : [world.store, world.store];
  const tools = toolsOf(world, dice);
  const limits = { maxTurns: 6, waitMs: 500, streamIdleMs: 700, approvalMs: 900 };
  const script = () => answer(dice);
  const setup = (i: number): Setup => ({ store: stores[i]!, tools, limits, middleware: hooksOf(dice) });
  const hosts = [(await world.open(script, setup(0))).session, (await world.reopen(script, setup(1))).session];
  const sent: string[] = [];
  // Who catches up with another's records misses partials meanwhile.
  world.skips.partials = true;
  for (let i = 20 + dice.below(30); i > 0; i--) {
    await meddle(world, dice.one(hosts), dice, sent);
    if (dice.may(0.6)) await settled();
  }
  for (const host of hosts) await host.cancel().catch(() => {});
  await world.clock.advance(2_000);
  for (const host of hosts) {
    void host.cancel().catch(() => {});
    await world.until(() => host.state === "idle" || host.state === "suspended" || host.state === "closed");
    await world.clock.advance(1_000);
  }
  world.store = stores[0]!;
  while ((await world.store.info("s1"))?.status === "running") await settled();
  return calm(world, { tools, limits });
}

/** `STORMS=1000` tries more of them, `STORM=17` one. */
const { STORMS = "40", STORM } = process.env;
const seeds = STORM ? [Number(STORM)] : Array.from({ length: Number(STORMS) }, (_, i) => i + 1);

describe("two hosts that do anything at any moment", () => {
  test.for(seeds.slice(0, seeds.length / 2 + 1))("leave one whole journal: seed %i", async (seed, { world }) => {
    const { session } = await duel(world, seed);
    expect(session.state).toBe("idle");
    expect(session.pending()).toEqual([]);
  });
});

describe("a host that does anything at any moment", () => {
  test.for(seeds)("leaves a whole journal, and a session that goes on: seed %i", async (seed, { world }) => {
    const { session } = await storm(world, seed);
    expect(session.state).toBe("idle");
    expect(session.pending()).toEqual([]);
    const last = session.run("the end");
    // A report that no living process can give any more is waited for, but not for ever.
    let over = false;
    void last.result.then(() => (over = true));
    await world.until(() => over || session.state === "waiting");
    await world.clock.advance(1_000);
    expect((await last.unwrap()).text).toBe("calm");
    const prompts = said(session.messages()).filter((m) => m.startsWith("user "));
    expect(new Set(prompts.filter((m) => m.includes("words"))).size).toBe(
      prompts.filter((m) => m.includes("words")).length,
    );
    await settled();
    expect(world.clock.timers).toBeLessThan(20);
  });
});

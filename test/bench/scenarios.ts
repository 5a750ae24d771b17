/** The measurements. Each runs one round on one row, in that row's own process, and answers with numbers by name. */
import { setTimeout as pause } from "node:timers/promises";
import type { Conversation, Host, Row } from "./rows/row.ts";
import { Script, type Load } from "./script.ts";

export type Numbers = { [name: string]: number };
export type Scenario = (row: Row) => Promise<Numbers>;

/** Sessions that a measurement of memory is spread over. */
const SESSIONS = 1_000;
const LONG = 1_000;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

/** One run of a load on a fresh conversation of a fresh host. Watched loosely: who falls behind may miss words. */
async function play(
  row: Row,
  load: Partial<Load>,
  how: { watched?: "all" | "loosely"; stamps?: boolean; toolConcurrency?: number } = {},
): Promise<{ ms: number; handed: number; asked: number[] }> {
  const { watched, stamps = false, ...options } = how;
  const script = new Script(load);
  if (stamps) script.asked = [];
  const host = row(script, options);
  const talk = await host.open();
  let handed = 0;
  const ms = await timed(async () => (watched ? (handed = await talk.watch()) : await talk.run()));
  script.verify(1, watched === "all");
  await host.close();
  return { ms, handed, asked: script.asked ?? [] };
}

/** Mean milliseconds of the turns in [from, to). */
const window = (asked: readonly number[], from: number, to: number) => (asked[to]! - asked[from]!) / (to - from);

async function heapUsed(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await pause(5);
  }
  return process.memoryUsage().heapUsed;
}

async function heap(row: Row): Promise<Numbers> {
  const script = new Script({ turns: 1 });
  const host = row(script);
  const first = await host.open();
  await first.run();
  const before = await heapUsed();
  const live: Conversation[] = [];
  for (let i = 0; i < SESSIONS; i++) live.push(await host.open());
  const idle = await heapUsed();
  for (const talk of live) await talk.run();
  const after = await heapUsed();
  script.verify(live.length + 1, false);
  await host.close();
  const each = (bytes: number) => bytes / live.length / 1024;
  return { heapKBPerSession: each(idle - before), heapKBAfterRun: each(after - before) };
}

let long: { host: Host; talk: Conversation } | undefined;

/** Of a conversation of a thousand turns, which is had once. */
async function snapshot(row: Row): Promise<Numbers> {
  if (!long) {
    const host = row(new Script({ turns: LONG }));
    long = { host, talk: await host.open() };
    await long.talk.run();
  }
  const { talk } = long;
  let size = 0;
  const snapshotMs = await timed(async () => (size = talk.snapshot().length));
  return { snapshotMs, snapshotKB: size / 1024 };
}

const perTurn = (ms: number, turns: number) => (ms * 1000) / (turns + 1);

export const scenarios = {
  turn: async (row) => ({ usPerTurn: perTurn((await play(row, { turns: 200 })).ms, 200) }),
  watchedTurn: async (row) => ({
    watchedUsPerTurn: perTurn((await play(row, { turns: 200 }, { watched: "loosely" })).ms, 200),
  }),
  growth: async (row) => {
    const { asked } = await play(row, { turns: LONG }, { stamps: true });
    return { usAt100: 1000 * window(asked, 50, 150), usAt1000: 1000 * window(asked, LONG - 100, LONG) };
  },
  parallel: async (row) => ({ par50Ms: (await play(row, { turns: 1, toolsPerTurn: 50 })).ms }),
  parallelUnlimited: async (row) => ({
    par50At50Ms: (await play(row, { turns: 1, toolsPerTurn: 50 }, { toolConcurrency: 50 })).ms,
  }),
  deltas: async (row) => {
    const { ms, handed } = await play(row, { words: 10_000 }, { watched: "all" });
    return { usPerDelta: ms / 10, handed };
  },
  heap,
  snapshot,
} satisfies { [name: string]: Scenario };

export type ScenarioName = keyof typeof scenarios;
/** How long a scenario is repeated before it counts, and how often it is then measured: full and quick. */
export const repetitions: { [S in ScenarioName]: { warmUp: [number, number]; rounds: [number, number] } } = {
  turn: { warmUp: [40, 15], rounds: [25, 9] },
  watchedTurn: { warmUp: [6, 3], rounds: [15, 5] },
  growth: { warmUp: [3, 1], rounds: [15, 5] },
  parallel: { warmUp: [60, 30], rounds: [60, 25] },
  parallelUnlimited: { warmUp: [30, 15], rounds: [40, 15] },
  deltas: { warmUp: [8, 4], rounds: [21, 9] },
  heap: { warmUp: [1, 0], rounds: [5, 3] },
  snapshot: { warmUp: [5, 3], rounds: [15, 7] },
};

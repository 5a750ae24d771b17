import { describe, expect } from "vitest";
import type { JournalRecord } from "../../src/core/event.ts";
import { difference } from "../../src/core/difference.ts";
import { replay } from "../../src/session/replay.ts";
import { look, test, type World } from "./support.ts";

/** A session with calls, a retry and a cancel; its records as a file has them. */
async function recorded(world: World): Promise<JournalRecord[]> {
  const { session } = await world.open([look("a", "b"), "one", { fails: { class: "fatal" } }, "two"]);
  await session.run("1").unwrap();
  await session.run("2").result;
  await session.continue().unwrap();
  return JSON.parse(JSON.stringify(await world.records())) as JournalRecord[];
}
const at = (records: JournalRecord[], type: JournalRecord["type"]) => records.findIndex((r) => r.type === type);

describe("replay", () => {
  test("a journal as it was written regenerates every announcement", async ({ world }) => {
    const records = await recorded(world);
    const report = await replay(records);
    expect(report).toMatchObject({ session: "s1", records: records.length, divergences: [], unwritten: 0 });
    expect(report.runs.map((r) => `${r.status} ${r.turns}`)).toEqual(["completed 2", "failed 1", "completed 1"]);
    expect(report.events).toMatchObject({ "session.opened": 1, "tool.settled": 2, "exchange.committed": 3 });
    expect(report.states).toMatchObject({ "act.executing": 2, "reason.requesting": expect.any(Number) });
  });

  test("an announcement that says something else is found, with its place and both sides", async ({ world }) => {
    const records = await recorded(world);
    const i = at(records, "exchange.committed");
    (records[i] as any).results[1].status = "failed";
    const { divergences } = await replay(records);
    expect(divergences).toMatchObject([
      {
        seq: i + 1,
        expected: { type: "exchange.committed" },
        actual: { type: "exchange.committed" },
        where: { path: "results[1].status", expected: "failed", actual: "ok" },
      },
    ]);
  });

  test("an announcement that is missing, or one too many, is found", async ({ world }) => {
    const records = await recorded(world);
    const missing = records.filter((r) => r.type !== "attempt.started");
    expect((await replay(missing)).divergences).toMatchObject([{ actual: { type: "attempt.started" } }]);
    const i = at(records, "run.ended");
    const more = [...records.slice(0, i + 1), records[i]!, ...records.slice(i + 1)];
    expect((await replay(more)).divergences).toMatchObject([{ expected: { type: "run.ended" }, actual: null }]);
  });

  test("a machine that decides otherwise is found at the first record where it shows", async ({ world }) => {
    const records = await recorded(world);
    const opened = records[0] as Extract<JournalRecord, { type: "session.opened" }>;
    opened.config.limits.maxTurns = 1;
    const { divergences } = await replay(records);
    expect(divergences).toHaveLength(1);
    expect(divergences[0]!.actual).toMatchObject({ type: "run.ended", status: "max_turns" });
  });

  test("with `all` every difference is listed, up to the limit", async ({ world }) => {
    const records = await recorded(world);
    for (const r of records) if (r.type === "run.ended") (r as any).turns += 1;
    expect((await replay(records, { all: 100 })).divergences).toHaveLength(3);
    expect((await replay(records, { all: 2 })).divergences).toHaveLength(2);
  });

  test("a journal that ends in the middle of a write has announcements that were not written", async ({ world }) => {
    const records = await recorded(world);
    const i = at(records, "run.ended");
    expect(await replay(records.slice(0, i))).toMatchObject({ divergences: [], unwritten: 1 });
  });

  test("a record that the machine cannot take is a divergence, not a crash", async ({ world }) => {
    const records = await recorded(world);
    const { divergences } = await replay(records.slice(1));
    expect(divergences).toMatchObject([{ where: expect.stringMatching(/begins with session\.opened/) }]);
  });

  test("progress is told, and the event loop breathes", async ({ world }) => {
    const records = await recorded(world);
    const note = { ...records[0]!, dir: "note", type: "tool.late" } as never as JournalRecord;
    const told: number[] = [];
    let breaths = 0;
    const breathe = () => void (breaths++, (next = setImmediate(breathe)));
    let next = setImmediate(breathe);
    const many = [...records, ...Array.from({ length: 2_000 }, () => note)];
    await replay(many, { onProgress: (n) => told.push(n) });
    clearImmediate(next);
    expect(told.at(-1)).toBe(many.length);
    expect(breaths).toBeGreaterThanOrEqual(Math.floor(many.length / 250));
  });
});

describe("a difference", () => {
  test("is the first one, with its path; missing and undefined are the same, the order of keys is nothing", () => {
    expect(difference({ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 3 }], a: 1 })).toEqual({
      path: "b[1].c",
      expected: 2,
      actual: 3,
    });
    expect(difference({ a: undefined, b: 1 }, { b: 1 })).toBeUndefined();
    expect(difference([1], [1, 2])).toEqual({ path: "[1]", expected: undefined, actual: 2 });
    expect(difference({ a: null }, {})).toEqual({ path: "a", expected: null, actual: undefined });
    expect(difference([], {})).toEqual({ path: "", expected: [], actual: {} });
  });
});

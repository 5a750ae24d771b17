/** A thousand arbitrary walks over the pure machine hold every law at every event. A failure prints its seed. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { outputEvents } from "../../machines/index.ts";
import { runStatus } from "../../src/core/event.ts";
import { project } from "../../src/core/projection.ts";
import { SessionFold } from "../../src/session/fold.ts";
import { close } from "../machine/events.ts";
import { reach } from "../machine/reach.ts";
import { Walk } from "../machine/walk.ts";
import { Dice } from "./dice.ts";
import { Laws } from "./laws.ts";
import { eventOf, moves, settings, type Move } from "./moves.ts";
import { outcome } from "./outcomes.ts";

const RUNS = 1_000;
/** More than the longest way out of any state: every turn and compaction that may still be due. */
const STEPS = 300;

/** Lets everything that runs come to its plain end. */
function settle(walk: Walk, laws: Laws): void {
  for (let i = 0; i < STEPS; i++) {
    const event = outcome(walk, new Dice([], `end${i}`), "plain");
    if (!event) return;
    walk.feed(event);
    laws.look();
  }
  throw new Error(`stuck in ${walk.state} although every effect settles`);
}

/** The records alone give the same memory, state, announcements and transcript. */
function compareWithFold(walk: Walk): void {
  const fold = new SessionFold();
  const announced: unknown[] = [];
  fold.onAnnounce = (event) => announced.push(event);
  for (const record of walk.records) fold.append(record);
  expect(fold.context).toEqual(walk.context);
  expect(fold.state).toEqual(walk.snapshot.value);
  const outputs = walk.records.filter((r) => r.dir === "out");
  expect(announced).toEqual(outputs.map(({ v: _v, seq: _seq, at: _at, dir: _dir, ...event }) => event));
  expect(fold.transcript.view).toEqual(walk.transcript.view);
  fold.stop();
}

/** What the walks came across, so that a law is not held by never being tried. */
const seen = new Set<string>();
const everything = [
  ...Object.keys(reach),
  ...Object.keys(outputEvents).filter((type) => type !== "checkpoint"),
  ...runStatus.options,
];

function follow(walk: Walk, steps: readonly Move[]): void {
  const laws = new Laws(walk);
  for (const [i, move] of steps.entries()) {
    walk.feed(eventOf(walk, move, i));
    laws.look();
    seen.add(walk.state);
  }
  compareWithFold(walk);
  settle(walk, laws);
  walk.feed(close);
  laws.look();
  settle(walk, laws);
  expect(walk.state).toBe("closed");
  for (const r of walk.records) seen.add(r.type === "run.ended" ? r.status : r.type);
  const count = (type: string) => walk.records.filter((r) => r.type === type).length;
  expect(count("run.ended")).toBe(count("run.started"));
  const { entries, directives, view } = walk.transcript;
  expect(view).toEqual(project(entries, directives));
}

/** The records of a walk, one a line. */
const story = (walk: Walk): string =>
  walk.records.map(({ v: _v, at: _at, ...record }) => JSON.stringify(record)).join("\n");

test("every law holds after every event, and a fold of the records equals the walk", () => {
  const property = fc.property(settings, moves, (how, steps) => {
    const walk = new Walk(how);
    try {
      follow(walk, steps);
    } catch (error) {
      throw new Error(`${String(error)}\nafter\n${story(walk)}`, { cause: error });
    }
  });
  fc.assert(property, { numRuns: RUNS });
  expect(everything.filter((what) => what !== "run.ended" && !seen.has(what))).toEqual([]);
}, 60_000);

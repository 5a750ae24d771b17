/** Generated walks: what a session's outside may do to it next, plausible or not. */
import fc from "fast-check";
import type { InputEvent } from "../../machines/index.ts";
import * as e from "../machine/events.ts";
import type { Settings, Walk } from "../machine/walk.ts";
import { configOf } from "../machine/walk.ts";
import { Dice } from "./dice.ts";
import { outcome } from "./outcomes.ts";

/** One move: what kind of thing happens, and the choices within it. */
export type Move = { kind: "outcome" | "begin" | "disturb" | "stray"; rolls: readonly number[] };

const rolls = fc.array(fc.nat({ max: 0xffff }), { minLength: 4, maxLength: 20, size: "max" });
const kind = fc.oneof(
  { weight: 14, arbitrary: fc.constant("outcome" as const) },
  { weight: 3, arbitrary: fc.constant("begin" as const) },
  { weight: 4, arbitrary: fc.constant("disturb" as const) },
  { weight: 2, arbitrary: fc.constant("stray" as const) },
);
export const moves: fc.Arbitrary<Move[]> = fc.array(fc.record({ kind, rolls }), { maxLength: 32, size: "max" });

export const settings: fc.Arbitrary<Settings> = fc.record({
  limits: fc.record({
    maxTurns: fc.constantFrom(-1, 1, 3, 100),
    retries: fc.nat({ max: 2 }),
    continuations: fc.nat({ max: 2 }),
    toolConcurrency: fc.integer({ min: 1, max: 3 }),
    inbox: fc.constantFrom(2, 1_000),
    stopFeedback: fc.nat({ max: 2 }),
    maxBudgetUsd: fc.constantFrom(0, 0, 0.2),
  }),
  compaction: fc.record({
    mode: fc.constantFrom("summarize" as const, "discard" as const),
    window: fc.constantFrom(300, 2_000, 20_000, 200_000),
    maxSessionTurns: fc.constantFrom(-1, 3),
  }),
  reviews: fc.record({ input: fc.boolean(), stop: fc.boolean() }),
});

/** The event that a move stands for, here and now. `index` makes its names unlike those of other moves. */
export function eventOf(walk: Walk, move: Move, index: number): InputEvent {
  const dice = new Dice(move.rolls, String(index));
  switch (move.kind) {
    case "outcome":
      return outcome(walk, dice) ?? (dice.chance(4) ? begin(walk, dice) : starts(walk, dice));
    case "begin":
      return begin(walk, dice);
    case "disturb":
      return disturb(walk, dice);
    case "stray":
      return stray(walk, dice);
    default:
      return move.kind satisfies never;
  }
}

const optionsOf = (dice: Dice): e.Options => ({
  maxTurns: dice.of([1, 2, 9]),
  approvals: {
    mode: dice.of(["wait", "suspend", "deny", "callback"] as const),
    unanswered: dice.of(["deny", "suspend", "wait"] as const),
    onSteer: dice.of(["deny-pending", "queue"] as const),
  },
});

/** Nothing is active: a run, with its prompt just before it or going on with what is there. */
function starts(walk: Walk, dice: Dice): InputEvent {
  if (!walk.context.inbox.length && dice.chance(2)) return e.prompt(dice.id("p"));
  const fresh = dice.id("r");
  return dice.chance(3) ? e.run(fresh, optionsOf(dice)) : e.goOn(fresh, optionsOf(dice));
}

/** Something that a user or a host does. */
function begin(walk: Walk, dice: Dice): InputEvent {
  const options = optionsOf(dice);
  const fresh = dice.id("r");
  return dice.of<InputEvent>([
    e.prompt(dice.id("p"), walk.context.run ? { steering: true } : {}),
    e.prompt(dice.id("p")),
    e.run(fresh, options, { inputs: walk.context.inbox.slice(0, 1).map((i) => i.id) }),
    e.run(fresh, options),
    e.goOn(fresh, options),
    e.run(fresh, options, { cancelled: { reason: "too late" } }),
    e.notice(dice.id("n")),
    e.compaction(dice.of([undefined, "summarize", "discard"])),
    history(dice),
  ]);
}

const history = (dice: Dice): InputEvent =>
  e.imported(
    { id: dice.id("h"), role: "user", kind: "prompt", parts: [{ type: "text", text: "before" }] },
    ...(dice.chance(2) ? [] : [{ id: dice.id("h"), role: "assistant" as const, parts: [] }]),
  );

/** Something that comes in between. */
function disturb(walk: Walk, dice: Dice): InputEvent {
  const { run, inbox, tasks } = walk.context;
  const resumedConfig = configOf({
    limits: { maxTurns: dice.of([2, 50]) },
    compaction: { window: dice.of([300, 9_000]) },
  });
  return dice.of<InputEvent>([
    e.prompt(dice.id("p"), { steering: true }),
    e.cancel(),
    e.cancel({ reason: "stop", clearInbox: dice.chance(2), ...(run ? { runId: run.id } : {}) }),
    e.cancel({ runId: "another" }),
    e.storeFailed,
    { ...e.storeFailed, fenced: true } as InputEvent,
    e.resumed(dice.chance(2) ? walk.config : resumedConfig),
    e.prompt(dice.id("p"), { steering: true }),
    e.defer(dice.id("d")),
    e.defer(dice.id("d"), run?.id),
    e.defer(dice.id("d"), "another"),
    e.opened(dice.id("t")),
    e.opened(dice.id("t")),
    e.done(tasks.length ? dice.of(tasks) : "none"),
    e.withdrawn(inbox.length ? dice.of(inbox).id : "none", "nobody"),
    e.modeChanged("plan"),
    dice.chance(4) ? e.close : e.cancel(),
    { type: "memory.updated", key: "k", value: dice.below(9) },
  ]);
}

/** An outcome of something that is over, of another session, or of nothing at all. */
function stray(walk: Walk, dice: Dice): InputEvent {
  const old = walk.records.filter((r) => r.dir === "in" && settlements.has(r.type));
  if (old.length && dice.chance(2)) {
    const { v: _v, seq: _seq, at: _at, dir: _dir, ...event } = dice.of(old);
    return event as InputEvent;
  }
  const calls = walk.context.draft?.calls ?? [];
  const callId = calls.length ? dice.of(calls).callId : "foreign";
  return dice.of<InputEvent>([
    e.settled(callId),
    e.settled("foreign"),
    e.allowed("foreign"),
    e.allowed(),
    e.reviewed(e.verdictOn(callId, dice.of(["allow", "ask", "deny"] as const))),
    e.decided(e.decisionOn(callId)),
    e.decided(e.decisionOn(callId, "allow", { hash: "of other arguments" })),
    e.decided(),
    e.answer(),
    e.answer([dice.id("c")]),
    e.failedWith("timeout", "late words"),
    e.prepared(5),
    e.elapsed(dice.of(["wait", "backoff"])),
    e.admitted(),
    e.stopReviewed(),
    history(dice),
    e.compacted(),
    e.compactionFailed,
  ]);
}

/** Outcomes that may arrive twice without carrying anything new into the transcript. */
const settlements = new Set([
  "request.prepared",
  "model.completed",
  "model.failed",
  "calls.reviewed",
  "approval.settled",
  "tool.settled",
  "compaction.completed",
  "compaction.failed",
  "timer.elapsed",
]);

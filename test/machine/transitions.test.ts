/** Every transition of the machine, one test each, through the pure functions. */
import { describe, expect, test } from "vitest";
import { describeMachine, type TransitionDescription } from "../../machines/index.ts";
import { act } from "./transitions/act.ts";
import { anywhere } from "./transitions/anywhere.ts";
import { compact } from "./transitions/compact.ts";
import { reason } from "./transitions/reason.ts";
import { receive } from "./transitions/receive.ts";
import type { Scenario } from "./transitions/scenario.ts";

const graph = describeMachine();
const keyOf = (t: TransitionDescription) => `${t.from} / ${t.event}${t.guard ? ` [${t.guard}]` : ""}`;
const described = new Map(graph.transitions.map((t) => [keyOf(t), t]));

/** Where a walk stands after it entered a state: its innermost beginning. */
function entered(path: string): string {
  const initial = graph.states.find((s) => s.path === path)?.initial;
  return initial ? entered(initial) : path;
}

/** The states before and after the steps of a transition, as the walk must show them next to each other. */
function shows(t: TransitionDescription, states: readonly string[]): boolean {
  const isIn = (state: string) => t.from === "" || state === t.from || state.startsWith(`${t.from}.`);
  return states.some((state, i) => isIn(state) && states[i + 1] === (t.to === null ? state : entered(t.to)));
}

function check({ of, before, event, then }: Scenario): void {
  const transition = described.get(of);
  expect(transition, `the machine has the transition ${of}`).toBeDefined();
  const walk = before();
  const from = walk.state;
  walk.feed(event);
  expect(shows(transition!, [from, ...walk.trail]), `${of} in ${[from, ...walk.trail].join(" → ")}`).toBe(true);
  then(walk);
}

describe.each(Object.entries({ receive, compact, reason, act, anywhere }))("%s", (_, scenarios) => {
  test.each(scenarios.map((s) => [s.title, s] as const))("%s", (_title, scenario) => check(scenario));
});

test("every transition of the machine has its test, and only one", () => {
  const tested = [receive, compact, reason, act, anywhere].flat().map((s) => s.of);
  expect(tested.toSorted()).toEqual([...described.keys()].toSorted());
});

/** The machine as plain data: what charts are drawn from, tables list, and static checks look at. */
import type { AnyStateMachine, AnyStateNode } from "xstate";
import { sessionMachine } from "./session/index.ts";

/** One state. A path is dotted and leaves out the machine's own name: `act.executing`; the root's is empty. */
export type StateDescription = {
  id: string;
  path: string;
  /** Path of the state around it; null for the root. */
  parent: string | null;
  type: "atomic" | "compound" | "parallel" | "final" | "history";
  /** Path of the state it begins in. */
  initial: string | null;
  /** Effects that run while it is active. */
  invokes: readonly string[];
  entry: readonly string[];
  exit: readonly string[];
  doc?: string;
};

/** One transition, in the order in which the machine tries them. */
export type TransitionDescription = {
  from: string;
  /** Path of the state it leads to; null when the state stays. */
  to: string | null;
  /** The event's type, or `always`: taken as soon as its guard holds. */
  event: string;
  guard?: string;
  actions: readonly string[];
};

export type MachineGraph = {
  id: string;
  states: readonly StateDescription[];
  transitions: readonly TransitionDescription[];
};

type Definition = {
  eventType: string;
  guard?: unknown;
  actions: readonly unknown[];
  target: readonly AnyStateNode[] | undefined;
};

/**
 * Walks every state of a machine, outermost first, with its `always` transitions and those of the root.
 * @throws Error when a guard, an action or an effect has no name: what is inline cannot be drawn, tested or replaced.
 */
export function describeMachine(machine: AnyStateMachine = sessionMachine): MachineGraph {
  const nodes = [...inside(machine.root)];
  return { id: machine.id, states: nodes.map(stateOf), transitions: nodes.flatMap(transitionsOf) };
}

function* inside(node: AnyStateNode): Generator<AnyStateNode> {
  yield node;
  for (const child of Object.values(node.states)) yield* inside(child as AnyStateNode);
}

const pathOf = (node: AnyStateNode): string => node.path.join(".");

function stateOf(node: AnyStateNode): StateDescription {
  const where = node.id;
  const [initial] = node.type === "compound" ? (node.initial.target ?? []) : [];
  return {
    id: node.id,
    path: pathOf(node),
    parent: node.parent ? pathOf(node.parent) : null,
    type: node.type,
    initial: initial ? pathOf(initial) : null,
    invokes: node.invoke.map((i) => nameOf(i.src, "effect", where)),
    entry: node.entry.map((a: unknown) => nameOf(a, "action", where)),
    exit: node.exit.map((a: unknown) => nameOf(a, "action", where)),
    ...(node.description === undefined ? {} : { doc: node.description }),
  };
}

function transitionsOf(node: AnyStateNode): TransitionDescription[] {
  const own: readonly Definition[] = [...(node.always ?? []), ...[...node.transitions.values()].flat()];
  return own.flatMap((t) => {
    const event = t.eventType || "always";
    const where = `${node.id} on ${event}`;
    const targets: readonly (AnyStateNode | null)[] = t.target?.length ? t.target : [null];
    return targets.map((target) => ({
      from: pathOf(node),
      to: target && pathOf(target),
      event,
      ...(t.guard === undefined ? {} : { guard: nameOf(t.guard, "guard", where) }),
      actions: t.actions.map((a) => nameOf(a, "action", where)),
    }));
  });
}

/** XState names an inline effect after its place. */
const GIVEN = "xstate.invoke.";

function nameOf(thing: unknown, kind: string, where: string): string {
  const name = typeof thing === "object" && thing !== null && "type" in thing ? thing.type : thing;
  if (typeof name === "string" && !name.startsWith(GIVEN)) return name;
  throw new Error(`${where} has an inline ${kind}: give it a name in setup()`);
}

/** A Mermaid chart of a machine. */
import type { MachineGraph, StateDescription, TransitionDescription } from "./describe.ts";

/**
 * A `stateDiagram-v2`: phases hold their states and the transitions between those; what leads from one phase to another
 * is one arrow between phases that lists its ways, because Mermaid knows no arrows across. Transitions that stay are
 * left out. The same graph gives the same text.
 */
export function toMermaid(graph: MachineGraph): string {
  const within = (parent: string) => graph.states.filter((s) => s.parent === parent);
  const lines = ["stateDiagram-v2", "  direction TB"];
  const arrows = bundle(graph);
  if (arrows.some((a) => a.from === "")) lines.push(`  state "any state" as ${idOf("")}`);
  const draw = (parent: string, indent: string) => {
    const [first] = graph.states.filter((s) => s.path === parent && s.initial !== null);
    if (first) lines.push(`${indent}[*] --> ${idOf(first.initial!)}`);
    for (const state of within(parent)) {
      if (within(state.path).length) {
        lines.push(`${indent}state "${keyOf(state.path)}" as ${idOf(state.path)} {`, `${indent}  direction TB`);
        draw(state.path, `${indent}  `);
        lines.push(`${indent}}`);
      } else lines.push(`${indent}state "${keyOf(state.path)}" as ${idOf(state.path)}`);
    }
    for (const a of arrows.filter((one) => one.parent === parent))
      lines.push(`${indent}${idOf(a.from)} --> ${idOf(a.to)}${a.labels.length ? `: ${a.labels.join("<br/>")}` : ""}`);
    for (const state of within(parent)) if (isEnd(state)) lines.push(`${indent}${idOf(state.path)} --> [*]`);
  };
  draw("", "  ");
  return lines.join("\n") + "\n";
}

type Arrow = { parent: string; from: string; to: string; labels: string[] };

/** Arrows between siblings, each with everything that can take it. */
function bundle(graph: MachineGraph): Arrow[] {
  const arrows = new Map<string, Arrow>();
  for (const t of graph.transitions) {
    if (t.to === null) continue;
    const { parent, from, to } = siblings(t.from, t.to);
    const arrow = arrows.get(`${from}>${to}`) ?? { parent, from, to, labels: [] };
    arrows.set(`${from}>${to}`, arrow);
    const label = labelOf(t, from, to, isAlternative(t, graph));
    if (label && !arrow.labels.includes(label)) arrow.labels.push(label);
  }
  return [...arrows.values()];
}

/** The two states an arrow is drawn between: the outermost that differ, or the two themselves. */
function siblings(from: string, to: string): { parent: string; from: string; to: string } {
  const a = from === "" ? [] : from.split(".");
  const b = to.split(".");
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  if (same === a.length || same === b.length) return { parent: b.slice(0, -1).join("."), from, to };
  return {
    parent: a.slice(0, same).join("."),
    from: a.slice(0, same + 1).join("."),
    to: b.slice(0, same + 1).join("."),
  };
}

/** What is done at once when no guard before it held. */
const isAlternative = (t: TransitionDescription, graph: MachineGraph): boolean =>
  t.event === "always" &&
  t.guard === undefined &&
  graph.transitions.some((other) => other !== t && other.from === t.from && other.event === "always");

function labelOf(t: TransitionDescription, from: string, to: string, alternative: boolean): string {
  const guard = t.guard ?? (alternative ? "else" : undefined);
  const why = [t.event === "always" ? "" : t.event, guard ? `[${guard}]` : ""].filter(Boolean).join(" ");
  const inner = [t.from === from ? "" : keyOf(t.from), t.to === to ? "" : `→ ${keyOf(t.to!)}`];
  return [inner[0], why, inner[1]].filter(Boolean).join(" ");
}

const isEnd = (state: StateDescription): boolean => state.type === "final";
const keyOf = (path: string): string => path.split(".").at(-1)!;
const idOf = (path: string): string => (path === "" ? "any" : path.replaceAll(".", "_"));

/** What a session works on, as its journal says: the task focus and open background work. A fold of records. */
import { estimateText } from "./budget.ts";
import type { JournalRecord } from "./event.ts";
import type { Json } from "./message.ts";

/** Tokens that it may take in a view. */
const BUDGET = 2_000;

type Focus = { readonly [key: string]: Json };

export class WorkingState {
  #focus: Focus = {};
  readonly #tasks = new Map<string, string>();

  /** Takes the next record; those of other kinds are passed over. */
  append(r: JournalRecord): void {
    switch (r.type) {
      case "focus.updated":
        this.#focus = patched(this.#focus, r.patch);
        return;
      case "task.opened":
        this.#tasks.set(r.taskId, r.label);
        return;
      case "task.settled":
        this.#tasks.delete(r.taskId);
        return;
      case "session.resumed":
        // Background work of a process that is gone reports to nobody.
        this.#tasks.clear();
        return;
      default:
        return;
    }
  }

  /** In words, for the model; empty when there is nothing to say. */
  render(): string {
    const focus = Object.entries(this.#focus).map(([key, value]) => line(key, value));
    const tasks = [...this.#tasks].map(([id, label]) => `- ${label} (${id})`);
    const sections = [section("Focus:", focus), section("Open background work:", tasks)];
    return withinBudget(sections.filter(Boolean).join("\n\n"));
  }
}

/** A patch replaces the values it names; `null` removes one. */
function patched(focus: Focus, patch: unknown): Focus {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return focus;
  const entries = Object.entries({ ...focus, ...(patch as Focus) });
  return Object.fromEntries(entries.filter(([, value]) => value !== null && value !== undefined));
}

const section = (title: string, lines: readonly string[]) => (lines.length ? [title, ...lines].join("\n") : "");

function line(key: string, value: Json): string {
  if (!Array.isArray(value)) return `- ${key}: ${worded(value)}`;
  return [`- ${key}:`, ...value.map((one) => `  - ${worded(one)}`)].join("\n");
}
const worded = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Whole lines as long as there is room. */
function withinBudget(words: string): string {
  if (estimateText(words) <= BUDGET) return words;
  let left = BUDGET;
  const lines: string[] = [];
  for (const one of words.split("\n")) {
    left -= estimateText(one) + 1;
    if (left < 0) return [...lines, "[… the rest is left out …]"].join("\n");
    lines.push(one);
  }
  return lines.join("\n");
}

/** Where a session stands, in a word and in a sentence. */
import { asked } from "../core/batch.ts";
import { plural, verb } from "../core/plural.ts";
import type { Engine } from "./engine.ts";

/** `suspended`: a run lies open, waiting for a decision or for `continue()`. */
export type SessionState = "idle" | "running" | "waiting" | "awaiting_approval" | "suspended" | "closed";

export function stateOf(engine: Engine, active: boolean): SessionState {
  const { path } = engine;
  if (path === "act.approving") return "awaiting_approval";
  if (path === "receive.waiting") return "waiting";
  if (active || path !== "receive.idle") return "running";
  return engine.state.run ? "suspended" : "idle";
}

/** What it waits for, and what moves it on. */
export function whyOf(engine: Engine, state: SessionState): string {
  const { draft, inbox, tasks } = engine.state;
  const asks = asked(draft?.calls ?? []).map((call) => call.name);
  const running = (draft?.calls ?? []).filter((call) => call.stage === "running").map((call) => call.name);
  switch (state) {
    case "closed":
      return "The session is closed.";
    case "idle":
      return inbox.length
        ? `Idle, with ${plural(inbox.length, "undelivered input")}: continue() delivers ${verb(inbox.length, "it", "them")}.`
        : "Idle.";
    case "suspended":
      return asks.length
        ? `Suspended: ${plural(asks.length, "approval")} ${verb(asks.length, "waits", "wait")} for decide(): ${asks.join(", ")}.`
        : "A run was interrupted: continue() goes on with it.";
    case "awaiting_approval":
      return `Waiting for ${plural(asks.length, "approval")}: ${asks.join(", ")}.`;
    case "waiting":
      return `Waiting for ${plural(tasks.length, "background task")}.`;
    case "running":
      return running.length ? `Running ${running.join(", ")}.` : `In ${engine.path}.`;
    default:
      return state satisfies never;
  }
}

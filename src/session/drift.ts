/** How an agent differs from the one that a journal was begun with. */
import type { Ledger } from "./ledger.ts";

/** Sentences for the `session.resumed` record; empty when nothing differs. */
export function driftOf(ledger: Ledger, agent: { tools: readonly string[]; instructions: string }): string[] {
  const { opened } = ledger;
  if (!opened) return [];
  const now = new Set(agent.tools);
  const then = new Set(opened.tools);
  return [
    ...[...now].filter((t) => !then.has(t)).map((t) => `tool added: ${t}`),
    ...[...then].filter((t) => !now.has(t)).map((t) => `tool removed: ${t}`),
    ...(opened.instructions === agent.instructions ? [] : ["instructions differ; the journal's are used"]),
  ];
}

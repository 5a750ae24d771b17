/** Plans what to show less of. Pure: a transcript and a target in, a directive out. */
import { estimateMessages, estimateParts } from "./budget.ts";
import { ELIDE, project, type Directive } from "./projection.ts";
import type { Entry } from "./transcript.ts";

/** Exchanges at the end that elision leaves alone. */
const UNTOUCHED = 3;
/** Tokens of the newest entries that a full compaction keeps whole, as a share of the window. */
const KEEP_SHARE = 0.2;
/** Tokens of user prompts kept verbatim beside a summary; the newest is kept whatever its size. */
export const PROMPT_BUDGET = 8_000;

/** Old, large, successful results that can be shown as head and tail; nothing when there are none. */
export function planElision(
  entries: readonly Entry[],
  directives: readonly Directive[],
  retain: (tool: string) => boolean,
): Directive | undefined {
  const done = new Set(directives.flatMap((d) => (d.kind === "elide" ? d.results.map((r) => r.entry) : [])));
  const from = directives.findLast((d) => d.kind !== "elide")?.upTo ?? 0;
  const exchanges = entries.flatMap((e, i) => (i >= from && e.kind === "exchange" && e.results ? [i] : []));
  const results = exchanges.slice(0, -UNTOUCHED).flatMap((entry) => {
    if (done.has(entry)) return [];
    const callIds = elidable(entries[entry]!, retain);
    return callIds.length ? [{ entry, callIds }] : [];
  });
  return results.length ? { kind: "elide", results } : undefined;
}

function elidable(entry: Entry, retain: (tool: string) => boolean): string[] {
  if (entry.kind !== "exchange" || !entry.results) return [];
  return entry.results.parts
    .filter((r) => r.status === "ok" && !retain(r.name))
    .filter((r) => r.output.some((p) => p.type !== "text" || p.text.length > ELIDE.above))
    .map((r) => r.callId);
}

/** Where a full compaction cuts, and which prompts before the cut stay word for word. */
export type Cut = { upTo: number; kept: number[] };

/**
 * Cuts between exchanges, keeping the newest entries that fit a fifth of the window (less with every `level`). The newest
 * user prompt is never lost: it stays behind the cut or is kept verbatim. Nothing when there is nothing to cut.
 */
export function planCut(
  entries: readonly Entry[],
  directives: readonly Directive[],
  window: number,
  level: number,
): Cut | undefined {
  const before = directives.findLast((d) => d.kind !== "elide")?.upTo ?? 0;
  let budget = (window * KEEP_SHARE) / 4 ** level;
  let upTo = entries.length;
  while (upTo > before) {
    const cost = costOf(entries[upTo - 1]!);
    if (cost > budget) break;
    budget -= cost;
    upTo--;
  }
  // All of it would fit: asked to compact all the same, the newest entry stays.
  if (upTo <= before && level === 0) upTo = entries.length - 1;
  if (upTo <= before) return undefined;
  return { upTo, kept: keptPrompts(entries, upTo) };
}

function keptPrompts(entries: readonly Entry[], upTo: number): number[] {
  const kept: number[] = [];
  let budget = PROMPT_BUDGET;
  for (let i = upTo - 1; i >= 0; i--) {
    const entry = entries[i]!;
    if (entry.kind !== "user" || (entry.message.kind !== "prompt" && entry.message.kind !== "steering")) continue;
    const cost = estimateParts(entry.message.parts);
    if (kept.length && cost > budget) break;
    kept.unshift(i);
    budget -= cost;
    if (budget <= 0) break;
  }
  return kept;
}

const costOf = (entry: Entry): number =>
  estimateMessages(entry.kind === "exchange" && entry.results ? [entry.message, entry.results] : [entry.message]);

/** Estimated tokens of the view once `directive` is applied too. */
export const tokensAfter = (
  entries: readonly Entry[],
  directives: readonly Directive[],
  directive: Directive,
): number => estimateMessages(project(entries, [...directives, directive]));

/** What the model is asked for in `summarize` mode, unless `compaction.prompt` says otherwise. */
export const SUMMARY_PROMPT = `The conversation above is about to be replaced by a summary of it. Write that summary for \
yourself: what the user wants and every constraint they stated, what was done and found, files and names that matter, \
what is open, and the next step. Answer with the text only, between [summary] and [/summary]. Do not call any tool.`;

/** Plans what to show less of. Pure: a transcript and the room there is in, what to elide or where to cut out. */
import { estimateMessage, estimateMessages, estimateParts, type Count } from "./budget.ts";
import type { Room } from "./lap.ts";
import { elidedIn, isCut, isLarge, withElided, type CutDirective, type Directive } from "./projection.ts";
import { project } from "./projection.ts";
import type { Entry } from "./transcript.ts";

/** Exchanges at the end that are kept whole, if they fit. */
const NEWEST = 3;
/** Tokens of user prompts kept verbatim beside a summary; the newest is kept whatever its size. */
export const PROMPT_BUDGET = 8_000;
/** Where less fits: prompts go last, after exchanges and results. */
const PROMPT_BUDGETS = [PROMPT_BUDGET, 4_000, 2_000, 1_000, 0];
/** Most tokens that are kept free for a summary, and the share of the aim where that is less. */
const SUMMARY_RESERVE = { most: 4_000, share: 0.25 };

/** What there is to plan with. */
export type Material = {
  entries: readonly Entry[];
  directives: readonly Directive[];
  /** Whether the results of a tool are never shortened. */
  retain: (tool: string) => boolean;
  count?: Count | undefined;
};

/** Calls of an entry whose results are large, went well, and may be shortened. */
function elidable(entry: Entry, retain: Material["retain"]): string[] {
  if (entry.kind !== "exchange" || !entry.results) return [];
  return entry.results.parts
    .filter((r) => r.status === "ok" && !retain(r.name) && r.output.some(isLarge))
    .map((r) => r.callId);
}

/** Tokens of an entry as it is shown, some of its results elided. */
function costOf(entry: Entry, elided: ReadonlySet<string> | undefined, count: Count | undefined): number {
  const said = estimateMessage(entry.message, count);
  if (entry.kind === "user" || !entry.results) return said;
  return said + estimateMessage(elided ? withElided(entry.results, elided) : entry.results, count);
}

const firstShown = (directives: readonly Directive[]): number => directives.findLast(isCut)?.upTo ?? 0;

/** Places of the exchanges from `from` on. */
const exchangesFrom = (entries: readonly Entry[], from: number): number[] => {
  const places: number[] = [];
  for (let i = from; i < entries.length; i++) if (entries[i]!.kind === "exchange") places.push(i);
  return places;
};

/**
 * Old, large, successful results to show as head and tail; nothing when there are none. The newest three exchanges are
 * left alone if the rest makes the view fit, else two, else one; the newest only where it could not fit by itself.
 */
export function planElision(m: Material, room: Room): Extract<Directive, { kind: "elide" }> | undefined {
  const { entries, directives, count } = m;
  const done = elidedIn(directives);
  const exchanges = exchangesFrom(entries, firstShown(directives));
  const gains = exchanges.map((at) => {
    const entry = entries[at]!;
    const callIds = elidable(entry, m.retain).filter((id) => !done.get(at)?.has(id));
    const after = new Set([...(done.get(at) ?? []), ...callIds]);
    const tokens = callIds.length ? costOf(entry, done.get(at), count) - costOf(entry, after, count) : 0;
    return { entry: at, callIds, tokens };
  });
  let size = estimateMessages(project(entries, directives), count);
  for (const gain of gains.slice(0, -NEWEST)) size -= gain.tokens;
  let whole = NEWEST;
  while (whole > 1 && size >= room.micro) size -= gains.at(-whole--)?.tokens ?? 0;
  const newest = exchanges.at(-1);
  if (newest !== undefined && size >= room.most && costOf(entries[newest]!, done.get(newest), count) >= room.most)
    whole = 0;
  const results = gains
    .slice(0, Math.max(0, gains.length - whole))
    .filter((gain) => gain.tokens > 0)
    .map(({ entry, callIds }) => ({ entry, callIds }));
  return results.length ? { kind: "elide", results } : undefined;
}

/** Where a full compaction cuts, which prompts before it stay word for word, and what of the newest exchange is elided. */
export type Cut = Pick<CutDirective, "upTo" | "kept" | "results">;
/** A cut, with the tokens left for a summary at most, and for everything else that is worth having again. */
export type PlannedCut = { cut: Cut; summary: number; spare: number };

/**
 * Plans a full compaction; nothing when there is nothing to cut, or nothing that would make the view fit. Cuts between
 * exchanges. Keeps the user's prompts verbatim, newest first, and the newest three exchanges, two, or one, whatever fits
 * the aim; then one that only just fits, then that one with its results elided, then none. `beside`: tokens of what
 * else the view will hold.
 */
export function planCut(m: Material, room: Room, kind: CutDirective["kind"], beside = 0): PlannedCut | undefined {
  const { directives } = m;
  const reserve =
    kind === "summarize" ? Math.max(0, Math.min(SUMMARY_RESERVE.most, room.aim * SUMMARY_RESERVE.share)) : 0;
  const planner = new CutPlanner(m, firstShown(directives));
  for (const budget of PROMPT_BUDGETS)
    for (const { kept, elide, limit } of planner.candidates(room, kind)) {
      const cut = planner.cut(kept, elide, budget);
      if (!cut || !planner.hides(cut)) continue;
      const size = planner.sizeOf(cut) + beside;
      if (size + reserve >= limit) continue;
      const left = room.most - size;
      return {
        cut,
        summary: left,
        spare: Math.min(Math.max(room.aim, size + reserve) - size - reserve, left - reserve),
      };
    }
  return undefined;
}

type Candidate = { kept: number; elide: boolean; limit: number };

/** Tries cuts against one transcript. */
class CutPlanner {
  readonly #m: Material;
  readonly #before: number;
  readonly #exchanges: number[];
  readonly #elided: ReadonlyMap<number, ReadonlySet<string>>;

  constructor(m: Material, before: number) {
    this.#m = m;
    this.#before = before;
    this.#exchanges = exchangesFrom(m.entries, before);
    this.#elided = elidedIn(m.directives);
  }

  /** How many exchanges to keep, in the order of preference. */
  *candidates(room: Room, kind: CutDirective["kind"]): Generator<Candidate> {
    const { aim, most, urgent } = room;
    if (room.many)
      for (let kept = this.#fitting(aim); kept > NEWEST; kept >>= 1) yield { kept, elide: false, limit: aim };
    for (let kept = NEWEST; kept >= 1; kept--) yield { kept, elide: false, limit: aim };
    if (!urgent) yield { kept: 1, elide: false, limit: most };
    yield { kept: 1, elide: true, limit: aim };
    yield { kept: 1, elide: true, limit: most };
    // What the model has not read yet would be lost without a word, and asked for again.
    const isOwed = kind === "discard" && this.#m.entries.at(-1)?.kind === "exchange" && !urgent;
    if (!isOwed) yield { kept: 0, elide: false, limit: most };
  }

  /** How many of the newest exchanges fit. */
  #fitting(tokens: number): number {
    let left = tokens;
    let kept = 0;
    for (let i = this.#m.entries.length - 1; i >= this.#before; i--) {
      left -= this.#cost(i);
      if (left < 0) break;
      if (this.#m.entries[i]!.kind === "exchange") kept++;
    }
    return kept;
  }

  #cost(at: number, more?: ReadonlySet<string>): number {
    const done = this.#elided.get(at);
    const elided = more && done ? new Set([...done, ...more]) : (more ?? done);
    return costOf(this.#m.entries[at]!, elided, this.#m.count);
  }

  /** The cut that keeps so many exchanges, with what was said right before them; nothing when there are not so many. */
  cut(kept: number, elide: boolean, budget: number): Cut | undefined {
    const { entries, retain } = this.#m;
    if (kept > this.#exchanges.length) return undefined;
    let upTo = kept === 0 ? (this.#exchanges.at(-1) ?? -1) + 1 : this.#exchanges.at(-kept)!;
    if (kept > 0) while (upTo > this.#before && entries[upTo - 1]!.kind === "user") upTo--;
    const cut: Cut = { upTo, kept: keptPrompts(entries, upTo, budget, this.#m.count) };
    if (!elide) return cut;
    const entry = this.#exchanges.at(-1)!;
    const done = this.#elided.get(entry);
    const callIds = elidable(entries[entry]!, retain).filter((id) => !done?.has(id));
    return callIds.length ? { ...cut, results: [{ entry, callIds }] } : undefined;
  }

  /** Whether a cut takes anything out of the view. */
  hides({ upTo, kept }: Cut): boolean {
    for (let i = this.#before; i < upTo; i++) if (!kept.includes(i)) return true;
    return false;
  }

  /** Tokens of the view behind a cut, without a summary. */
  sizeOf({ upTo, kept, results }: Cut): number {
    let size = 0;
    for (const at of kept) size += this.#cost(at);
    const elided = elidedIn(results ? [{ kind: "elide", results }] : []);
    for (let i = upTo; i < this.#m.entries.length; i++) size += this.#cost(i, elided.get(i));
    return size;
  }
}

/** The user's own words, newest first, as far as the budget goes; the newest always. Those behind the cut count, too. */
function keptPrompts(entries: readonly Entry[], upTo: number, budget: number, count: Count | undefined): number[] {
  const kept: number[] = [];
  let left = budget;
  let isNewest = true;
  for (let i = entries.length - 1; i >= 0 && (left > 0 || isNewest); i--) {
    const entry = entries[i]!;
    if (entry.kind !== "user" || (entry.message.kind !== "prompt" && entry.message.kind !== "steering")) continue;
    left -= estimateParts(entry.message.parts, count);
    if (left < 0 && !isNewest) break;
    isNewest = false;
    if (i < upTo) kept.unshift(i);
  }
  return kept;
}

/** Tokens of the view, once `directive` is applied too. */
export const tokensAfter = (m: Omit<Material, "retain">, directive?: Directive): number =>
  estimateMessages(project(m.entries, directive ? [...m.directives, directive] : m.directives), m.count);

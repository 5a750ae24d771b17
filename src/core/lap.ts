/** Compaction as the machine keeps it: why this lap compacts, what it has done, and when to give up. */
import { thresholds, type CompactionSettings } from "./limits.ts";
import { viewWithin, type Pressure } from "./pressure.ts";

/** Full compactions that may fail in a row before only manual ones are tried. */
const BREAKER = 3;
/** Times that "prompt too long" is answered in one turn. */
const MAX_OVERFLOWS = 2;
/** Share of the threshold that a full compaction aims at, so that the next one is some way off. */
const AIM = 0.5;
/** Share of what overflowed that the first and the second answer to it aim at, and that neither may leave. */
const OVERFLOW = { aim: [0.5, 0.25], most: 0.9 } as const;
/** Share of the window by which a view grows before elision is tried again: each one costs the prompt cache. */
const ELIDE_AGAIN = 1 / 20;

export type Compaction = {
  /** What this lap compacts for; null when it need not. */
  cause: "context" | "turns" | "manual" | "overflow" | null;
  /** What the next lap is asked to compact for. */
  asked: "manual" | "overflow" | null;
  mode: "summarize" | "discard";
  /** Elided in this lap, or found nothing to elide. */
  elided: boolean;
  /** What became of this lap's full compaction; `empty`: nothing can be freed. */
  cut: "none" | "done" | "empty" | "failed";
  /** Full compactions that failed in a row, and why the last of them did. */
  failures: number;
  why: string | null;
  /** Times "prompt too long" was answered in this turn, and the pressure that was too much. */
  overflows: number;
  overflowAt: number;
  turnsSince: number;
  /** Pressure at which elision is tried again; below it there was nothing to free. */
  elideFrom: number;
};

export const noCompaction = (mode: Compaction["mode"]): Compaction => ({
  cause: null,
  asked: null,
  mode,
  elided: false,
  cut: "none",
  failures: 0,
  why: null,
  overflows: 0,
  overflowAt: 0,
  turnsSince: 0,
  elideFrom: 0,
});

/** Why a lap that begins under this pressure would compact. All thresholds compare with `>=`. */
function causeOf(c: Compaction, s: CompactionSettings, pressure: number): Compaction["cause"] {
  if (s.maxSessionTurns > 0 && c.turnsSince >= s.maxSessionTurns) return "turns";
  const { micro, full } = thresholds(s);
  return pressure >= full || (pressure >= micro && pressure >= c.elideFrom) ? "context" : null;
}

/** A lap begins: why it compacts, if it does, is decided here, once. A second overflow makes no further model call. */
export function begun(c: Compaction, s: CompactionSettings, pressure: number): Compaction {
  const { asked } = c;
  const cause = asked ?? causeOf(c, s, pressure);
  if (cause === null && c.cause === null) return c;
  const mode = asked === "manual" ? c.mode : asked === "overflow" && c.overflows > 1 ? "discard" : s.mode;
  return { ...c, cause, mode, asked: null, elided: false, cut: "none" };
}

/** What a lap does next. */
export type Step = "none" | "elide" | "summarize" | "discard" | "exhausted";

/** Decides the next step of a lap: elision before a full compaction, each at most once, then on or out. Never a loop. */
export function planCompaction(c: Compaction, s: CompactionSettings, pressure: number): Step {
  if (c.cause === null) return "none";
  if (!c.elided && (c.cause === "context" || c.cause === "overflow")) return "elide";
  if (c.cut === "none" && isFullDue(c, s, pressure)) return c.mode;
  return c.cause !== "manual" && isExhausted(c, s, pressure) ? "exhausted" : "none";
}

function isFullDue(c: Compaction, s: CompactionSettings, pressure: number): boolean {
  if (c.cause === "manual") return true;
  if (c.failures >= BREAKER) return false;
  return c.cause === "turns" || pressure >= (c.cause === "overflow" ? overflowAim(c, s) : thresholds(s).full);
}

/** What was done must have brought relief; what failed, or is not tried any more, is forgiven below the hard limit. */
function isExhausted(c: Compaction, s: CompactionSettings, pressure: number): boolean {
  if (c.cause === "overflow") return c.cut !== "done" && pressure >= overflowAim(c, s);
  return pressure >= (c.cut === "done" || c.cut === "empty" ? thresholds(s).full : s.window);
}

/** An overflow has just told that what did not fit is more than the window. */
const overflowed = (c: Compaction, s: CompactionSettings): number => Math.min(s.window, c.overflowAt);
const overflowAim = (c: Compaction, s: CompactionSettings): number =>
  overflowed(c, s) * OVERFLOW.aim[c.overflows > 1 ? 1 : 0];

/** Whether "prompt too long" may be answered once more in this turn. */
export const mayAnswerOverflow = (c: Compaction): boolean => c.overflows < MAX_OVERFLOWS;

/** What a compaction has room for, in estimated tokens of the view. */
export type Room = {
  /** What elision aims at. */
  micro: number;
  /** What a full compaction aims at. */
  aim: number;
  /** What the view must stay below; past it, nothing is worth doing. */
  most: number;
  /** To keep as many exchanges as fit the aim, and not only the newest three. */
  many: boolean;
  /** To reach the aim is worth the newest result. */
  urgent: boolean;
};

/** The room of this lap, beside what waits to be said in its turn. */
export function roomOf(c: Compaction, s: CompactionSettings, p: Pressure, pending: number): Room {
  const within = (tokens: number) => viewWithin(p, tokens, pending);
  const { micro, full } = thresholds(s);
  const many = c.mode === "discard" && (c.cause === "context" || c.cause === "overflow");
  if (c.cause === "overflow") {
    const aim = within(overflowAim(c, s));
    return { micro: aim, aim, most: within(overflowed(c, s) * OVERFLOW.most), many, urgent: true };
  }
  const byHand = c.cause === "manual";
  const most = byHand ? Number.MAX_SAFE_INTEGER : within(full);
  return { micro: within(micro), aim: within(full * AIM), most, many, urgent: byHand };
}

/** After elision took effect, or found nothing to free. */
export const elided = (c: Compaction, s: CompactionSettings, pressure: number): Compaction => ({
  ...c,
  elided: true,
  elideFrom: pressure + s.window * ELIDE_AGAIN,
});

/** After a full compaction took effect. */
export const relieved = (c: Compaction): Compaction => ({
  ...c,
  cut: "done",
  failures: 0,
  why: null,
  turnsSince: 0,
  elideFrom: 0,
});

/** After a full compaction found nothing to free, or failed: only the latter counts towards giving up on them. */
export const unrelieved = (c: Compaction, why: string | undefined): Compaction =>
  why === undefined ? { ...c, cut: "empty" } : { ...c, cut: "failed", failures: c.failures + 1, why };

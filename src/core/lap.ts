/** Compaction as the machine keeps it: why this lap compacts, what it has done, and when to give up. */
import { thresholds, type CompactionSettings } from "./limits.ts";

/** Full compactions that may fail in a row before only manual ones are tried. */
const BREAKER = 3;

export type Compaction = {
  /** What this lap compacts for; null when it need not. */
  cause: "context" | "turns" | "manual" | "overflow" | null;
  /** What the next lap is asked to compact for. */
  asked: "manual" | "overflow" | null;
  mode: "summarize" | "discard";
  /** Done in this lap. */
  elided: boolean;
  cut: boolean;
  /** Full compactions that failed in a row. */
  failures: number;
  /** Times "prompt too long" was answered in this turn. */
  overflows: number;
  turnsSince: number;
  /** Pressure at which elision is tried again; below it there was nothing to free. */
  elideFrom: number;
};

export const noCompaction = (mode: Compaction["mode"]): Compaction => ({
  cause: null,
  asked: null,
  mode,
  elided: false,
  cut: false,
  failures: 0,
  overflows: 0,
  turnsSince: 0,
  elideFrom: 0,
});

/** Why a lap that begins under this pressure would compact. */
export function causeOf(c: Compaction, settings: CompactionSettings, pressure: number): Compaction["cause"] {
  if (settings.maxSessionTurns > 0 && c.turnsSince >= settings.maxSessionTurns) return "turns";
  const { micro, full } = thresholds(settings);
  return pressure >= full || (pressure >= micro && pressure >= c.elideFrom) ? "context" : null;
}

export const mustElide = (c: Compaction): boolean => !c.elided && (c.cause === "context" || c.cause === "overflow");

/** Whether a full compaction is due in this lap. */
export function mustCut(c: Compaction, settings: CompactionSettings, pressure: number): boolean {
  if (c.cut || c.cause === null) return false;
  if (c.cause === "manual" || c.cause === "overflow") return true;
  return c.failures < BREAKER && (c.cause === "turns" || pressure >= thresholds(settings).full);
}

/** A cut that worked must have brought relief; one that failed is forgiven below the hard limit. */
export function isExhausted(c: Compaction, settings: CompactionSettings, pressure: number): boolean {
  if (c.cause === "overflow") return c.failures > 0;
  return pressure >= (c.cut && c.failures === 0 ? thresholds(settings).full : settings.window);
}

/** After a directive took effect, or nothing could be freed. Elision waits until a twentieth of the window has grown. */
export function done(
  c: Compaction,
  kind: "elide" | "full",
  settings: CompactionSettings,
  pressure: number,
): Compaction {
  if (kind === "elide") return { ...c, elided: true, elideFrom: pressure + settings.window / 20 };
  return { ...c, elided: true, cut: true, failures: 0, turnsSince: 0, elideFrom: 0 };
}

/** The window to plan by: an overflow has just told that what did not fit is more than it. */
export const windowOf = (c: Compaction, settings: CompactionSettings, pressure: number): number =>
  c.overflows > 0 ? Math.min(settings.window, pressure) : settings.window;

/** What happens in `compact`: the cause is noted, a directive is applied or a failure counted. */
import type { InputOf, OutputOf } from "../../../src/core/event.ts";
import { thresholds } from "../../../src/core/limits.ts";
import { shrunk, tokensOf } from "../../../src/core/pressure.ts";
import { failed, type Update } from "../change.ts";
import type { Compaction, SessionContext } from "../context.ts";

const lap = (c: SessionContext, patch: Partial<Compaction>) => ({ compaction: { ...c.compaction, ...patch } });

/** Enters the phase. Why this lap would compact is decided here, once. */
export const enterCompact: Update = (c) => {
  const announce = [{ type: "phase.started" as const, phase: "compact" as const }];
  const cause = c.compaction.cause ?? causeOf(c);
  if (cause === c.compaction.cause) return { announce };
  return { set: lap(c, { cause, elided: false, cut: false }), announce };
};

function causeOf(c: SessionContext): Compaction["cause"] {
  const { maxSessionTurns } = c.config.compaction;
  const { turnsSince, elideFrom } = c.compaction;
  if (maxSessionTurns > 0 && turnsSince >= maxSessionTurns) return "turns";
  const { micro, full } = thresholds(c.config.compaction);
  const pressure = tokensOf(c.pressure);
  return pressure >= full || (pressure >= micro && pressure >= elideFrom) ? "context" : null;
}

/** Leaves the phase; the next lap judges anew. */
export const leaveCompact: Update = (c) => ({
  ...(c.compaction.cause === null ? {} : { set: lap(c, { cause: null }) }),
  announce: [{ type: "phase.ended", phase: "compact" }],
});

export const requestCompaction: Update<InputOf<"compaction.requested">> = (c, e) => ({
  set: lap(c, { cause: "manual", mode: e.mode ?? c.config.compaction.mode, elided: true, cut: false }),
});

/** "Prompt too long": compact for it and come back to the same turn. */
export const answerOverflow: Update<InputOf<"model.failed">> = (c) => ({
  set: lap(c, { cause: "overflow", overflows: c.compaction.overflows + 1, elided: false, cut: false, failures: 0 }),
});

const started =
  (kind: OutputOf<"compaction.started">["kind"]): Update =>
  (c) => ({ announce: [{ type: "compaction.started", reason: c.compaction.cause ?? "context", kind }] });
export const startEliding = started("elide");
export const startSummarizing = started("summarize");
export const startDiscarding = started("discard");

/** The directive takes effect: from here on the view is the smaller one. */
export const applyDirective: Update<InputOf<"compaction.completed">> = (c, e) => {
  const kind = e.directive?.kind;
  if (!kind) return { set: lap(c, { elided: true, elideFrom: nextElision(c, tokensOf(c.pressure)) }) };
  const pressure = shrunk(c.pressure, e.tokens);
  const done: Partial<Compaction> =
    kind === "elide"
      ? { elided: true, elideFrom: nextElision(c, tokensOf(pressure)) }
      : { elided: true, cut: true, failures: 0, turnsSince: 0, elideFrom: 0 };
  return {
    set: { pressure, ...lap(c, done) },
    announce: [{ type: "compaction.applied", directive: e.seq, kind }],
  };
};

/** Elision is not worth another look before the view has grown by a twentieth of the window. */
const nextElision = (c: SessionContext, pressure: number): number => pressure + c.config.compaction.window / 20;

/** A failed compaction is not a failed run, unless nothing else can make the request fit. */
export const failElision: Update = (c) => ({ set: lap(c, { elided: true }) });
export const failCompaction: Update = (c) => ({ set: lap(c, { cut: true, failures: c.compaction.failures + 1 }) });

export const exhaustContext: Update = (c) => ({
  set: {
    ending: failed(
      "context_exhausted",
      `The context (about ${Math.round(tokensOf(c.pressure))} tokens) does not fit and cannot be made smaller ` +
        `(window ${c.config.compaction.window}). Start a new session or use a model that reads more.`,
    ),
  },
});

/** What happens in `compact`: the cause is noted, a directive is applied or a failure counted. */
import type { InputOf, OutputOf } from "../../../src/core/event.ts";
import { begun, elided, relieved, unrelieved, type Compaction } from "../../../src/core/lap.ts";
import { shrunk, tokensOf, type Pressure } from "../../../src/core/pressure.ts";
import { exhausted, spent } from "../../../src/core/run.ts";
import type { Update } from "../change.ts";
import { pressureOf, type SessionContext } from "../context.ts";

const lap = (c: SessionContext, patch: Partial<Compaction>) => ({ compaction: { ...c.compaction, ...patch } });

/** Why this lap compacts, if it does, is decided here, once. */
export const judgePressure: Update = (c) => {
  const compaction = begun(c.compaction, c.config.compaction, pressureOf(c));
  return compaction === c.compaction ? {} : { set: { compaction } };
};

export const requestCompaction: Update<InputOf<"compaction.requested">> = (c, e) => ({
  set: lap(c, { asked: "manual", mode: e.mode ?? c.config.compaction.mode }),
});

/** "Prompt too long": compact for it and come back to the same turn. */
export const answerOverflow: Update<InputOf<"model.failed">> = (c) => ({
  set: lap(c, { asked: "overflow", overflows: c.compaction.overflows + 1, overflowAt: pressureOf(c) }),
});

const started =
  (kind: OutputOf<"compaction.started">["kind"]): Update =>
  (c) => ({ announce: [{ type: "compaction.started", reason: c.compaction.cause ?? "context", kind }] });
export const startEliding = started("elide");
export const startSummarizing = started("summarize");
export const startDiscarding = started("discard");

/** The directive takes effect: from here on the view is the smaller one. */
const apply =
  (done: (c: SessionContext, pressure: Pressure) => Compaction): Update<InputOf<"compaction.completed">> =>
  (c, e) => {
    const pressure = shrunk(c.pressure, e.tokens);
    return {
      set: { pressure, compaction: done(c, pressure), run: spent(c.run, e.usage) },
      announce: [{ type: "compaction.applied", directive: e.seq, kind: e.directive!.kind }],
    };
  };
const elide = (c: SessionContext, p: Pressure) => elided(c.compaction, c.config.compaction, tokensOf(p));
export const applyElision = apply(elide);
export const applyCut = apply((c) => relieved(c.compaction));

/** A failed compaction is not a failed run, unless nothing else can make the request fit. */
export const failElision: Update = (c) => ({ set: { compaction: elide(c, c.pressure) } });
export const failCut: Update<InputOf<"compaction.completed"> | InputOf<"compaction.failed">> = (c, e) => ({
  set: { compaction: unrelieved(c.compaction, "message" in e ? e.message : undefined), run: spent(c.run, e.usage) },
});

export const exhaustContext: Update = (c) => ({
  set: { ending: exhausted(pressureOf(c), c.config.compaction, c.compaction.why) },
});

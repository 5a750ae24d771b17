/** What happens in `compact`: the cause is noted, a directive is applied or a failure counted. */
import type { InputOf, OutputOf } from "../../../src/core/event.ts";
import { causeOf, done, type Compaction } from "../../../src/core/lap.ts";
import { shrunk, tokensOf } from "../../../src/core/pressure.ts";
import { exhausted } from "../../../src/core/run.ts";
import type { Update } from "../change.ts";
import type { SessionContext } from "../context.ts";

const lap = (c: SessionContext, patch: Partial<Compaction>) => ({ compaction: { ...c.compaction, ...patch } });

/** Why this lap compacts, if it does, is decided here, once. */
export const judgePressure: Update = (c) => {
  const { asked } = c.compaction;
  const cause = asked ?? causeOf(c.compaction, c.config.compaction, tokensOf(c.pressure));
  if (cause === null && c.compaction.cause === null) return {};
  const mode = asked === "manual" ? c.compaction.mode : c.config.compaction.mode;
  return { set: lap(c, { cause, mode, asked: null, elided: asked === "manual", cut: false }) };
};

export const requestCompaction: Update<InputOf<"compaction.requested">> = (c, e) => ({
  set: lap(c, { asked: "manual", mode: e.mode ?? c.config.compaction.mode }),
});

/** "Prompt too long": compact for it and come back to the same turn. */
export const answerOverflow: Update<InputOf<"model.failed">> = (c) => ({
  set: lap(c, { asked: "overflow", overflows: c.compaction.overflows + 1, failures: 0 }),
});

const started =
  (kind: OutputOf<"compaction.started">["kind"]): Update =>
  (c) => ({ announce: [{ type: "compaction.started", reason: c.compaction.cause ?? "context", kind }] });
export const startEliding = started("elide");
export const startSummarizing = started("summarize");
export const startDiscarding = started("discard");

/** The directive takes effect: from here on the view is the smaller one. */
const apply =
  (how: "elide" | "full"): Update<InputOf<"compaction.completed">> =>
  (c, e) => {
    const pressure = shrunk(c.pressure, e.tokens);
    const compaction = done(c.compaction, how, c.config.compaction, tokensOf(pressure));
    const announce = [{ type: "compaction.applied" as const, directive: e.seq, kind: e.directive!.kind }];
    return { set: { pressure, compaction }, announce };
  };
export const applyElision = apply("elide");
export const applyCut = apply("full");

/** A failed compaction is not a failed run, unless nothing else can make the request fit. */
export const failElision: Update = (c) => ({
  set: { compaction: done(c.compaction, "elide", c.config.compaction, tokensOf(c.pressure)) },
});
export const failCut: Update = (c) => ({ set: lap(c, { cut: true, failures: c.compaction.failures + 1 }) });

export const exhaustContext: Update = (c) => ({
  set: { ending: exhausted(tokensOf(c.pressure), c.config.compaction.window) },
});

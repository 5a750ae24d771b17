/** The transitions of `compact`. */
import { expect } from "vitest";
import type { Directive } from "../../../src/core/projection.ts";
import * as e from "../events.ts";
import { begun, crowded, executing, reach, requesting } from "../reach.ts";
import { scenario, told, waysOut, type Scenario } from "./scenario.ts";

const elide: Directive = { kind: "elide", results: [] };
const summary: Directive = { kind: "summarize", upTo: 1, kept: [0], text: "gist" };
const discard: Directive = { kind: "discard", upTo: 1, kept: [0] };

/** The window is full: elision has been tried. `mode` says what comes next. */
const full = (mode: "summarize" | "discard") => crowded({ compaction: { mode } }).feed(e.settled("c1"));

/** A full compaction is due for the number of turns alone. */
const overdue = (mode: "summarize" | "discard") =>
  requesting(undefined, { compaction: { mode, maxSessionTurns: 1 } }).feed(
    e.answer(["c1"]),
    e.allowed("c1"),
    e.settled("c1"),
  );

const planning: readonly Scenario[] = [
  scenario(
    "compact.planning / always [isPrepared]",
    "While nothing contributes, the next turn's request goes out without preparing it again.",
    () => begun().feed(e.prepared(100, true), e.answer(["c1"]), e.allowed("c1")),
    e.settled("c1"),
    (walk) => {
      expect(walk.said.slice(-3)).toEqual(["phase.started reason", "turn.started", "attempt.started"]);
      expect(walk.started).toEqual(["callModel"]);
    },
  ),
  scenario(
    "compact.planning / always [needsNoCompaction]",
    "Below every threshold nothing is compacted.",
    () => executing().feed(e.settled("c1")),
    e.settled("c2"),
    (walk) => expect(walk.said).not.toContain("compaction.started"),
  ),
  scenario(
    "compact.planning / always [mustElide]",
    "Under pressure old results are elided first.",
    () => crowded(),
    e.settled("c1"),
    (walk) => {
      expect(told(walk, "compaction.started")).toMatchObject({ reason: "context", kind: "elide" });
      expect(walk.started).toEqual(["elideResults"]);
    },
  ),
  scenario(
    "compact.planning / always [mustSummarize]",
    "When eliding does not bring relief, a summary is asked for.",
    () => full("summarize"),
    e.compacted(),
    (walk) => expect(walk.started).toEqual(["summarize"]),
  ),
  scenario(
    "compact.planning / always [mustDiscard]",
    "In the mode without a model call, the past is discarded instead.",
    () => full("discard"),
    e.compacted(),
    (walk) => expect(walk.started).toEqual(["discard"]),
  ),
  scenario(
    "compact.planning / always [isOnlyCompacting]",
    "No turn follows a compaction by hand.",
    reach["compact.discarding"]!,
    e.compacted(discard),
    (walk) => expect(walk.said).toEqual(["compaction.applied", "phase.ended compact"]),
  ),
  scenario(
    "compact.planning / always [isExhausted]",
    "A compaction that worked and brought no relief ends the run: never a loop.",
    () => full("discard").feed(e.compacted()),
    e.compacted(discard, 5_000),
    (walk) => expect(told(walk, "run.ended")).toMatchObject({ status: "failed", error: { code: "context_exhausted" } }),
  ),
  scenario(
    "compact.planning / always",
    "With the view small again the turn goes on.",
    () => full("summarize").feed(e.compacted()),
    e.compacted(summary),
    (walk) => expect(walk.said.slice(-3)).toEqual(["phase.ended compact", "phase.started reason", "turn.started"]),
  ),
];

const settling: readonly Scenario[] = [
  scenario(
    "compact.projecting / compaction.completed",
    "A finished elision is applied at once.",
    () => full("summarize"),
    e.compacted(elide),
    (walk) =>
      expect(told(walk, "compaction.applied")).toMatchObject({
        kind: "elide",
        directive: walk.last("compaction.completed")!.seq,
      }),
  ),
  scenario(
    "compact.projecting / compaction.completed [freesNothing]",
    "Where nothing can be elided, the next kind is tried.",
    () => full("summarize"),
    e.compacted(),
    (walk) => expect(walk.started).toEqual(["summarize"]),
  ),
  scenario(
    "compact.summarizing / compaction.completed [freesNothing]",
    "Where nothing can be summarized, no failure is counted, and the run does not go on past the threshold.",
    () => full("summarize").feed(e.compacted()),
    e.compacted(),
    (walk) => {
      expect(walk.context.compaction).toMatchObject({ cut: "empty", failures: 0 });
      expect(told(walk, "run.ended")).toMatchObject({ status: "failed", error: { code: "context_exhausted" } });
    },
  ),
  scenario(
    "compact.discarding / compaction.completed [freesNothing]",
    "Where nothing can be discarded, it is not asked for again: below the threshold the turn goes on.",
    () => overdue("discard"),
    e.compacted(),
    (walk) => expect(walk.state).toBe("reason.preparing"),
  ),
  scenario(
    "compact.projecting / compaction.failed",
    "A failed elision does not count as a failed compaction: the next kind is tried.",
    () => full("summarize"),
    e.compactionFailed,
    (walk) => {
      expect(walk.started).toEqual(["summarize"]);
      expect(walk.context.compaction.failures).toBe(0);
    },
  ),
  scenario(
    "compact.summarizing / compaction.completed",
    "A summary takes the place of what came before it in the view, and not in the transcript.",
    () => full("summarize").feed(e.compacted()),
    e.compacted(summary),
    (walk) => {
      expect(told(walk, "compaction.applied")).toMatchObject({ kind: "summarize" });
      expect(walk.transcript.view[0]).toMatchObject({ kind: "summary" });
      expect(walk.transcript.entries[0]).toMatchObject({ message: { id: "p1" } });
    },
  ),
  scenario(
    "compact.summarizing / compaction.failed",
    "A summary that failed below the hard limit lets the run go on.",
    () => full("summarize").feed(e.compacted()),
    e.compactionFailed,
    (walk) => {
      expect(walk.state).toBe("reason.preparing");
      expect(walk.context.compaction.failures).toBe(1);
    },
  ),
  scenario(
    "compact.discarding / compaction.completed",
    "What is discarded is no longer shown; the newest prompt is.",
    () => full("discard").feed(e.compacted()),
    e.compacted(discard),
    (walk) => {
      expect(told(walk, "compaction.applied")).toMatchObject({ kind: "discard" });
      expect(walk.transcript.view[0]).toMatchObject({ id: "p1" });
    },
  ),
  scenario(
    "compact.discarding / compaction.failed",
    "A compaction by hand that fails changes nothing.",
    reach["compact.discarding"]!,
    e.compactionFailed,
    (walk) => {
      expect(walk.said).toEqual(["phase.ended compact"]);
      expect(walk.transcript.directives).toEqual([]);
    },
  ),
];

const leaving = waysOut("compact.projecting").map((s) => ({ ...s, of: s.of.replace("compact.projecting", "compact") }));

export const compact: readonly Scenario[] = [...planning, ...settling, ...leaving];

/** The transitions of `reason`. */
import { expect } from "vitest";
import * as e from "../events.ts";
import { begun, requesting } from "../reach.ts";
import { results, scenario, told, waysOut, type Scenario } from "./scenario.ts";

const settlement: readonly Scenario[] = [
  scenario(
    "reason.requesting / model.completed [mustReview]",
    "An answer with calls goes to the review; nothing of it is visible yet.",
    () => requesting(),
    e.answer(["c1"]),
    (walk) => {
      expect(walk.said).toEqual(["phase.ended reason", "phase.started act"]);
      expect(walk.transcript.messages()).toHaveLength(1);
    },
  ),
  scenario(
    "reason.requesting / model.completed",
    "Calls of an answer that was cut are not executed: each gets a truncated result, and the model is told.",
    () => requesting(),
    e.answer(["c1", "c2"], { finishReason: "length" }),
    (walk) => {
      expect(results(walk)).toEqual({ c1: "truncated", c2: "truncated" });
      expect(told(walk, "turn.started")).toMatchObject({ turn: 2 });
    },
  ),
  scenario(
    "reason.requesting / model.failed [mustCompactForIt]",
    "A prompt that is too long is compacted for, and asked again in the same turn.",
    () => requesting(),
    e.failedWith("overflow"),
    (walk) => {
      expect(told(walk, "compaction.started")).toMatchObject({ reason: "overflow" });
      walk.feed(e.compacted(), e.compacted({ kind: "discard", upTo: 0, kept: [] }), e.prepared());
      expect(told(walk, "attempt.started")).toMatchObject({ turn: 1, attempt: 2 });
    },
  ),
  scenario(
    "reason.requesting / model.failed [isOverflow]",
    "A prompt that stays too long ends the run as context exhausted, with its history intact.",
    () =>
      requesting().feed(
        ...[1, 2].flatMap(() => [
          e.failedWith("overflow"),
          e.compacted(),
          e.compacted({ kind: "summarize" as const, upTo: 0, kept: [], text: "gist" }),
          e.prepared(),
        ]),
      ),
    e.failedWith("overflow"),
    (walk) => {
      expect(told(walk, "run.ended")).toMatchObject({ status: "failed", error: { code: "context_exhausted" } });
      expect(walk.transcript.messages()).toHaveLength(1);
    },
  ),
  scenario(
    "reason.requesting / model.failed [mayRetry]",
    "A failure that may pass is tried again; what it had shown is discarded.",
    () => requesting(),
    e.failedWith("timeout", "half a sen"),
    (walk) => {
      expect(told(walk, "attempt.discarded")).toMatchObject({ turn: 1, attempt: 1 });
      expect(walk.context.draft).toMatchObject({ waitMs: 250, attempt: 1 });
    },
  ),
  scenario(
    "reason.requesting / model.failed",
    "A failure that will not pass ends the run; what it had shown stays said.",
    () => requesting(),
    e.failedWith("fatal", "half a sen"),
    (walk) => {
      const { seq } = walk.last("model.failed")!;
      expect(told(walk, "run.ended")).toMatchObject({ status: "failed", error: { code: "fatal" }, aborted: seq });
    },
  ),
];

const interrupts: readonly Scenario[] = [
  scenario(
    "reason.requesting / cancel.requested [concernsThisRun]",
    "A cancel asks the request to stop and waits for it: what the user saw is kept.",
    () => requesting(),
    e.cancel(),
    (walk) => {
      expect(walk.aborted).toEqual(["callModel"]);
      expect(walk.state).toBe("reason.requesting");
      walk.feed(e.failedWith("cancelled", "half a sen"));
      expect(told(walk, "run.ended")).toMatchObject({ status: "cancelled", aborted: walk.last("model.failed")!.seq });
      expect(walk.transcript.view.at(-1)).toMatchObject({ kind: "aborted" });
    },
  ),
  scenario(
    "reason.requesting / close.requested",
    "Closing asks the request to stop and closes after it.",
    () => requesting(),
    e.close,
    (walk) => {
      expect(walk.aborted).toEqual(["callModel"]);
      walk.feed(e.failedWith("cancelled"));
      expect(walk.said).toEqual(["phase.ended reason", "run.ended", "session.closed"]);
    },
  ),
  waysOut("reason.requesting")[2]!,
];

export const reason: readonly Scenario[] = [
  scenario(
    "reason.preparing / request.prepared",
    "A prepared request goes out as the first attempt.",
    () => begun(),
    e.prepared(),
    (walk) => {
      expect(walk.said).toEqual(["attempt.started"]);
      expect(walk.started).toEqual(["callModel"]);
    },
  ),
  ...waysOut("reason.preparing"),
  ...settlement,
  ...interrupts,
  scenario(
    "reason.backingOff / timer.elapsed",
    "After the wait the next attempt goes out and carries what the failed one had shown.",
    () => requesting().feed(e.failedWith("timeout", "half a sen")),
    e.elapsed("backoff"),
    (walk) => {
      expect(told(walk, "attempt.started")).toMatchObject({ attempt: 2, retried: walk.last("model.failed")!.seq });
      expect(walk.transcript.view.at(-1)).toMatchObject({ kind: "retried" });
    },
  ),
  ...waysOut("reason.backingOff"),
];

/** One transition of the machine, taken by a walk, and what a reader should see of it. */
import { expect } from "vitest";
import type { InputEvent, OutputEvent } from "../../../machines/index.ts";
import { reach } from "../reach.ts";
import { cancel, close, storeFailed } from "../events.ts";
import type { Walk } from "../walk.ts";

export type Scenario = {
  /** `state / event [guard]`, as the machine describes it. */
  of: string;
  /** What happens, as a sentence. */
  title: string;
  /** Leads to where the event comes in. */
  before: () => Walk;
  event: InputEvent;
  then: (walk: Walk) => void;
};

export const scenario = (
  of: string,
  title: string,
  before: () => Walk,
  event: InputEvent,
  then: (walk: Walk) => void,
): Scenario => ({ of, title, before, event, then });

/** What the last event announced, of one type. */
export function told<T extends OutputEvent["type"]>(walk: Walk, type: T): Extract<OutputEvent, { type: T }> {
  const found = walk.announced.filter((a) => a.type === type);
  expect(found, `announced: ${walk.said.join(", ")}`).toHaveLength(1);
  return found[0] as never;
}

/** The three ways by which a state is left early, with what they say of the run. */
export function waysOut(state: string, guarded = true): Scenario[] {
  const before = reach[state]!;
  const out = (event: InputEvent["type"], guard = "") => `${state} / ${event}${guard}`;
  return [
    scenario(
      out("cancel.requested", guarded ? " [concernsThisRun]" : ""),
      `A cancel in ${state} ends the run as cancelled, with its reason.`,
      before,
      cancel({ runId: "r1", reason: "enough" }),
      (walk) => {
        expect(told(walk, "run.ended")).toMatchObject({ runId: "r1", status: "cancelled", reason: "enough" });
        expect(walk.state).toBe("receive.idle");
      },
    ),
    scenario(
      out("close.requested"),
      `Closing in ${state} ends the run first, then the session.`,
      before,
      close,
      (walk) => {
        expect(told(walk, "run.ended")).toMatchObject({ status: "cancelled", reason: "closed" });
        expect(walk.said.at(-1)).toBe("session.closed");
      },
    ),
    scenario(
      out("store.failed"),
      `A journal that cannot be written in ${state} fails the run.`,
      before,
      storeFailed,
      (walk) => {
        const { status, error } = told(walk, "run.ended");
        expect({ status, code: error?.code }).toEqual({ status: "failed", code: "store" });
        expect(walk.state).toBe("receive.idle");
      },
    ),
  ];
}

/** Every call of the last commit, with how it ended. */
export const results = (walk: Walk): Record<string, string> =>
  Object.fromEntries(told(walk, "exchange.committed").results.map((r) => [r.callId, r.status]));

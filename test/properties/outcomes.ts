/** How running effects may settle: every shape of outcome that the state a walk is in can meet. */
import type { InputEvent } from "../../machines/index.ts";
import { planCut, planElision, tokensAfter, type Material } from "../../src/core/compaction.ts";
import { roomOf } from "../../src/core/lap.ts";
import { pendingOf } from "../../machines/session/context.ts";
import type { SettledDecision } from "../../src/core/call.ts";
import type { Failure } from "../../src/core/failure.ts";
import type { Directive } from "../../src/core/projection.ts";
import * as e from "../machine/events.ts";
import type { Walk } from "../machine/walk.ts";
import type { Dice } from "./dice.ts";

/** An outcome of what runs now; nothing when nothing does. `kind`: any outcome, or one that brings the run to its end. */
export function outcome(walk: Walk, dice: Dice, kind: "any" | "plain" = "any"): InputEvent | undefined {
  const settle = outcomes[walk.state];
  return settle?.(walk, dice, kind === "plain");
}

type Settle = (walk: Walk, dice: Dice, plain: boolean) => InputEvent;

const admitting: Settle = (walk, dice, plain) =>
  e.admitted(
    ...walk.context.inbox
      .filter((i) => !i.reviewed)
      .map(({ id }) => {
        if (plain) return { id };
        return dice.of([
          { id },
          { id, refused: "no" },
          { id, parts: [{ type: "text" as const, text: "rewritten" }] },
          { id, info: ["by the way", "and also"] },
        ]);
      }),
  );

const waiting: Settle = (walk, dice, plain) =>
  plain || dice.chance(3)
    ? e.elapsed("wait")
    : dice.of([e.done(walk.context.tasks[0]), e.defer(dice.id("d"), walk.context.run?.id), e.defer(dice.id("d"))]);

const closing: Settle = (_, dice, plain) => (plain || dice.chance(2) ? e.stopReviewed() : e.stopReviewed(dice.id("f")));

const materialOf = ({ transcript: { entries, directives } }: Walk): Material => ({
  entries,
  directives,
  retain: () => false,
});
const roomIn = ({ context: c }: Walk) => roomOf(c.compaction, c.config.compaction, c.pressure, pendingOf(c));
const completed = (walk: Walk, directive: Directive | undefined, dice: Dice, plain: boolean): InputEvent => {
  if (!directive) return e.compacted();
  const tokens = tokensAfter(walk.transcript, directive);
  return e.compacted(directive, plain || dice.chance(2) ? tokens : tokens * 40);
};
const eliding: Settle = (walk, dice, plain) => {
  if (!plain && dice.chance(4)) return e.compactionFailed;
  return completed(walk, planElision(materialOf(walk), roomIn(walk)), dice, plain);
};
const cutting =
  (kind: "summarize" | "discard"): Settle =>
  (walk, dice, plain) => {
    if (!plain && dice.chance(4)) return e.compactionFailed;
    const cut = planCut(materialOf(walk), roomIn(walk), kind)?.cut;
    if (!cut) return plain ? e.compactionFailed : e.compacted();
    return completed(walk, kind === "summarize" ? { kind, ...cut, text: "gist" } : { kind, ...cut }, dice, plain);
  };

const preparing: Settle = (_, dice) => e.prepared(dice.of([10, 100, 800]), dice.chance(2));

const failures: readonly Failure["class"][] = [
  "timeout",
  "malformed",
  "overflow",
  "auth",
  "refused",
  "fatal",
  "cancelled",
];
const requesting: Settle = (_, dice, plain) => {
  if (plain) return e.answer();
  if (dice.chance(3)) return e.failedWith(dice.of(failures), dice.of(["", "partly said"]));
  const calls = Array.from({ length: dice.below(4) }, () => dice.id("c"));
  const usage = dice.chance(2) ? {} : { usage: { input: dice.of([0, 50, 2_000]), output: 5, costUsd: 0.3 } };
  return e.answer(calls, dice.chance(5) ? { finishReason: "length", ...usage } : usage);
};

const reviewing: Settle = (walk, dice, plain) =>
  e.reviewed(
    ...walk.context.draft!.calls.map(({ callId }) =>
      e.verdictOn(callId, plain ? "allow" : dice.of(["allow", "allow", "ask", "ask", "deny", "invalid"] as const), {
        lockKeys: dice.of([[], ["one file"]]),
        onUnknown: dice.of(["report", "retry", "ask"] as const),
      }),
    ),
  );

const approving: Settle = (walk, dice, plain) => {
  const open = walk.context.draft!.calls.filter((c) => c.stage === "asked");
  const some = plain ? open : open.filter(() => dice.chance(2));
  const event = e.decided(...some.map((call) => decisionFor(call.callId, dice, plain)));
  return !plain && dice.chance(2) ? ({ ...event, answered: true } as InputEvent) : event;
};
function decisionFor(callId: string, dice: Dice, plain: boolean): SettledDecision {
  if (plain) return e.decisionOn(callId, "deny");
  const decision = dice.of(["allow", "allow", "deny", "respond", "timeout"] as const);
  const edited = e.verdictOn(callId, dice.of(["allow", "deny", "invalid"] as const), {
    args: { edited: true },
    hash: "e",
  });
  return e.decisionOn(callId, decision, decision === "allow" && dice.chance(3) ? { edited } : {});
}

const executing: Settle = (walk, dice) => {
  const running = walk.context.draft!.calls.filter((c) => c.stage === "running");
  const status = dice.of(["ok", "ok", "failed", "timeout", "cancelled", "abandoned"] as const);
  return e.settled(running.length ? dice.of(running).callId : "none", status, "found ".repeat(dice.of([1, 200])));
};

const outcomes: { readonly [state: string]: Settle } = {
  "receive.admitting": admitting,
  "receive.waiting": waiting,
  "receive.closing": closing,
  "compact.projecting": eliding,
  "compact.summarizing": cutting("summarize"),
  "compact.discarding": cutting("discard"),
  "reason.preparing": preparing,
  "reason.requesting": requesting,
  "reason.backingOff": () => e.elapsed("backoff"),
  "act.reviewing": reviewing,
  "act.approving": approving,
  "act.executing": executing,
};

/** What happens in `reason`: a turn opens, attempts are made, an answer is accepted. */
import { proposed } from "../../../src/core/batch.ts";
import { discard, newDraft, nextAttempt, waitingAgain } from "../../../src/core/draft.ts";
import { estimateParts, MESSAGE_TOKENS } from "../../../src/core/budget.ts";
import type { InputOf, OutputOf } from "../../../src/core/event.ts";
import { idsOf, mayTake, reviewsOf, tokensIn } from "../../../src/core/inbox.ts";
import { callsOf } from "../../../src/core/message.ts";
import { counted, grown } from "../../../src/core/pressure.ts";
import { failed } from "../../../src/core/run.ts";
import type { Update } from "../change.ts";

/** Opens a turn, unless one is tried again. A new turn takes what waits in the inbox. */
export const openTurn: Update = (c) => {
  if (c.draft) return {};
  const run = c.run!;
  const taken = c.inbox.filter((i) => mayTake(i, run.id));
  const turn = c.turn + 1;
  const started: OutputOf<"turn.started"> = { type: "turn.started", turn, inputs: idsOf(taken), ...reviewsOf(taken) };
  if (c.continues) started.continues = true;
  return {
    set: {
      turn,
      draft: newDraft(turn),
      inbox: c.inbox.filter((i) => !taken.includes(i)),
      owed: true,
      continues: false,
      run: { ...run, turns: run.turns + 1, stopReviewed: false, waitedOut: false },
      pressure: grown(c.pressure, tokensIn(taken)),
      compaction: { ...c.compaction, turnsSince: c.compaction.turnsSince + 1, overflows: 0 },
    },
    announce: [started],
  };
};

export const pinCatalogue: Update<InputOf<"request.prepared">> = (c, e) => ({
  set: { pressure: { ...c.pressure, base: e.tokens }, run: { ...c.run!, prepared: e.stable === true } },
});

/** One request goes out, in a new turn unless one is open. What the attempt before it had shown goes along. */
export const startAttempt: Update = (c, e) => {
  const opened = openTurn(c, e);
  const { draft, started } = nextAttempt(opened.set?.draft ?? c.draft!, c.run!.prefer);
  return { set: { ...opened.set, draft }, announce: [...(opened.announce ?? []), started] };
};

/** The answer is accepted. Until its commit nobody but this turn sees it. */
export const acceptAnswer: Update<InputOf<"model.completed">> = (c, e) => {
  const { message, finishReason, usage } = e;
  const calls = callsOf(message.parts).map(proposed);
  const size = usage?.output ?? estimateParts(message.parts) + MESSAGE_TOKENS;
  const costUsd = c.run!.costUsd + (usage?.costUsd ?? 0);
  return {
    set: {
      draft: { ...c.draft!, answer: e.seq, cut: finishReason === "length", calls },
      run: { ...c.run!, costUsd },
      pressure: counted(c.pressure, usage?.input, size),
    },
  };
};

/** The turn will be asked again, perhaps of a model that stands by. */
export const backOff: Update<InputOf<"model.failed">> = (c, e) => {
  const { draft, announce, tokens } = discard(c.draft!, e);
  const run = { ...c.run!, prefer: e.failure.next ?? c.run!.prefer };
  const pressure = grown(c.pressure, tokens);
  return { set: { draft: waitingAgain(draft, e.failure, c.config.limits), run, pressure }, announce };
};

/** Nothing more to try. A cancel that is under way stays the reason of the ending, and what was shown stays said. */
export const failRequest: Update<InputOf<"model.failed">> = (c, e) => {
  const { draft, tokens } = discard(c.draft!, e);
  const pressure = grown(c.pressure, tokens);
  const { class: kind, message } = e.failure;
  return {
    set: {
      draft,
      pressure,
      ...(c.ending ? {} : { ending: failed(kind === "cancelled" ? "internal" : kind, message) }),
    },
  };
};

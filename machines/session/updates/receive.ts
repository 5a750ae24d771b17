/** What happens in `receive`: inputs come and go, runs begin and end. */
import type { InputOf, RunStatus } from "../../../src/core/event.ts";
import { admit, feedback, idsOf, leftOver, refusal, reviewsOf, tokensIn, waiting } from "../../../src/core/inbox.ts";
import { grown } from "../../../src/core/pressure.ts";
import {
  afterStopReview,
  cancelled,
  endedEvent,
  failed,
  newRun,
  startedEvent,
  type Ending,
} from "../../../src/core/run.ts";
import type { Update } from "../change.ts";
import type { SessionContext } from "../context.ts";

/** An input joins the inbox, once, unless it is refused. Idle, a `defer` asks to be woken. */
export const queueInput: Update<InputOf<"input.received">> = (c, e) => {
  if (c.inbox.some((i) => i.id === e.id)) return {};
  const reason = refusal(c.inbox, e, c.config.limits, c.run?.id);
  if (reason !== undefined) return { announce: [{ type: "input.refused", id: e.id, reason }] };
  const set = { inbox: [...c.inbox, waiting(e, c.config.reviews.input)] };
  const wakes = e.kind === "defer" && (!c.run || c.run.parked);
  return wakes ? { set, announce: [{ type: "wake.requested", inputs: [e.id] }] } : { set };
};

export const withdrawInput: Update<InputOf<"input.withdrawn">> = (c, e) => ({
  set: { inbox: c.inbox.filter((i) => !e.ids.includes(i.id)) },
});
export const openTask: Update<InputOf<"task.opened">> = (c, e) => ({ set: { tasks: [...c.tasks, e.taskId] } });
export const settleTask: Update<InputOf<"task.settled">> = (c, e) => ({
  set: { tasks: c.tasks.filter((t) => t !== e.taskId) },
});
export const changeMode: Update<InputOf<"mode.changed">> = (_, e) => ({ set: { mode: e.mode } });

/** History that a session begins with; if it ends with a user, the model owes an answer. */
export const importHistory: Update<InputOf<"history.imported">> = (c, e) => ({
  set: {
    pressure: grown(c.pressure, e.tokens),
    owed: e.messages.length > 0 && e.messages.at(-1)?.role !== "assistant",
  },
  announce: [{ type: "inputs.taken", inputs: [`history.${e.seq}`] }],
});

/** A run begins, goes on where it was parked, or takes the place of one that was cut. */
export const beginRun: Update<InputOf<"run.requested">> = (c, e) => {
  const lost = e.inputs?.some((id) => !c.inbox.some((i) => i.id === id));
  const fresh = { ...newRun(e.runId, e.options), refused: lost ? "the inbox is full" : null };
  const ending = e.cancelled ? cancelled(e.cancelled.reason) : null;
  if (!c.run) return { set: { run: fresh, ending }, announce: [startedEvent(fresh, e.continued)] };
  const run = { ...c.run, parked: false, prepared: false };
  if (!e.continued)
    return {
      set: { run, ending: { ...cancelled("interrupted"), next: { run: fresh, ending, inputs: e.inputs ?? [] } } },
    };
  return { set: { run: { ...run, options: { ...run.options, ...e.options } }, ending } };
};

/** On the way out for this reason, unless there is one already. A parked run moves again, to end. */
const leave = (c: SessionContext, ending: Ending) => ({
  ending: c.ending ?? ending,
  run: c.run && { ...c.run, parked: false },
});
/** Cancel is a flag; the states decide how to get out, `deciding` ends the run. */
export const cancelRun: Update<InputOf<"cancel.requested">> = (c, e) =>
  c.run ? { set: leave(c, cancelled(e.reason, e.clearInbox)) } : {};

/** The session closes: whatever is open ends first. */
export const closeSession: Update<InputOf<"close.requested">> = (c) => ({
  set: { closing: true, ...(c.run ? leave(c, cancelled(c.run.parked ? "interrupted" : "closed")) : {}) },
});

/** Weighs more than a cancel: what was said last is not written. */
export const failStore: Update<InputOf<"store.failed">> = (c, e) =>
  c.run && !c.run.parked ? { set: { ending: { ...failed("store", e.message), next: c.ending?.next } } } : {};

export const admitInputs: Update<InputOf<"inputs.reviewed">> = (c, e) => {
  const { inbox, refused } = admit(c.inbox, e);
  return {
    set: { inbox, run: c.run && { ...c.run, refused: refused.at(-1)?.reason ?? c.run.refused } },
    announce: refused.map((r) => ({ type: "input.refused", ...r })),
  };
};

/** A stop review lets the answer stand, sends the run on with feedback, or finds that no answer will ever fit. */
export const takeStopReview: Update<InputOf<"stop.reviewed">> = (c, e) => {
  const { run, ending = c.ending } = afterStopReview(c.run!, e);
  return { set: { run, ending, inbox: [...c.inbox, ...e.feedback.map(feedback)] } };
};

export const startWaiting: Update = (c) => ({
  announce: [{ type: "run.waiting", tasks: [...c.tasks], waitMs: c.config.limits.waitMs }],
});
export const wakeUp: Update = (_, e) => ({
  announce: [{ type: "run.woken", reason: e.type === "task.settled" ? "task" : "input" }],
});
export const stopWaiting: Update = (c) => ({
  set: { run: c.run && { ...c.run, waitedOut: true } },
  announce: [{ type: "run.woken", reason: "timeout" }],
});

/** The run is over. Notices left over enter the transcript when it completed; other inputs wait for the next run. */
const end =
  (how: (c: SessionContext) => RunStatus): Update =>
  (c) => {
    const { ending } = c;
    const run = c.run!;
    const status = how(c);
    const { taken, left, ...leaving } = leftOver(c.inbox, run.id, status === "completed", ending?.clearInbox === true);
    const facts = { ...leaving, openTasks: c.tasks, aborted: c.draft?.failed };
    const ended = endedEvent(run, status, ending, facts);
    const next = ending?.next;
    return {
      set: {
        run: next?.run ?? null,
        ending: next?.ending ?? null,
        draft: null,
        continues: false,
        inbox: left,
        pressure: grown(c.pressure, tokensIn(taken)),
      },
      announce: [
        ...(taken.length ? [{ type: "inputs.taken" as const, inputs: idsOf(taken), ...reviewsOf(taken) }] : []),
        ended,
        ...(next ? [startedEvent(next.run)] : []),
      ],
    };
  };

export const endAsAsked = end((c) => c.ending!.status);
export const endAtTurnLimit = end(() => "max_turns");
export const endOverBudget = end(() => "budget");
export const endTruncated = end(() => "truncated");
export const endQuietly = end((c) => (c.run!.refused !== null && c.run!.turns === 0 ? "blocked" : "completed"));

export const announceClosed: Update = () => ({ announce: [{ type: "session.closed" }] });

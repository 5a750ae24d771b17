/** What happens in `act`: calls are judged, decided, run and committed together. */
import * as batch from "../../../src/core/batch.ts";
import { estimateParts, MESSAGE_TOKENS } from "../../../src/core/budget.ts";
import type { InputOf } from "../../../src/core/event.ts";
import { grown } from "../../../src/core/pressure.ts";
import type { Change, Update } from "../change.ts";
import { resultsOf, type Draft } from "../../../src/core/draft.ts";
import type { SessionContext } from "../context.ts";
import { cancelRun, closeSession, failStore } from "./receive.ts";

const withCalls = (draft: Draft, change: (call: batch.Call) => batch.Call): Draft => ({
  ...draft,
  calls: draft.calls.map(change),
});
const running = (draft: Draft | null) => draft?.calls.filter((call) => call.stage === "running") ?? [];
const requests = (c: SessionContext) => batch.asked(c.draft!.calls).map(batch.requestOf);

/** Verdicts of the whole chain. What needs no decision, and waits for none, starts. */
export const takeVerdicts: Update<InputOf<"calls.reviewed">> = (c, e) => {
  const verdicts = new Map(e.calls.map((v) => [v.callId, v]));
  const nobody = c.run!.options.approvals.mode === "deny";
  const draft = withCalls(c.draft!, (call) => {
    const verdict = verdicts.get(call.callId);
    return verdict && call.stage === "proposed" ? batch.judge(call, verdict, e.seq, nobody) : call;
  });
  const open = draft.calls.some((call) => call.stage === "proposed" || call.stage === "asked");
  return open ? { set: { draft } } : startIn(c, draft);
};

export const announceAsks: Update = (c) => ({ announce: [{ type: "approval.requested", requests: requests(c) }] });

/** Each decision falls on its own call. */
export const takeDecisions: Update<InputOf<"approval.settled">> = (c, e) => {
  if (!c.draft) return {};
  const decisions = new Map(e.decisions.map((d) => [d.callId, d]));
  const draft = withCalls(c.draft, (call) => batch.decide(call, decisions.get(call.callId), e.seq));
  return { set: { draft: e.answered ? { ...draft, answered: true } : draft } };
};

export const denyPending: Update = (c, e) => ({
  set: { draft: withCalls(c.draft!, (call) => batch.denyAsked(call, e.seq)) },
});

/** The run stops here without ending: whoever decides later moves it again. */
export const suspendRun: Update = (c) => ({
  set: { run: { ...c.run!, parked: true }, draft: { ...c.draft!, answered: false } },
  announce: [{ type: "run.suspended", runId: c.run!.id, turns: c.run!.turns, pending: requests(c) }],
});

/** Starts what may start. */
export const startTools: Update = (c) => startIn(c, c.draft!);

function startIn(c: SessionContext, draft: Draft): Change {
  const start = batch.startable(draft.calls, c.config.limits.toolConcurrency);
  if (!start.length) return draft === c.draft ? {} : { set: { draft } };
  return {
    set: { draft: withCalls(draft, (call) => (start.includes(call) ? { ...call, stage: "running" } : call)) },
    announce: start.map(batch.startOf),
    start,
  };
}

/** One tool has its result; the next in line may start. */
export const settleTool: Update<InputOf<"tool.settled">> = (c, e) => {
  const done = c.draft!.calls.find((call) => call.callId === e.callId)!;
  const draft = withCalls(c.draft!, (call) => (call === done ? batch.settle(call, batch.outcomeOf(e)) : call));
  const change = startIn(c, draft);
  return {
    ...change,
    set: { ...change.set, pressure: grown(c.pressure, estimateParts(e.output) + MESSAGE_TOKENS) },
    stop: [done],
  };
};

/** What has not started will not; what runs is asked to stop, and settles by itself within its grace. */
const interrupt =
  (flag: Update<any>): Update =>
  (c, e) => ({
    set: { ...flag(c, e).set, draft: withCalls(c.draft!, (call) => batch.dropUnstarted(call, e.seq)) },
    // A journal that cannot be written lets what runs finish; one that belongs to another writer does not.
    abort: e.type === "store.failed" && !e.fenced ? [] : running(c.draft),
  });
export const cancelTools = interrupt(cancelRun);
export const closeTools = interrupt(closeSession);
export const holdTools = interrupt(failStore);

/** The one record that makes the answer and every result visible, in call order. */
export const commitExchange: Update = (c, e) => {
  const draft = c.draft!;
  const run = c.run!;
  const { results, tokens } = resultsOf(draft, e.seq);
  const continues = draft.cut && results.length === 0;
  const counts = { continuations: continues ? run.continuations + 1 : 0, feedback: results.length ? 0 : run.feedback };
  return {
    set: {
      draft: null,
      owed: results.length > 0,
      continues,
      run: { ...run, ...counts },
      pressure: grown(c.pressure, tokens),
    },
    announce: [{ type: "exchange.committed", turn: draft.turn, message: draft.answer, results }],
  };
};

/** The journal was opened again: constants may be new, and whatever ran when it stopped has an outcome nobody saw. */
export const recover: Update<InputOf<"session.resumed">> = (c, e) => ({
  stop: running(c.draft),
  set: {
    config: e.config,
    closing: false,
    ending: null,
    // Background work of a process that is gone reports to nobody.
    tasks: [],
    run: c.run && { ...c.run, parked: true },
    draft: c.draft && withCalls({ ...c.draft, answered: false }, (call) => batch.recover(call, e.seq)),
    compaction: { ...c.compaction, asked: null, mode: e.config.compaction.mode },
  },
});

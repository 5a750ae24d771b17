/** Names for everything the machine can ask, do and start. States refer to these; nothing is written inline. */
import { emit, fromCallback, sendTo, setup, type CallbackActorLogic, type EventObject } from "xstate";
import type { Call } from "../../src/core/batch.ts";
import type { Room } from "../../src/core/lap.ts";
import type { InputEvent, Phase, Taken } from "../../src/core/event.ts";
import { actionsOf, type Announcement } from "./change.ts";
import type { SessionContext, SessionInput } from "./context.ts";
import * as guards from "./guards.ts";
import * as act from "./updates/act.ts";
import * as compact from "./updates/compact.ts";
import * as reason from "./updates/reason.ts";
import * as receive from "./updates/receive.ts";

/**
 * An effect: named work that settles exactly once with an input event. The machine declares it, the runtime provides it.
 * It may be sent `abort`, upon which it settles soon.
 */
export interface Slot<TInput> extends CallbackActorLogic<EventObject, TInput> {}
const slot = <TInput>(name: string): Slot<TInput> =>
  fromCallback<EventObject, TInput>(() => {
    throw new Error(`effect ${name} is not provided: use sessionMachine.provide({ actors: { ${name}: … } })`);
  });

const phase = (what: "started" | "ended", name: Phase) =>
  emit<SessionContext, any, undefined, any, Announcement>({ type: `phase.${what}`, phase: name });

/** Every effect gets the session's id, and what else it needs from the context. */
export type EffectInput = { id: string };

export const sessionSetup = setup({
  types: {
    context: {} as SessionContext,
    events: {} as Taken<InputEvent>,
    emitted: {} as Announcement,
    input: {} as SessionInput,
  },
  actors: {
    reviewInputs: slot<EffectInput & { ids: readonly string[] }>("reviewInputs"),
    reviewStop: slot<EffectInput & { mayRepair: boolean; maySendOn: boolean }>("reviewStop"),
    elideResults: slot<EffectInput & { room: Room }>("elideResults"),
    summarize: slot<EffectInput & { room: Room }>("summarize"),
    discard: slot<EffectInput & { room: Room }>("discard"),
    prepareRequest: slot<EffectInput>("prepareRequest"),
    callModel: slot<EffectInput & { turn: number; attempt: number; prefer: string | null }>("callModel"),
    reviewCalls: slot<EffectInput & { answer: number }>("reviewCalls"),
    askApproval: slot<EffectInput & { calls: readonly Call[] }>("askApproval"),
    runTool: slot<EffectInput & { call: Call }>("runTool"),
    sleep: slot<EffectInput & { timer: string; ms: number }>("sleep"),
  },
  /** Every update is an action by its own name. */
  actions: {
    ...actionsOf({ ...receive, ...compact, ...reason, ...act }),
    startCompact: phase("started", "compact"),
    endCompact: phase("ended", "compact"),
    startReason: phase("started", "reason"),
    endReason: phase("ended", "reason"),
    startAct: phase("started", "act"),
    endAct: phase("ended", "act"),
    abortRequest: sendTo("callModel", { type: "abort" }),
  },
  guards,
});

/**
 * How a state is left early: by cancel, by closing, or because the journal cannot be written. `deciding` then ends the
 * run; anything open is settled on the way.
 */
export const leavesTo = <const T extends string>(target: T) =>
  ({
    "cancel.requested": { guard: "concernsThisRun", target, actions: "cancelRun" },
    "close.requested": { target, actions: "closeSession" },
    "store.failed": { target, actions: "failStore" },
  }) as const;

/** The one shape of everything the machine does in a transition, and how XState carries it out. */
import { enqueueActions } from "xstate";
import type { Call } from "../../src/core/batch.ts";
import type { InputEvent, LiveEvent, OutputEvent, Taken } from "../../src/core/event.ts";
import type { SessionContext } from "./context.ts";

/** What the machine tells the outside: records, and the phase events derived from its states. */
export type Announcement = OutputEvent | Extract<LiveEvent, { phase: unknown }>;

/** What changes, what is announced, in this order, and which tools are let go, asked to stop, or started. */
export type Change = {
  set?: Partial<SessionContext>;
  announce?: readonly Announcement[];
  stop?: readonly Call[];
  abort?: readonly Call[];
  start?: readonly Call[];
};

/**
 * A pure decision: what an event does to a context. Entry and exit updates get the event that led there, which may be of
 * any type.
 */
export type Update<E extends InputEvent = InputEvent> = (context: SessionContext, event: Taken<E>) => Change;

/** A running tool's actor. */
export const toolActor = (call: Call): string => `tool.${call.callId}`;

/** Makes an action of an update: one assign, then announcements, then effects. */
const carryOut = (update: Update<any>) =>
  enqueueActions<SessionContext, any, undefined, any, any, any, any, never, any>(({ context, event, enqueue }) => {
    const change = update(context, event);
    if (change.set) enqueue.assign(change.set);
    if (change.announce) for (const announcement of change.announce) enqueue.emit(announcement);
    if (change.stop) for (const call of change.stop) enqueue.stopChild(toolActor(call));
    if (change.abort) for (const call of change.abort) enqueue.sendTo(toolActor(call), { type: "abort" });
    if (change.start)
      for (const call of change.start)
        enqueue.spawnChild("runTool", { id: toolActor(call), input: { id: context.id, call } });
  });

/** Makes actions of updates, each under its own name. */
export const actionsOf = <T extends { [name: string]: Update<any> }>(updates: T) =>
  Object.fromEntries(Object.entries(updates).map(([name, update]) => [name, carryOut(update)])) as {
    [K in keyof T]: ReturnType<typeof carryOut>;
  };

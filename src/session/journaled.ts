/**
 * The one place where inputs enter a journal: a decorator around the machine that records each event as the machine
 * takes it. One decorated machine serves every session of the process; a session is found by its actor system.
 */
import type { ActorSystem } from "xstate";
import { sessionMachine } from "../../machines/session/index.ts";
import { effects } from "../effects/index.ts";
import type { InputEvent } from "../core/event.ts";
import type { Journal } from "./journal.ts";

/** The journal of each live session. */
export const journals = new WeakMap<ActorSystem<any>, Journal>();

type Machine = typeof sessionMachine;

function journaled(machine: Machine): Machine {
  const transition: Machine["transition"] = (snapshot, event, scope) => {
    const journal = isInput(event) ? journals.get(scope.system) : undefined;
    return machine.transition.call(decorated, snapshot, journal ? journal.take(event) : event, scope);
  };
  const decorated: Machine = Object.create(machine, { transition: { value: transition } });
  return decorated;
}

/** XState's own events (`xstate.init`, actor errors) are not facts of a session. */
const isInput = (event: { type: string }): event is InputEvent & { seq: number } => !event.type.startsWith("xstate.");

/** The machine with its effects, journaled. Made once: providing effects costs more than a turn. */
export const liveMachine: Machine = journaled(sessionMachine.provide({ actors: effects }));

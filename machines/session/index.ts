/** The session machine: Receive → Compact → Reason → Act → Receive. */
import { act } from "./act.ts";
import { compact } from "./compact.ts";
import { initialContext } from "./context.ts";
import { reason } from "./reason.ts";
import { receive } from "./receive.ts";
import { sessionSetup } from "./setup.ts";

/**
 * Decides everything a session does, and does nothing itself: provide its effects to run it, or feed it to `transition()`
 * to fold a journal. It is fed input events and emits output events.
 */
export const sessionMachine = sessionSetup.createMachine({
  id: "session",
  context: ({ input }) => initialContext(input),
  initial: "receive",
  options: { maxIterations: 1000 },
  on: {
    // Facts that hold in every state.
    "input.received": { actions: "queueInput" },
    "input.withdrawn": { actions: "withdrawInput" },
    "task.opened": { actions: "openTask" },
    "task.settled": { actions: "settleTask" },
    "mode.changed": { actions: "changeMode" },
    "approval.settled": { actions: "takeDecisions" },
    "session.resumed": { target: ".recovering", actions: "recover" },
  },
  states: {
    receive,
    compact,
    reason,
    act,
    /** The journal was opened again. Nothing starts by itself. */
    recovering: { always: { target: "#session.receive.deciding" } },
    /** Final, and reached only from `receive`. */
    closed: { type: "final", entry: "announceClosed" },
  },
});

export type SessionMachine = typeof sessionMachine;
export type { SessionContext, SessionInput } from "./context.ts";
export type { Draft } from "../../src/core/draft.ts";
export type { Ending, Run } from "../../src/core/run.ts";
export type { Announcement } from "./change.ts";

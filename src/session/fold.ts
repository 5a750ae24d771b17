/** Opens a journal: everything a session is, from its records alone. Starts nothing. */
import { createActor, fromCallback, type SnapshotFrom } from "xstate";
import { sessionMachine, type SessionContext } from "../../machines/session/index.ts";
import type { JournalRecord, OutputEvent } from "../core/event.ts";
import { invariant } from "../core/errors.ts";
import { Transcript } from "../core/transcript.ts";
import { Ledger } from "./ledger.ts";

const inert = fromCallback<any, any>(() => {});
/** The machine with its effects off: it decides, and nothing happens. */
export const inertMachine = sessionMachine.provide({
  actors: Object.fromEntries(Object.keys(sessionMachine.implementations.actors).map((name) => [name, inert])) as never,
});

/** The machine at rest with this context: where a session begins, again or for the first time. */
export const atRest = (machine: typeof sessionMachine, context: SessionContext): SnapshotFrom<typeof sessionMachine> =>
  machine.resolveState({ value: { receive: "idle" }, context }) as SnapshotFrom<typeof sessionMachine>;

/** A fold of records into transcript, ledger and machine state; linear, and the same live as from a file. */
export class SessionFold {
  readonly transcript = new Transcript();
  readonly ledger = new Ledger();
  head = 0;
  /** What the machine announces while it folds, for those who compare. */
  onAnnounce: ((event: OutputEvent) => void) | null = null;
  #actor: ReturnType<typeof createActor<typeof sessionMachine>> | null = null;

  append(record: JournalRecord): void {
    this.head = record.seq;
    this.transcript.append(record);
    this.ledger.append(record);
    if (record.type === "session.opened") {
      this.#begin(createActor(inertMachine, { input: { id: record.id, config: record.config } }));
      return;
    }
    if (record.dir !== "in") return;
    invariant(this.#actor, "a journal begins with session.opened");
    if (record.type === "session.resumed" && this.#actor.getSnapshot().status !== "active") {
      const snapshot = atRest(inertMachine, this.#actor.getSnapshot().context);
      this.#begin(createActor(inertMachine, { snapshot, input: undefined as never }));
    }
    this.#actor.send(record as never);
  }

  #begin(actor: ReturnType<typeof createActor<typeof sessionMachine>>): void {
    this.#actor?.stop();
    this.#actor = actor;
    actor.on("*", (event) => {
      if (!event.type.startsWith("phase.")) this.onAnnounce?.(event as OutputEvent);
    });
    actor.start();
  }

  /** The machine's memory after the last record. */
  get context(): SessionContext {
    invariant(this.#actor, "a journal begins with session.opened");
    return this.#actor.getSnapshot().context;
  }

  get state(): unknown {
    return this.#actor?.getSnapshot().value;
  }

  stop(): void {
    this.#actor?.stop();
  }
}

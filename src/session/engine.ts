/** One live session: machine, journal, transcript and lease, and everything its effects need. */
import { createActor, type Actor } from "xstate";
import type { sessionMachine, SessionContext } from "../../machines/session/index.ts";
import { AgentError } from "../core/errors.ts";
import type { InputEvent, InputOf, LiveEvent, OutputEvent } from "../core/event.ts";
import { mapContent } from "../core/media.ts";
import type { ContentPart } from "../core/message.ts";
import { Transcript } from "../core/transcript.ts";
import { hosts, messageOf } from "../effects/effect.ts";
import { gatherTools, type Catalogue } from "../effects/catalogue.ts";
import type { Host, LiveRun } from "../effects/host.ts";
import type { HookContext } from "../middleware/middleware.ts";
import type { Lease, SessionStatus, Signal, ToolContext, ToolDefinition } from "../ports.ts";
import type { Parts } from "./agent.ts";
import { atRest, SessionFold } from "./fold.ts";
import { Journal } from "./journal.ts";
import { journals, liveMachine } from "./journaled.ts";
import { Ledger } from "./ledger.ts";
import { driftOf } from "./drift.ts";
import { Media } from "./media.ts";
import { observing } from "./observing.ts";
import { Shared } from "./shared.ts";
import { takeSignals } from "./signals.ts";
import { asAgentError } from "./store-errors.ts";
import { toolSession } from "./tool-session.ts";

type SessionActor = Actor<typeof sessionMachine>;

/** What a session was opened with, and what of it lives only in this process. */
export type Opened = { id: string; instructions: string; workspace: string | undefined; context: unknown };

export class Engine extends Shared implements Host {
  readonly id: string;
  readonly instructions: string;
  readonly workspace: string | undefined;
  readonly context: unknown;
  transcript = new Transcript();
  ledger = new Ledger();
  journal: Journal;
  pinned: Host["pinned"];
  run: LiveRun;
  /** Called for each record the machine announces, after it was recorded. */
  onAnnounce: (event: OutputEvent) => void = () => {};
  actor: SessionActor | null = null;
  #folded: SessionContext | null = null;
  #holders = 0;
  #acquiring: Promise<void> | null = null;
  #dropping: Promise<void> | null = null;
  #runTools: { [name: string]: ToolDefinition } | undefined;
  #catalogue: Catalogue | null = null;
  readonly toolSession: ToolContext["session"];
  readonly media = new Media(this);

  constructor(parts: Parts, opened: Opened) {
    super(parts);
    this.id = opened.id;
    this.instructions = opened.instructions;
    this.workspace = opened.workspace;
    this.context = opened.context;
    this.journal = this.#newJournal();
    this.run = this.idleRun();
    this.pinned = { catalogue: this.catalogue(), contributions: "" };
    this.toolSession = toolSession(this);
  }

  get answer() {
    return this.ledger.run?.text ?? "";
  }
  get summaryModel() {
    return this.parts.summaryModel ?? this.run.model;
  }
  #newJournal(): Journal {
    const journal = new Journal(
      this.id,
      this.parts.store,
      this.parts.clock,
      [this.transcript, this.ledger],
      this.journal?.feed,
    );
    journal.onBroken = (error) =>
      this.send({ type: "store.failed", message: error.message, ...(error.code === "Fenced" ? { fenced: true } : {}) });
    journal.onIdleNote = (event) => void this.whileHeld(async () => journal.note(event)).catch(() => {});
    return journal;
  }

  /** What side work between runs uses. */
  idleRun(): LiveRun {
    const { model, settings } = this.parts;
    return {
      id: "",
      approve: undefined,
      unanswered: "deny",
      model,
      settings,
      output: undefined,
      context: this.context,
    };
  }

  /** Tools of this run are added from its next request on. */
  useTools(tools: typeof this.parts.tools | undefined): void {
    this.#runTools = tools;
    this.#catalogue = null;
  }

  /** Made once per run; again each time when a middleware decides its tools anew. */
  catalogue(): Catalogue {
    if (this.#catalogue && !this.parts.dynamicTools) return this.#catalogue;
    const { tools, chain } = this.parts;
    const made = gatherTools({ agent: tools, chain, run: this.#runTools, sessionId: this.id });
    if (this.#catalogue?.hash === made.hash) return this.#catalogue;
    return (this.#catalogue = made);
  }

  hookContext(signal: AbortSignal): HookContext {
    const { id, workspace } = this;
    const session = { id, workspace, mode: this.state.mode };
    return { session, runId: this.run.id || undefined, signal, context: this.run.context };
  }

  /** The machine's memory, live or as folded. */
  get state(): SessionContext {
    if (this.actor) return this.actor.getSnapshot().context;
    if (this.#folded) return this.#folded;
    throw new AgentError("closed", `Session ${this.id} is not open.`);
  }

  /** The machine's state as a path, such as `reason.requesting`. */
  get path(): string {
    const value = this.actor ? this.actor.getSnapshot().value : { receive: "idle" };
    if (typeof value === "string") return value;
    const [[phase, inner]] = Object.entries(value) as [[string, string]];
    return `${phase}.${inner}`;
  }

  get isIdle(): boolean {
    return this.path === "receive.idle";
  }

  /* ------------------------------------------------------------ beginning */

  /** A new session. Its first record is written before it is handed out. */
  async open(event: InputOf<"session.opened">, history?: InputOf<"history.imported">): Promise<void> {
    const { store, clock } = this.parts;
    await store.create(this.id, { at: clock.now(), agent: this.parts.name });
    this.#holders = 1;
    this.journal.lease = await store.acquire(this.id, this.parts.owner, "if-free");
    this.journal.take(event);
    this.#start(createActor(liveMachine, { ...observing(this.parts), input: { id: this.id, config: event.config } }));
    const keep = (part: ContentPart) => this.media.keep([part])[0]!;
    if (history) this.send({ ...history, messages: history.messages.map((m) => mapContent(m, keep)) });
    try {
      await this.#flushOrThrow();
    } finally {
      await this.drop();
    }
  }

  /** Folds the journal; starts nothing, holds no lease. */
  async load(fold: SessionFold): Promise<void> {
    this.transcript = fold.transcript;
    this.ledger = fold.ledger;
    this.journal = this.#newJournal();
    const { run, draft } = fold.context;
    this.journal.goOn({ head: fold.head, run: run?.id, turn: draft?.turn ?? 0, attempt: draft?.attempt ?? 0 });
    this.#folded = { ...fold.context, run: run && { ...run, parked: true } };
    fold.stop();
    this.actor?.stop();
    this.actor = null;
  }

  #start(actor: SessionActor): void {
    this.actor = actor;
    hosts.set(actor.system, this);
    journals.set(actor.system, this.journal);
    actor.on("*", (event) => {
      if (event.type === "phase.started" || event.type === "phase.ended") return this.journal.live(event as LiveEvent);
      this.journal.announce(event as OutputEvent);
      this.onAnnounce(event as OutputEvent);
    });
    actor.subscribe({ error: (error) => this.logger.warn(`Session ${this.id} failed: ${String(error)}`) });
    actor.start();
  }

  /* ------------------------------------------------------------ the lease */

  /**
   * Takes the lease, catches up with what other processes wrote, and wakes the machine. Several may hold at once; the
   * lease goes with the last `drop`. @throws AgentError `busy`, and whatever keeps the journal from being opened
   */
  async hold(): Promise<void> {
    if (this.path === "closed") throw new AgentError("closed", `Session ${this.id} is closed.`);
    this.#holders++;
    try {
      await this.#dropping;
      if (!this.journal.lease) await (this.#acquiring ??= this.#acquire().finally(() => (this.#acquiring = null)));
    } catch (error) {
      this.#holders--;
      throw asAgentError(error, this.id);
    }
  }

  async #acquire(): Promise<void> {
    const lease = await this.parts.store.acquire(this.id, this.parts.owner, "if-free");
    try {
      if (lease.head !== this.journal.head - this.journal.backlog) await this.load(await this.parts.fold(this.id));
      this.journal.lease = lease;
      if (!this.actor) this.#resume();
      await this.journal.retry();
      await this.takeSignals();
    } catch (error) {
      this.journal.lease = null;
      await this.#release(lease, this.#status());
      throw error;
    }
  }

  #resume(): void {
    const snapshot = atRest(liveMachine, this.state);
    this.#start(createActor(liveMachine, { ...observing(this.parts), snapshot, input: undefined as never }));
    this.#folded = null;
    this.pinned = { catalogue: this.catalogue(), contributions: "" };
    const drift = driftOf(this.ledger, { tools: this.pinned.catalogue.names, instructions: this.parts.instructions });
    this.send({ type: "session.resumed", config: this.parts.config, drift });
  }

  /** Gives up one hold; the last one gives the lease back, with the status the session has then. */
  async drop(): Promise<void> {
    // What came since the last flush goes with the lease that it was written under.
    if (this.#holders === 1 && this.journal.lease && this.journal.backlog && !this.journal.broken)
      await this.journal.flush();
    this.#holders--;
    const { lease } = this.journal;
    if (this.#holders > 0 || !lease) return;
    this.journal.lease = null;
    const status = this.#status();
    this.#dropping = this.#release(lease, status);
    await this.#dropping;
    this.#dropping = null;
  }

  /** As the store should know it: a journal that lacks its end is that of a run that was cut. */
  #status(): SessionStatus {
    if (this.journal.backlog) return "interrupted";
    return this.path === "closed" ? "closed" : this.state.run ? "suspended" : "idle";
  }

  async #release(lease: Lease, status: SessionStatus): Promise<void> {
    try {
      await this.parts.store.release(lease, { status });
    } catch (error) {
      this.logger.warn(`The lease of ${this.id} could not be released: ${messageOf(error)}`);
    }
  }

  /** Does something that writes, beside a run or without one; durable when it resolves. */
  async whileHeld(work: () => Promise<void> | void): Promise<void> {
    await this.hold();
    try {
      await work();
      await this.#flushOrThrow();
    } finally {
      await this.drop();
    }
  }

  async #flushOrThrow(): Promise<void> {
    if (await this.journal.flush()) return;
    throw asAgentError(this.journal.broken, this.id);
  }

  /* ------------------------------------------------------------ feeding */

  /** Feeds the machine; ignored before it lives and after it closed. */
  send(event: InputEvent): void {
    if (this.actor?.getSnapshot().status === "active") this.actor.send(event as never);
  }

  /** Feeds the machine what others left in the store. */
  takeSignals(): Promise<readonly Signal[]> {
    return takeSignals(this);
  }
}

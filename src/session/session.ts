/** A conversation as its host holds it. */
import type { Observer } from "xstate";
import { asked, requestOf } from "../core/batch.ts";
import type { ApprovalRequest, Decision } from "../core/call.ts";
import { AgentError } from "../core/errors.ts";
import { inputEvents, type InputEvent, type SessionEvent } from "../core/event.ts";
import { tokensOf } from "../core/pressure.ts";
import { isJson, type ContentPart, type Json, type Message } from "../core/message.ts";
import { messageOf } from "../effects/effect.ts";
import { checkDecisions, feedDecisions, leaveDecisions, type DecideResult } from "./approvals.ts";
import { Driver } from "./driver.ts";
import type { Engine } from "./engine.ts";
import type { UsageReport } from "./ledger.ts";
import { promptsOf, type Input, type RunOptions } from "./options.ts";
import type { Run } from "./run.ts";
import { compactabilityOf, compactNow, titleOf, type Compactability } from "./side-work.ts";
import { stateOf, whyOf, type SessionState } from "./standing.ts";
import type { ArgsOf, ToolInput } from "../tool-input.ts";
import { notify, withdraw } from "./tool-session.ts";

/** A steering input that was accepted; it is not durable yet. */
export type Receipt = { id: string; status: "queued" };

/** Events that only make sense with what a method does around them. */
const notFromOutside = {
  "session.opened": "use agent.createSession()",
  "session.resumed": "use agent.resumeSession()",
  "run.requested": "use session.run() or session.continue()",
  "compaction.requested": "use session.compact()",
  "close.requested": "use session.close()",
} as const;

export class Session {
  readonly id: string;
  readonly #engine: Engine;
  readonly #driver: Driver;
  #compacting: Promise<unknown> | null = null;
  #closed: Promise<void> | null = null;

  /** Sessions are made by an agent: `createSession`, `openSession`, `resumeSession`. */
  constructor(engine: Engine, autorun: RunOptions | undefined) {
    this.id = engine.id;
    this.#engine = engine;
    this.#driver = new Driver(engine, autorun, (mayCompact) => this.#refusal(mayCompact));
  }

  #refusal(mayCompact = false): AgentError | null {
    const { active } = this.#driver;
    const because = (code: "closed" | "busy", message: string) => new AgentError(code, `Session ${this.id} ${message}`);
    if (this.#closed) return because("closed", "is closed. Open it again with agent.openSession().");
    if (active && !active.finishing)
      return because("busy", `is running ${active.handle.id}. Await its result, steer() it or cancel() it.`);
    if (this.#compacting && !mayCompact) return because("busy", "is compacting. Await compact(), or use send().");
    return null;
  }

  /**
   * Starts a run. Never throws: a caller's mistake rejects `result`. One run at a time: a second one, or one during a
   * compaction, is `busy`. Empty input adds nothing to the conversation.
   */
  run<S extends ToolInput>(input: Input, options: RunOptions & { output: S }): Run<ArgsOf<S>>;
  run(input: Input, options?: RunOptions): Run;
  run(input: Input, options?: RunOptions): Run {
    return this.#driver.begin(options, () => this.#promptsOf(input));
  }

  #promptsOf(input: Input): InputEvent[] {
    const { ids, media } = this.#engine;
    return promptsOf(input).map((parts) => {
      const id = ids.next("in");
      return { type: "input.received", id, kind: "prompt", parts: media.keep(parts) };
    });
  }

  /**
   * Goes on from what is there: after a limit, a suspension, an error, a crash, or with what waits in the inbox. With
   * nothing to go on with, the run completes without a model call.
   */
  continue<S extends ToolInput>(options: RunOptions & { output: S }): Run<ArgsOf<S>>;
  continue(options?: RunOptions): Run;
  continue(options?: RunOptions): Run {
    return this.#driver.begin(options, "continue");
  }

  /** Queues an input for the active run. False when nothing runs, or nothing can be taken now. */
  steer(input: Input): Receipt | false {
    if (!this.#driver.active || this.#closed || !this.#maySteer()) return false;
    const parts = this.#engine.media.keep(promptsOf(input).flat());
    const id = this.#engine.ids.next("in");
    if (parts.length) this.#driver.feed({ type: "input.received", id, kind: "prompt", parts, steering: true });
    return { id, status: "queued" };
  }

  #maySteer(): boolean {
    const { state, path } = this.#engine;
    if (this.#driver.active?.early) return true;
    if (path === "receive.idle" || state.ending || state.inbox.length >= state.config.limits.inbox) return false;
    return !(path === "act.approving" && state.run?.options.approvals.onSteer === "reject");
  }

  /** Takes a queued input back. False when it is in the transcript already, or unknown. */
  unsteer(id: string): boolean {
    if (this.#driver.takeBack(id)) return true;
    if (this.#closed || !this.#engine.state.inbox.some((i) => i.id === id)) return false;
    withdraw(this.#engine, id);
    return true;
  }

  /** Steers when a run is active, runs when idle, waits for a compaction: in one step. */
  send(input: Input, options?: RunOptions): Run | Receipt {
    const receipt = this.steer(input);
    return receipt || this.#driver.begin(options, () => this.#promptsOf(input), this.#compacting ?? undefined);
  }

  /** Tells the model something at its next turn; `defer` also wakes the session. */
  notify(input: { kind: "defer" | "info"; text: string }): void {
    notify(this.#engine, input);
  }

  /** Asks the active or parked run to end. Another run's id has no effect, nor has a second cancel. */
  cancel(options: { runId?: string; reason?: string; clearInbox?: boolean } = {}): Promise<void> {
    return this.#driver.cancel(options);
  }

  /** Approvals that wait for a decision. */
  pending(): ApprovalRequest[] {
    return asked(this.#engine.state.draft?.calls ?? []).map(requestOf);
  }

  /**
   * Answers open approvals by call id, some now and some later. A suspended run goes on once its last ask is decided;
   * `continue()` gives its handle. Idempotent: a second decision on a call changes nothing.
   */
  async decide(decisions: Decision[]): Promise<DecideResult> {
    const checked = checkDecisions(decisions);
    const engine = this.#engine;
    let result!: DecideResult;
    try {
      await engine.whileHeld(async () => {
        result = await feedDecisions(engine, checked);
        await engine.journal.flush();
      });
    } catch (error) {
      if (error instanceof AgentError && error.code === "busy") return leaveDecisions(engine, checked);
      throw error;
    }
    const decided = result.accepted.length + result.alreadyDecided.length > 0;
    if (decided && engine.state.run?.parked && !this.pending().length) this.#driver.goOnSoon();
    return result;
  }

  /** Whether `compact` would do anything now. */
  compactability(options: { mode?: "summarize" | "discard" } = {}): Compactability {
    return this.#driver.active || this.#compacting ? "busy" : compactabilityOf(this.#engine, options.mode);
  }

  /** Compacts now. A compaction that fails says why and changes nothing. @throws AgentError `busy`, `closed` */
  async compact(
    options: { mode?: "summarize" | "discard" } = {},
  ): Promise<{ status: Compactability | "failed"; message?: string }> {
    const refusal = this.#refusal();
    if (refusal) throw refusal;
    const status = this.compactability(options);
    if (status !== "ok") return { status };
    const work = compactNow(this.#engine, options.mode);
    this.#compacting = work;
    try {
      return await work;
    } finally {
      this.#compacting = null;
    }
  }

  /** Asks the model for a short title; the request is not part of the conversation. @throws Error when there is none */
  async generateTitle(): Promise<string> {
    if (this.#closed) throw this.#refusal()!;
    return titleOf(this.#engine);
  }

  get title(): string | undefined {
    return this.#engine.ledger.title;
  }

  /** Working memory that is written to the journal: JSON values by key; setting `null` removes one. */
  readonly memory = {
    get: (key: string): Json | undefined => this.#engine.ledger.memory[key],
    entries: (): [string, Json][] => Object.entries(this.#engine.ledger.memory),
    set: async (key: string, value: Json): Promise<void> => {
      if (typeof key !== "string" || !isJson(value))
        throw new AgentError("invalid_options", `memory.set(${JSON.stringify(String(key))}): the value is not JSON`);
      await this.#engine.whileHeld(() => this.#engine.send({ type: "memory.updated", key, value }));
    },
  };

  get state(): SessionState {
    return this.#closed ? "closed" : stateOf(this.#engine, this.#driver.active !== null || this.#driver.soon);
  }

  /** The machine's state, such as `reason.requesting`. */
  get stateValue(): string {
    return this.#engine.path;
  }

  /** What the session waits for, in a sentence. */
  why(): string {
    return whyOf(this.#engine, this.state);
  }

  /** The whole conversation, uncompacted. */
  messages(): Message[] {
    return this.#engine.transcript.messages();
  }

  /** What the model is shown. */
  view(): Message[] {
    return [...this.#engine.transcript.view];
  }

  /** The bytes of an image, file or sound of a message. @throws StoreError `NotFound` when its file is gone */
  mediaBytes(part: ContentPart): Promise<Uint8Array> {
    return this.#engine.media.bytes(part);
  }

  /**
   * How full the model's context is: tokens of the next request as far as they are known (the provider's count of the
   * last one plus estimated growth, else an estimate of everything), the window, and their ratio. Changes nothing.
   */
  pressure(): { tokens: number; window: number; share: number } {
    const { pressure, config } = this.#engine.state;
    const tokens = tokensOf(pressure);
    const { window } = config.compaction;
    return { tokens, window, share: tokens / window };
  }

  usage(): UsageReport {
    return structuredClone(this.#engine.ledger.usage);
  }

  /** Records from `from` on (1 is the first), then those to come, until the session closes. Reading changes nothing. */
  events(
    options: { from?: number; partials?: boolean; signal?: AbortSignal } = {},
  ): AsyncGenerator<SessionEvent, void, void> {
    const { from = 1, partials = false, signal } = options;
    return this.#engine.journal.feed.read({ after: from - 1, partials, signal });
  }

  /** The actor, safely: `send` parses and journals an input; watching is the real thing. */
  readonly actor = {
    send: async (event: InputEvent): Promise<void> => {
      const type = event?.type;
      const instead = notFromOutside[type as keyof typeof notFromOutside];
      if (instead) throw new AgentError("invalid_options", `actor.send: ${type} is the runtime's to say; ${instead}`);
      if (!inputEvents[type]?.safeParse(event).success)
        throw new AgentError("invalid_options", `actor.send: ${String(type)} is not an input event of this shape`);
      await this.#engine.whileHeld(() => this.#engine.send(event));
    },
    subscribe: (observer: Observer<unknown>) => this.#engine.actor?.subscribe(observer),
    getSnapshot: () => this.#engine.actor?.getSnapshot(),
    getPersistedSnapshot: () => this.#engine.actor?.getPersistedSnapshot(),
  };

  /** Cancels what runs, writes the last record, and lets go of everything. The journal stays. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const engine = this.#engine;
    const { active } = this.#driver;
    try {
      await this.#compacting?.catch(() => {});
      if (active && !active.finishing) {
        this.#driver.feed({ type: "close.requested" });
        await active.handle.result;
      }
      await this.#driver.active?.finishing;
      if (engine.path !== "closed") await engine.whileHeld(() => engine.send({ type: "close.requested" }));
    } catch (error) {
      engine.logger.warn(`Closing ${this.id} was not recorded: ${messageOf(error)}`);
    }
    engine.journal.feed.end();
    engine.actor?.stop();
  }
}

export type { DecideResult, Compactability, SessionState };

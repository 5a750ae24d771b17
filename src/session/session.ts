/** A conversation as its host holds it. */
import type { Observer } from "xstate";
import { asked, requestOf } from "../core/batch.ts";
import { decision as decisionSchema, type ApprovalRequest, type Decision, type SettledDecision } from "../core/call.ts";
import { AgentError } from "../core/errors.ts";
import { inputEvents, type InputEvent, type OutputEvent, type SessionEvent } from "../core/event.ts";
import { text, type ContentPart, type Json, type Message } from "../core/message.ts";
import { settleDecisions } from "../effects/ask-approval.ts";
import { messageOf } from "../effects/effect.ts";
import { sideRequest } from "../effects/side-request.ts";
import { asAgentError, type Engine } from "./engine.ts";
import { checkRun, promptsOf, type Input, type RunOptions } from "./options.ts";
import { isEndOf, RunHandle, type Run, type RunResult } from "./run.ts";
import { liveRunOf, machineOptionsOf, resultOf } from "./run-options.ts";
import type { UsageReport } from "./ledger.ts";

/** What a session is doing. `suspended`: a run lies open, waiting for a decision or for `continue()`. */
export type SessionState = "idle" | "running" | "waiting" | "awaiting_approval" | "suspended" | "closed";

/** A steering input that was accepted; it is not durable yet. */
export type Receipt = { id: string; status: "queued" };
export type DecideResult = { accepted: string[]; unknown: string[]; alreadyDecided: string[] };
export type Compactability = "ok" | "unsupported" | "empty" | "just_compacted" | "busy";

type Active = { handle: RunHandle; options: RunOptions; internal: boolean; early: InputEvent[] | null };

export class Session {
  readonly id: string;
  readonly #engine: Engine;
  readonly #autorun: RunOptions | undefined;
  #active: Active | null = null;
  #compacting: Promise<unknown> | null = null;
  #closed: Promise<void> | null = null;
  #hinted = false;

  /** Sessions are made by an agent: `createSession`, `openSession`, `resumeSession`. */
  constructor(engine: Engine, autorun: RunOptions | undefined) {
    this.id = engine.id;
    this.#engine = engine;
    this.#autorun = autorun;
    engine.onAnnounce = (event) => this.#hear(event);
  }

  /* ------------------------------------------------------------ runs */

  /**
   * Starts a run. Never throws: a caller's mistake rejects `result`. One run at a time: a second one, or one during a
   * compaction, is `busy`.
   */
  run(input: Input, options?: RunOptions): Run {
    return this.#begin(options, false, () => {
      const prompts = promptsOf(input).map((parts) => ({ id: this.#engine.ids.next("in"), parts }));
      return prompts.map(({ id, parts }): InputEvent => ({ type: "input.received", id, kind: "prompt", parts }));
    });
  }

  /**
   * Goes on from what is there: after a limit, a suspension, an error, a crash, or with what waits in the inbox. With
   * nothing to go on with, the run completes without a model call.
   */
  continue(options?: RunOptions): Run {
    if (this.#active?.internal) {
      this.#active.internal = false;
      return this.#active.handle;
    }
    return this.#begin(options, true, () => []);
  }

  #begin(options: RunOptions | undefined, continued: boolean, inputs: () => InputEvent[]): Run {
    const open = continued && !this.#closed ? this.#engine.state.run : null;
    const handle = new RunHandle(open?.id ?? this.#engine.ids.next("run"), {
      events: (runId, signal) => this.#eventsOf(runId, signal),
      cancel: (runId, reason) => void this.cancel({ runId, ...(reason === undefined ? {} : { reason }) }),
    });
    try {
      const refusal = this.#refusal();
      if (refusal) throw refusal;
      const checked = { ...this.#engine.parts.defaults, ...checkRun(options) };
      const events = inputs();
      this.#active = { handle, options: checked, internal: false, early: [] };
      void this.#drive(this.#active, events, continued);
    } catch (error) {
      handle.refuse(error);
    }
    return handle;
  }

  #refusal(): AgentError | null {
    if (this.#closed)
      return new AgentError(
        "closed",
        `Session ${this.id} is closed. Open it again with agent.openSession("${this.id}").`,
      );
    if (this.#active)
      return new AgentError(
        "busy",
        `Session ${this.id} is running ${this.#active.handle.id}. Await its result, steer() it, or cancel() it.`,
      );
    if (this.#compacting)
      return new AgentError("busy", `Session ${this.id} is compacting. Await compact(), or use send().`);
    return null;
  }

  async #drive(active: Active, inputs: InputEvent[], continued: boolean): Promise<void> {
    const engine = this.#engine;
    const { handle, options } = active;
    try {
      await engine.acquire();
      engine.run = liveRunOf(engine.parts, handle.id, options, engine.context);
      engine.useTools(options.tools);
    } catch (error) {
      this.#active = null;
      await engine.release("idle");
      return handle.refuse(asAgentError(error, this.id));
    }
    for (const event of inputs) engine.send(event);
    const { signal } = options;
    const ids = inputs.flatMap((e) => (e.type === "input.received" ? [e.id] : []));
    engine.send({
      type: "run.requested",
      runId: handle.id,
      options: machineOptionsOf(engine.parts, options, engine.state.run?.options),
      ...(ids.length ? { inputs: ids } : {}),
      ...(continued ? { continued } : {}),
      ...(signal?.aborted ? { cancelled: { reason: messageOf(signal.reason) } } : {}),
    });
    const early = active.early ?? [];
    active.early = null;
    for (const event of early) engine.send(event);
    if (signal && !signal.aborted) {
      const stop = () => void this.cancel({ runId: handle.id, reason: messageOf(signal.reason) });
      signal.addEventListener("abort", stop, { once: true });
      void handle.result.finally(() => signal.removeEventListener("abort", stop)).catch(() => {});
    }
  }

  /** The machine announced something: the end of the active run is what matters here. */
  #hear(event: OutputEvent): void {
    const active = this.#active;
    if (active && (event.type === "run.ended" || event.type === "run.suspended") && event.runId === active.handle.id)
      void this.#finish(active, event);
    else if (event.type === "wake.requested" && !active && this.#autorun) queueMicrotask(() => this.#wake());
    else if (event.type === "exchange.committed") this.#hint(event);
  }

  #hint(event: Extract<OutputEvent, { type: "exchange.committed" }>): void {
    if (this.#hinted || !event.results.some((r) => r.status === "denied" && r.text?.includes("Nobody is there")))
      return;
    this.#hinted = true;
    this.#engine.logger.warn(
      `A tool call was denied because nobody approves. Pass { approve } to run(), or mark the tool readOnly.`,
    );
  }

  #wake(): void {
    if (!this.#active && !this.#closed) void this.continue(this.#autorun).result.catch(() => {});
  }

  async #finish(active: Active, event: Extract<OutputEvent, { type: "run.ended" | "run.suspended" }>): Promise<void> {
    const engine = this.#engine;
    const result = resultOf(event, engine.ledger);
    // The announcement comes in the middle of a transition: first let the machine come to rest.
    await null;
    await engine.journal.finish();
    if (event.type === "run.ended") await this.#tellChain(event);
    await engine.release(event.type === "run.suspended" ? "suspended" : "idle");
    engine.useTools(undefined);
    engine.run = engine.idleRun();
    this.#active = null;
    active.handle.end(result);
    const woken = engine.state.inbox.some((i) => i.kind === "defer") && result.status === "completed";
    if (woken && this.#autorun) this.#wake();
  }

  async #tellChain(event: Extract<OutputEvent, { type: "run.ended" }>): Promise<void> {
    const { chain, journal, ledger } = this.#engine;
    for (const m of chain) {
      if (!m.onRunEnd) continue;
      try {
        const usage = ledger.run?.usage.total ?? {};
        await m.onRunEnd({ ...event, usage }, this.#engine.hookContext(new AbortController().signal));
      } catch (error) {
        journal.note({ type: "middleware.failed", middleware: m.name, hook: "onRunEnd", message: messageOf(error) });
      }
    }
    await journal.flush();
  }

  #eventsOf(runId: string, signal: AbortSignal): AsyncIterable<SessionEvent> {
    const after = this.#engine.journal.head - this.#engine.journal.backlog;
    const isLast = (event: SessionEvent) => isEndOf(runId, event);
    return this.#engine.journal.feed.read({ after: this.#startOf(runId) ?? after, partials: true, isLast, signal });
  }

  /** Where the events of a run begin, when it is under way or over. */
  #startOf(runId: string): number | undefined {
    return this.#engine.ledger.run?.id === runId ? this.#engine.ledger.run.after : undefined;
  }

  /* ------------------------------------------------------------ inputs */

  /** Queues an input for the active run. False when nothing runs, or nobody can take it now. */
  steer(input: Input): Receipt | false {
    const active = this.#active;
    if (!active || this.#closed || !this.#maySteer()) return false;
    const parts = promptsOf(input).flat();
    const id = this.#engine.ids.next("in");
    if (parts.length === 0) return { id, status: "queued" };
    const event: InputEvent = { type: "input.received", id, kind: "prompt", parts, steering: true };
    if (active.early) active.early.push(event);
    else this.#engine.send(event);
    return { id, status: "queued" };
  }

  #maySteer(): boolean {
    const { state, path } = this.#engine;
    if (this.#active?.early) return true;
    if (path === "receive.idle" || state.ending || state.inbox.length >= state.config.limits.inbox) return false;
    return !(path === "act.approving" && state.run?.options.approvals.onSteer === "reject");
  }

  /** Takes a queued input back. False when it is in the transcript already, or unknown. */
  unsteer(id: string): boolean {
    if (!this.#engine.state.inbox.some((i) => i.id === id)) return false;
    this.#engine.send({ type: "input.withdrawn", ids: [id] });
    return true;
  }

  /** Steers when a run is active, runs when idle, waits when compacting: in one step. */
  send(input: Input, options?: RunOptions): Run | Receipt {
    const receipt = this.steer(input);
    if (receipt) return receipt;
    if (!this.#compacting) return this.run(input, options);
    const handle = new RunHandle(this.#engine.ids.next("run"), {
      events: (_, signal) =>
        this.#engine.journal.feed.read({ after: this.#engine.journal.head, partials: true, signal }),
      cancel: () => {},
    });
    void this.#compacting.finally(() =>
      this.run(input, options).result.then(
        (result) => handle.end(result),
        (error: unknown) => handle.refuse(error),
      ),
    );
    return handle;
  }

  /** Tells the model something at its next turn; `defer` also wakes the session. */
  notify(input: { kind: "defer" | "info"; text: string }): void {
    this.#engine.receive(input.kind, input.text);
  }

  /** Asks the active or parked run to end. Another run's id has no effect, nor has a second cancel. */
  async cancel(options: { runId?: string; reason?: string; clearInbox?: boolean } = {}): Promise<void> {
    const { run, ending } = this.#engine.state;
    const event: InputEvent = { type: "cancel.requested", ...options };
    if (this.#active?.early && (options.runId ?? this.#active.handle.id) === this.#active.handle.id)
      return void this.#active.early.push(event);
    if (!run || ending || (options.runId !== undefined && options.runId !== run.id)) return;
    if (this.#active) return this.#engine.send(event);
    await this.#engine.whileHeld(() => this.#engine.send(event));
  }

  /* ------------------------------------------------------------ approvals */

  /** Approvals that wait for a decision. */
  pending(): ApprovalRequest[] {
    return asked(this.#engine.state.draft?.calls ?? []).map(requestOf);
  }

  /**
   * Answers open approvals, by call id, some now and some later. A suspended run goes on once its last ask is decided.
   * Idempotent: a second decision on a call changes nothing.
   */
  async decide(decisions: Decision[]): Promise<DecideResult> {
    const checked = decisionSchema.array().safeParse(decisions);
    if (!checked.success)
      throw new AgentError("invalid_options", `decide: ${checked.error.issues[0]?.message ?? "not decisions"}`);
    if (!this.#active) return this.#decideParked(checked.data);
    const { result, settled } = await this.#settle(checked.data);
    if (settled.length) this.#engine.send({ type: "approval.settled", decisions: settled });
    await this.#engine.journal.flush();
    return result;
  }

  async #decideParked(decisions: Decision[]): Promise<DecideResult> {
    let result!: DecideResult;
    try {
      await this.#engine.whileHeld(async () => {
        const settlement = await this.#settle(decisions);
        result = settlement.result;
        if (settlement.settled.length) this.#engine.send({ type: "approval.settled", decisions: settlement.settled });
      });
    } catch (error) {
      if (!(error instanceof AgentError) || error.code !== "busy") throw error;
      const { store } = this.#engine.parts;
      const key = `decide-${decisions.map((d) => `${d.callId}-${d.decision}`).join("-")}`;
      await store.signal(this.id, { key, type: "decide", payload: decisions as unknown as Json });
      return { accepted: decisions.map((d) => d.callId), unknown: [], alreadyDecided: [] };
    }
    const { run } = this.#engine.state;
    if (result.accepted.length && run?.parked && this.pending().length === 0) {
      void this.#begin(undefined, true, () => []);
      if (this.#active) (this.#active as Active).internal = true;
    }
    return result;
  }

  async #settle(decisions: Decision[]): Promise<{ result: DecideResult; settled: SettledDecision[] }> {
    const calls = this.#engine.state.draft?.calls ?? [];
    const open = asked(calls);
    const result: DecideResult = { accepted: [], unknown: [], alreadyDecided: [] };
    for (const { callId } of decisions) {
      if (open.some((call) => call.callId === callId)) result.accepted.push(callId);
      else if (calls.some((call) => call.callId === callId) || this.#isCommitted(callId))
        result.alreadyDecided.push(callId);
      else result.unknown.push(callId);
    }
    return { result, settled: await settleDecisions(this.#engine, open, decisions, "user") };
  }

  #isCommitted(callId: string): boolean {
    return this.#engine.transcript.entries.some(
      (e) => e.kind === "exchange" && e.results?.parts.some((p) => p.callId === callId),
    );
  }

  /* ------------------------------------------------------------ compaction, title, memory */

  compactability(): Compactability {
    if (this.#active || this.#compacting) return "busy";
    const { entries, directives } = this.#engine.transcript;
    if (entries.length === 0) return "empty";
    const last = directives.findLast((d) => d.kind !== "elide");
    return last && last.upTo >= entries.length - 1 ? "just_compacted" : "ok";
  }

  /** Compacts now. @throws AgentError `busy`; a compaction that fails is in the answer, and changes nothing. */
  async compact(
    options: { mode?: "summarize" | "discard" } = {},
  ): Promise<{ status: Compactability | "failed"; message?: string }> {
    const refusal = this.#refusal();
    if (refusal) throw refusal;
    const status = this.compactability();
    if (status !== "ok") return { status };
    const engine = this.#engine;
    const before = engine.transcript.directives.length;
    const work = engine.whileHeld(async () => {
      engine.send({ type: "compaction.requested", ...options });
      await this.#untilIdle();
    });
    this.#compacting = work;
    try {
      await work;
    } finally {
      this.#compacting = null;
    }
    if (engine.transcript.directives.length > before) return { status: "ok" };
    return { status: "failed", message: "The conversation is as it was; see compaction.failed in the journal." };
  }

  #untilIdle(): Promise<void> {
    const { actor } = this.#engine;
    return new Promise((resolve) => {
      if (!actor || this.#engine.isIdle) return resolve();
      const watch = actor.subscribe(() => {
        if (!this.#engine.isIdle) return;
        watch.unsubscribe();
        resolve();
      });
    });
  }

  /** Asks the model for a short title; not part of the conversation. */
  async generateTitle(): Promise<string> {
    const engine = this.#engine;
    const ask: Message = {
      id: "title-request",
      role: "user",
      kind: "prompt",
      parts: [text("Give this conversation a title of at most six words. Answer with the title only.")],
    };
    const reply = await sideRequest(engine, {
      model: engine.run.model,
      purpose: "title",
      instructions: "",
      messages: [...engine.transcript.view.slice(0, 4), ask],
      tools: [],
      signal: new AbortController().signal,
    });
    const title = reply.text.trim().replace(/^["']|["']$/g, "");
    if (reply.failure || !title) throw new Error(`No title: ${reply.failure?.message ?? "the model said nothing"}`);
    await engine.whileHeld(() =>
      engine.send({ type: "title.generated", title, ...(reply.usage ? { usage: reply.usage } : {}) }),
    );
    return title;
  }

  /** Working memory that is written to the journal: JSON values by key; `null` removes one. */
  readonly memory = {
    get: (key: string): Json | undefined => this.#engine.ledger.memory.get(key),
    entries: (): [string, Json][] => [...this.#engine.ledger.memory],
    set: (key: string, value: Json): Promise<void> =>
      this.#engine.whileHeld(() => this.#engine.send({ type: "memory.updated", key, value })),
  };

  /* ------------------------------------------------------------ looking */

  get state(): SessionState {
    if (this.#closed) return "closed";
    const { path } = this.#engine;
    if (path === "act.approving") return "awaiting_approval";
    if (path === "receive.waiting") return "waiting";
    if (this.#active || path !== "receive.idle") return "running";
    return this.#engine.state.run ? "suspended" : "idle";
  }

  /** The machine's state, such as `reason.requesting`. */
  get stateValue(): string {
    return this.#engine.path;
  }

  /** What the session waits for, in a sentence. */
  why(): string {
    const { state, path } = this.#engine;
    const running = state.draft?.calls.filter((c) => c.stage === "running").map((c) => c.name) ?? [];
    switch (this.state) {
      case "closed":
        return "The session is closed.";
      case "idle":
        return state.inbox.length
          ? `Idle, with ${state.inbox.length} undelivered input(s): continue() delivers them.`
          : "Idle.";
      case "suspended":
        return this.pending().length
          ? `Suspended: ${this.pending().length} approval(s) wait for decide().`
          : "A run was interrupted: continue() goes on with it.";
      case "awaiting_approval":
        return `Waiting for ${this.pending().length} approval(s): ${this.pending()
          .map((p) => p.name)
          .join(", ")}.`;
      case "waiting":
        return `Waiting for ${state.tasks.length} background task(s).`;
      case "running":
        return running.length ? `Running ${running.join(", ")}.` : `In ${path}.`;
      default:
        return this.state satisfies never;
    }
  }

  /** The whole conversation, uncompacted. */
  messages(): Message[] {
    return this.#engine.transcript.entries.flatMap((e): Message[] =>
      e.kind === "exchange" && e.results ? [e.message, e.results] : [e.message],
    );
  }

  /** What the model is shown. */
  view(): Message[] {
    return [...this.#engine.transcript.view];
  }

  usage(): UsageReport {
    return structuredClone(this.#engine.ledger.usage);
  }

  get title(): string | undefined {
    return this.#engine.ledger.title;
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
      const schema = inputEvents[event?.type];
      const parsed = schema?.safeParse(event);
      if (!parsed?.success)
        throw new AgentError("invalid_options", `actor.send: not an input event: ${String(event?.type)}`);
      await this.#engine.whileHeld(() => this.#engine.send(event));
    },
    subscribe: (observer: Observer<unknown>) => this.#engine.actor?.subscribe(observer),
    getSnapshot: () => this.#engine.actor?.getSnapshot() ?? { context: this.#engine.state, value: { receive: "idle" } },
  };

  /** Cancels what runs, writes the last record, and lets go of everything. The journal stays. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const active = this.#active;
    const engine = this.#engine;
    if (active) {
      const ended = active.handle.result.catch(() => {});
      engine.send({ type: "close.requested" });
      await ended;
    } else {
      await engine
        .whileHeld(() => engine.send({ type: "close.requested" }))
        .catch((error: unknown) => engine.logger.warn(`Closing ${this.id} was not recorded: ${messageOf(error)}`));
    }
    await engine.release("closed");
    engine.journal.feed.end();
    engine.actor?.stop();
  }
}

export type { ContentPart, RunResult };

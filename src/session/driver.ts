/** Drives runs: one at a time, from taking the lease to giving it back. */
import { AgentError } from "../core/errors.ts";
import type { InputEvent, OutputEvent, OutputOf, SessionEvent } from "../core/event.ts";
import { messageOf } from "../effects/effect.ts";
import type { Engine } from "./engine.ts";
import { checkRun, type RunOptions } from "./options.ts";
import { isEndOf, RunHandle, type RunSource } from "./run.ts";
import { liveRunOf, machineOptionsOf, resultOf } from "./run-options.ts";
import { asAgentError } from "./store-errors.ts";

type Active = {
  handle: RunHandle;
  options: RunOptions;
  /** Began by itself: `continue()` hands out its handle. */
  unclaimed: boolean;
  /** What came before the machine was reached; null from then on. */
  early: InputEvent[] | null;
};
type Ended = OutputOf<"run.ended"> | OutputOf<"run.suspended">;

export class Driver {
  active: Active | null = null;
  readonly #engine: Engine;
  readonly #autorun: RunOptions | undefined;
  /** Why no run may begin, when none may. */
  readonly #refusal: () => AgentError | null;
  #hinted = false;

  constructor(engine: Engine, autorun: RunOptions | undefined, refusal: () => AgentError | null) {
    this.#engine = engine;
    this.#autorun = autorun;
    this.#refusal = refusal;
    engine.onAnnounce = (event) => this.#hear(event);
  }

  /** Begins a run, or goes on with the open one. A caller's mistake is in the handle. */
  begin(options: RunOptions | undefined, inputs: (() => InputEvent[]) | "continue"): RunHandle {
    if (inputs === "continue" && this.active?.unclaimed) {
      this.active.unclaimed = false;
      return this.active.handle;
    }
    const open = inputs === "continue" ? this.#engine.state.run : null;
    const handle = new RunHandle(open?.id ?? this.#engine.ids.next("run"), this.#source());
    try {
      const refusal = this.#refusal();
      if (refusal) throw refusal;
      const checked = { ...this.#engine.parts.defaults, ...checkRun(options) };
      const events = inputs === "continue" ? [] : inputs();
      this.active = { handle, options: checked, unclaimed: false, early: [] };
      void this.#drive(this.active, events, inputs === "continue");
    } catch (error) {
      handle.refuse(error);
    }
    return handle;
  }

  /** Goes on without anybody asking: after the last decision, or when woken. */
  goOn(options?: RunOptions): void {
    this.begin(options, "continue");
    if (this.active) this.active.unclaimed = true;
  }

  #source(): RunSource {
    const engine = this.#engine;
    return {
      events: (runId, signal) => {
        const { run } = engine.ledger;
        const after = run?.id === runId ? run.after : engine.journal.head - engine.journal.backlog;
        const isLast = (event: SessionEvent) => isEndOf(runId, event);
        return engine.journal.feed.read({ after, partials: true, isLast, signal });
      },
      cancel: (runId, reason) => this.#cancelQuietly(runId, reason),
    };
  }

  async #drive(active: Active, inputs: InputEvent[], continued: boolean): Promise<void> {
    const engine = this.#engine;
    const { handle, options } = active;
    try {
      await engine.hold();
    } catch (error) {
      this.active = null;
      return handle.refuse(asAgentError(error, engine.id));
    }
    engine.run = liveRunOf(engine.parts, handle.id, options, engine.context);
    engine.useTools(options.tools);
    for (const event of inputs) engine.send(event);
    const { signal } = options;
    const ids = inputs.flatMap((e) => (e.type === "input.received" ? [e.id] : []));
    engine.send({
      type: "run.requested",
      runId: handle.id,
      options: machineOptionsOf(engine.parts, options, continued ? engine.state.run?.options : undefined),
      ...(ids.length ? { inputs: ids } : {}),
      ...(continued ? { continued } : {}),
      ...(signal?.aborted ? { cancelled: { reason: messageOf(signal.reason) } } : {}),
    });
    const early = active.early ?? [];
    active.early = null;
    for (const event of early) engine.send(event);
    if (signal) this.#obey(signal, handle);
  }

  #obey(signal: AbortSignal, handle: RunHandle): void {
    const stop = () => this.#cancelQuietly(handle.id, messageOf(signal.reason));
    signal.addEventListener("abort", stop, { once: true });
    const forget = () => signal.removeEventListener("abort", stop);
    handle.result.then(forget, forget);
  }

  /** The machine announced something: what matters here is the end of the active run, and being woken. */
  #hear(event: OutputEvent): void {
    const active = this.active;
    if (active && (event.type === "run.ended" || event.type === "run.suspended") && event.runId === active.handle.id)
      void this.#finish(active, event);
    else if (event.type === "wake.requested") queueMicrotask(() => this.#wake());
    else if (event.type === "exchange.committed") this.#hint(event);
  }

  #wake(): void {
    if (this.#autorun && !this.#refusal()) this.goOn(this.#autorun);
  }

  #hint(event: OutputOf<"exchange.committed">): void {
    if (this.#hinted || !event.results.some((r) => r.by === "nobody")) return;
    this.#hinted = true;
    this.#engine.logger.warn(
      "A tool call was denied because nobody approves. Pass { approve } to run(), or mark the tool readOnly.",
    );
  }

  async #finish(active: Active, event: Ended): Promise<void> {
    const engine = this.#engine;
    const result = resultOf(event, engine.ledger);
    // The announcement comes in the middle of a transition: first let the machine come to rest.
    await null;
    await engine.journal.finish();
    if (event.type === "run.ended") await this.#tellChain(event);
    await engine.drop();
    engine.useTools(undefined);
    engine.run = engine.idleRun();
    this.active = null;
    active.handle.end(result);
    if (result.status === "completed" && engine.state.inbox.some((i) => i.kind === "defer")) this.#wake();
  }

  async #tellChain(event: OutputOf<"run.ended">): Promise<void> {
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

  /** Feeds an input to the active run, at once or as soon as the machine is reached. */
  feed(event: InputEvent): void {
    if (this.active?.early) this.active.early.push(event);
    else this.#engine.send(event);
  }

  #cancelQuietly(runId: string, reason: string | undefined): void {
    this.cancel({ runId, ...(reason === undefined ? {} : { reason }) }).catch((error: unknown) =>
      this.#engine.logger.warn(`Run ${runId} could not be cancelled: ${messageOf(error)}`),
    );
  }

  async cancel(options: { runId?: string; reason?: string; clearInbox?: boolean }): Promise<void> {
    const engine = this.#engine;
    const event: InputEvent = { type: "cancel.requested", ...options };
    const { run, ending } = engine.state;
    const id = this.active?.handle.id ?? run?.id;
    if (id === undefined || ending || (options.runId !== undefined && options.runId !== id)) return;
    if (this.active) this.feed(event);
    else await engine.whileHeld(() => engine.send(event));
  }
}

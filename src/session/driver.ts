/** Drives runs: one at a time, from taking the lease to giving it back. */
import { asked } from "../core/batch.ts";
import type { AgentError } from "../core/errors.ts";
import type { InputEvent, OutputEvent, OutputOf, SessionEvent } from "../core/event.ts";
import { hookFailed, messageOf } from "../effects/effect.ts";
import { readOutput } from "../effects/structured.ts";
import type { Engine } from "./engine.ts";
import { checkBudget, checkRun, type RunOptions } from "./options.ts";
import { isEndOf, RunHandle, type RunSource } from "./run.ts";
import { failStore, liveRunOf, machineOptionsOf, outputOf, resultOf } from "./run-options.ts";
import { asAgentError } from "./store-errors.ts";

type Active = {
  handle: RunHandle;
  options: RunOptions;
  /** Began by itself: `continue()` hands out its handle. */
  unclaimed: boolean;
  /** What came before the machine was reached; null from then on. */
  early: InputEvent[] | null;
  /** Its end has been announced and is being written. */
  finishing: Promise<void> | null;
};
type Ended = OutputOf<"run.ended"> | OutputOf<"run.suspended">;

export class Driver {
  active: Active | null = null;
  /** A run is about to go on by itself. */
  soon = false;
  readonly #engine: Engine;
  readonly #autorun: RunOptions | undefined;
  /** Why no run may begin, when none may. */
  readonly #refusal: (mayCompact: boolean) => AgentError | null;
  /** Options of a run that was suspended in this process. */
  #suspended: RunOptions | undefined;
  #hinted = false;

  constructor(engine: Engine, autorun: RunOptions | undefined, refusal: (mayCompact: boolean) => AgentError | null) {
    this.#engine = engine;
    this.#autorun = autorun;
    this.#refusal = refusal;
    engine.onAnnounce = (event) => this.#hear(event);
  }

  /**
   * Begins a run, or goes on with the open one, once `after` is over. A caller's mistake is in the handle.
   */
  begin(
    options: RunOptions | undefined,
    inputs: (() => InputEvent[]) | "continue",
    after?: Promise<unknown>,
  ): RunHandle {
    const continued = inputs === "continue";
    if (continued && this.active?.unclaimed) {
      this.active.unclaimed = false;
      return this.active.handle;
    }
    const open = continued ? this.#engine.state.run?.id : undefined;
    const handle = new RunHandle(open ?? this.#engine.ids.next("run"), this.#source);
    try {
      // A run whose end is out is over for its readers: the next one waits until it is written.
      const ending = this.active?.finishing ?? undefined;
      const refusal = this.#refusal(after !== undefined);
      if (refusal) throw refusal;
      const checked = { ...this.#engine.parts.defaults, ...(continued ? this.#suspended : {}), ...checkRun(options) };
      checkBudget(checked, this.#engine.parts);
      if (checked.output !== undefined) outputOf(checked.output);
      const events = continued ? [] : inputs();
      this.active = { handle, options: checked, unclaimed: false, early: [], finishing: null };
      void this.#drive(this.active, events, continued, after ?? ending);
    } catch (error) {
      handle.refuse(error);
    }
    return handle;
  }

  /**
   * Goes on after the last decision. Not at once: who has just decided may call `continue()` with options of its own.
   * Without any, those of the suspended run still hold.
   */
  goOnSoon(): void {
    this.soon = true;
    setImmediate(() => {
      this.soon = false;
      const { run, draft } = this.#engine.state;
      if (run?.parked && !asked(draft?.calls ?? []).length) this.#goOn();
    });
  }

  #goOn(options?: RunOptions): void {
    if (this.#refusal(false)) return;
    this.begin(options, "continue");
    const begun = this.active as Active | null;
    if (begun) begun.unclaimed = true;
  }

  readonly #source: RunSource = {
    events: (run, signal) => this.#eventsOf(run, signal),
    cancel: (run, reason) => this.#cancelQuietly(run.id, reason),
  };

  /** A handle may be read before its run begins: what is there already is not for it. */
  async *#eventsOf(run: RunHandle, signal: AbortSignal): AsyncGenerator<SessionEvent, void, void> {
    const { feed } = this.#engine.journal;
    const isLast = (event: SessionEvent) => isEndOf(run, event);
    for await (const event of feed.read({ after: run.after ?? feed.head, partials: true, isLast, signal }))
      if (!("seq" in event) || event.seq > (run.after ?? Infinity)) yield event;
  }

  async #drive(active: Active, inputs: InputEvent[], continued: boolean, after?: Promise<unknown>): Promise<void> {
    const engine = this.#engine;
    const { handle, options } = active;
    try {
      if (after) await after.catch(() => {});
      await engine.hold();
    } catch (error) {
      this.active = null;
      return handle.refuse(asAgentError(error, engine.id));
    }
    // Only now is it certain which run lies open: another process may have gone on with it, or left one.
    const open = continued ? engine.state.run : null;
    const stale = continued && !open && handle.id === engine.ledger.run?.id;
    handle.begin(open?.id ?? (stale ? engine.ids.next("run") : handle.id), engine.journal.head);
    engine.run = liveRunOf(engine.parts, handle.id, options, engine.context, open?.options);
    engine.useTools(options.tools);
    for (const event of inputs) engine.send(event);
    const { signal } = options;
    const ids = inputs.flatMap((e) => (e.type === "input.received" ? [e.id] : []));
    engine.send({
      type: "run.requested",
      runId: handle.id,
      options: machineOptionsOf(engine.parts, options, open?.options),
      ...(ids.length ? { inputs: ids } : {}),
      ...(continued ? { continued } : {}),
      ...(signal?.aborted ? { cancelled: { reason: messageOf(signal.reason) } } : {}),
    });
    const early = active.early ?? [];
    active.early = null;
    for (const event of early) engine.send(event);
    if (signal) this.#obey(signal, handle);
  }

  /** Takes back an input that has not reached the machine yet. */
  takeBack(id: string): boolean {
    const { active } = this;
    const left = active?.early?.filter((e) => e.type !== "input.received" || e.id !== id);
    if (!active || !left || left.length === active.early?.length) return false;
    active.early = left;
    return true;
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
    if (
      active &&
      !active.finishing &&
      (event.type === "run.ended" || event.type === "run.suspended") &&
      event.runId === active.handle.id
    )
      active.finishing = this.#finish(active, event);
    else if (event.type === "run.ended") queueMicrotask(() => void this.#tellChain(event));
    else if (event.type === "wake.requested") queueMicrotask(() => this.#wake());
    else if (event.type === "exchange.committed") this.#hint(event);
  }

  #wake(): void {
    if (this.#autorun) this.#goOn(this.#autorun);
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
    await Promise.resolve();
    const { output } = engine.run;
    if (output && result.status === "completed") {
      const read = await readOutput(output, result.text);
      if (read.ok) result.object = read.value;
    }
    const written = await engine.journal.finish();
    if (!written) failStore(result, engine.journal.broken);
    if (event.type === "run.ended") await this.#tellChain(event);
    await engine.drop();
    engine.useTools(undefined);
    engine.run = engine.idleRun();
    if (this.active === active) this.active = null;
    this.#suspended = event.type === "run.suspended" ? active.options : undefined;
    active.handle.end(result);
    if (result.status === "completed" && !this.active && engine.state.inbox.some((i) => i.kind === "defer"))
      this.#wake();
  }

  /** Each observer is told; none can hold up the end for longer than the grace. */
  async #tellChain(event: OutputOf<"run.ended">): Promise<void> {
    const { chain, journal, ledger, clock, limits } = this.#engine;
    const usage = ledger.run?.usage.total ?? {};
    for (const m of chain) {
      if (!m.onRunEnd) continue;
      let stop = () => {};
      const late = new Promise<never>((_, reject) => {
        const fail = () => reject(new Error(`it took longer than graceMs (${limits.graceMs} ms)`));
        stop = clock.setTimer(limits.graceMs, fail);
      });
      try {
        await Promise.race([
          m.onRunEnd({ ...event, usage }, this.#engine.hookContext(new AbortController().signal)),
          late,
        ]);
      } catch (error) {
        hookFailed(this.#engine, m.name, "onRunEnd", error);
      } finally {
        stop();
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
    if (id === undefined && options.runId === undefined && engine.path.startsWith("compact."))
      return engine.send(event);
    if (id === undefined || ending || (options.runId !== undefined && options.runId !== id)) return;
    if (this.active) this.feed(event);
    else await engine.whileHeld(() => engine.send(event));
  }
}

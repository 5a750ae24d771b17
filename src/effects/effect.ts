/** What an effect is: named work that settles exactly once, with an input event. */
import { fromCallback, type ActorSystem, type EventObject } from "xstate";
import type { InputEvent } from "../core/event.ts";
import type { Slot } from "../../machines/session/setup.ts";
import type { Host } from "./host.ts";

/** Which session an actor system belongs to; one session actor is the root of one system. */
export const hosts = new WeakMap<ActorSystem<any>, Host>();

/** One piece of work under way. */
export type Job = {
  readonly host: Host;
  /** Aborts when the machine asks the effect to stop, or has left its state. */
  readonly signal: AbortSignal;
  /** True once the outcome is known; work should stop then. */
  readonly settled: boolean;
  /** Reports the outcome. Only the first report counts. */
  settle(event: InputEvent): void;
  /** Reports a part of the outcome; the work goes on. Ignored once settled or left. */
  report(event: InputEvent): void;
  /** What to undo when the state is left or the outcome is known. */
  onLeave(undo: () => void): void;
  /** Aborts the signal: whoever still works on it may stop. */
  release(): void;
  /** What to do when the machine asks to stop; without it the signal alone is aborted. */
  onAbort(stop: () => void): void;
};

/**
 * Makes an effect of some work. Whatever the work throws becomes the outcome `failed` makes of it, so an effect settles
 * on every path. Leaving its state settles it silently.
 */
export function effect<TInput>(
  work: (input: TInput, job: Job) => void | Promise<void>,
  failed: (error: unknown, input: TInput, job: Job) => InputEvent,
): Slot<TInput> {
  return fromCallback<EventObject, TInput>(({ input, sendBack, receive, system }) => {
    const job = new RunningJob(hosts.get(system)!, sendBack);
    receive((event) => {
      if (event.type === "abort") job.stop();
    });
    try {
      const done = work(input, job);
      if (done) done.catch((error: unknown) => job.settle(failed(error, input, job)));
    } catch (error) {
      job.settle(failed(error, input, job));
    }
    return () => job.leave();
  });
}

/** One reason for every abort: the default one takes a stack trace each time. */
const OVER = new Error("The work is over.");

class RunningJob implements Job {
  readonly host: Host;
  settled = false;
  readonly #report: (event: any) => void;
  #controller: AbortController | null = null;
  #stop: (() => void) | null = null;
  #aborted = false;
  #undo: (() => void) | null = null;

  constructor(host: Host, report: (event: any) => void) {
    this.host = host;
    this.#report = report;
  }

  /** Made when first asked for: most effects never need it. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort(OVER);
    return this.#controller.signal;
  }

  report(event: InputEvent): void {
    if (!this.settled) this.#report(event);
  }

  onLeave(undo: () => void): void {
    const before = this.#undo;
    this.#undo = before
      ? () => {
          before();
          undo();
        }
      : undo;
    if (this.settled) this.#clean();
  }

  #clean(): void {
    this.#undo?.();
    this.#undo = null;
  }

  settle(event: InputEvent): void {
    if (this.settled) return;
    this.settled = true;
    this.#clean();
    this.#report(event);
  }

  onAbort(stop: () => void): void {
    this.#stop = stop;
    if (this.#aborted) stop();
  }

  stop(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#controller?.abort(OVER);
    this.#stop?.();
  }

  leave(): void {
    if (this.settled) return;
    this.settled = true;
    this.#clean();
    this.release();
  }

  release(): void {
    this.#aborted = true;
    this.#controller?.abort(OVER);
  }
}

/** A readable sentence of anything thrown. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message || error.name) : String(error);
  } catch {
    return "Something was thrown that cannot be printed.";
  }
}

/** Whether a value is still to come: promises of every kind, not only our own. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";

/** Tells readers that a hook failed; what it stood for goes on without it, or is refused by whoever asked it. */
export const hookFailed = (host: Pick<Host, "journal">, middleware: string, hook: string, error: unknown): void =>
  host.journal.note({ type: "middleware.failed", middleware, hook, message: messageOf(error) });

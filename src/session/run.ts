/** A run as its caller holds it: an iterable of events, a result, and a way to stop it. */
import type { ApprovalRequest } from "../core/call.ts";
import type { RunError } from "../core/errors.ts";
import type { RunStatus, SessionEvent } from "../core/event.ts";
import { plural } from "../core/plural.ts";
import type { Usage } from "../core/usage.ts";

/** How a run ended. `O` is the type of its structured output. */
export type RunResult<O = unknown> = {
  status: RunStatus | "suspended";
  /** The final answer; of a cut one, what there is. */
  text: string;
  /** The answer as the run's `output` schema reads it; of completed runs that have one. */
  object?: O;
  turns: number;
  usage: Usage;
  runId: string;
  /** Inputs that wait for the next run: do not send them again. */
  undelivered: string[];
  /** Open approvals of a suspended run. */
  pending?: ApprovalRequest[];
  openTasks?: string[];
  error?: RunError;
  reason?: string;
};

/** The result of a run that completed: with an output schema, its object is there. */
export type CompletedRun<O = unknown> = RunResult<O> & { status: "completed" } & (unknown extends O
    ? unknown
    : { object: O });

/** The iterator of a run is its only owner: leaving it early cancels the run, unless `detach()` was called. */
export interface Run<O = unknown> extends AsyncIterable<SessionEvent> {
  /** A continued run keeps its id; which one that is, is certain once its first event is there. */
  readonly id: string;
  /** How the run ended. Rejects only for a caller's mistake; never an unhandled rejection. */
  readonly result: Promise<RunResult<O>>;
  /** Visible text as it comes. What a retried attempt repeats is not handed out twice. */
  readonly textStream: AsyncIterable<string>;
  /** The final text; throws as `unwrap` does. */
  text(): Promise<string>;
  /** The result of a completed run. @throws Error for every other status, with what to do about it */
  unwrap(): Promise<CompletedRun<O>>;
  /** Leaving the iterator no longer cancels. */
  detach(): this;
  cancel(reason?: string): void;
}

/** What a handle needs from its session. */
export type RunSource = {
  events(run: RunHandle, signal: AbortSignal): AsyncIterable<SessionEvent>;
  cancel(run: RunHandle, reason: string | undefined): void;
};

export class RunHandle implements Run {
  id: string;
  /** `seq` behind which its events begin; unknown until it begins. */
  after: number | null = null;
  readonly result: Promise<RunResult>;
  readonly #source: RunSource;
  #detached = false;
  #resolve!: (result: RunResult) => void;
  #reject!: (error: unknown) => void;
  #refused = false;
  readonly #over = new AbortController();

  constructor(id: string, source: RunSource) {
    this.id = id;
    this.#source = source;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.result.catch(() => {});
  }

  /** The run begins: what it is called, and where its events start. */
  begin(id: string, after: number): void {
    this.id = id;
    this.after = after;
  }

  /** Settles `result`. */
  end(result: RunResult): void {
    this.#resolve(result);
  }

  /** The run never began. */
  refuse(error: unknown): void {
    this.#refused = true;
    this.#reject(error);
    this.#over.abort();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SessionEvent, void, void> {
    let over = false;
    try {
      for await (const event of this.#source.events(this, this.#over.signal)) {
        over = isEndOf(this, event);
        yield event;
      }
      over = true;
      if (this.#refused) await this.result;
    } finally {
      if (!over && !this.#detached) this.cancel("The reader left.");
    }
  }

  get textStream(): AsyncIterable<string> {
    return joinText(this);
  }

  async text(): Promise<string> {
    return (await this.unwrap()).text;
  }

  async unwrap(): Promise<CompletedRun> {
    const result = await this.result;
    if (isCompleted(result)) return result;
    throw new Error(explain(result), { cause: result });
  }

  detach(): this {
    this.#detached = true;
    return this;
  }

  cancel(reason?: string): void {
    this.#source.cancel(this, reason);
  }
}

const isCompleted = (result: RunResult): result is CompletedRun => result.status === "completed";

/** Whether an event is the last one for a handle. */
export const isEndOf = (run: RunHandle, event: SessionEvent): boolean =>
  (event.type === "run.ended" || event.type === "run.suspended") &&
  event.runId === run.id &&
  run.after !== null &&
  event.seq > run.after;

/** Text deltas of a run. A retry that begins with what was already handed out goes on behind it. */
async function* joinText(events: AsyncIterable<SessionEvent>): AsyncGenerator<string, void, void> {
  let shown = "";
  let attempt: string | null = null;
  for await (const event of events) {
    if (event.type === "attempt.discarded") attempt = "";
    else if (event.type === "exchange.committed") [shown, attempt] = ["", null];
    if (event.type !== "part.delta" || event.kind !== "text") continue;
    let fresh = event.delta;
    if (attempt !== null) {
      attempt += event.delta;
      if (shown.startsWith(attempt)) continue;
      fresh = attempt.startsWith(shown) ? attempt.slice(shown.length) : `\n${attempt}`;
      attempt = null;
    }
    shown += fresh;
    yield fresh;
  }
}

/** Why a run did not complete, and what to do. */
export function explain(result: RunResult): string {
  switch (result.status) {
    case "completed":
      return "The run completed.";
    case "suspended":
      return `The run waits for ${plural(result.pending?.length ?? 0, "approval")}: session.decide([…]) goes on.`;
    case "cancelled":
      return `The run was cancelled${result.reason ? `: ${result.reason}` : ""}. session.continue() goes on.`;
    case "failed":
      return `The run failed (${result.error?.code}): ${result.error?.message}`;
    case "max_turns":
      return `The run reached its limit of turns (${result.turns}). session.continue() goes on with a fresh limit.`;
    case "truncated":
      return "The answer was cut by the length limit. Raise settings.maxOutputTokens.";
    case "blocked":
      return `The prompt was refused${result.reason ? `: ${result.reason}` : ""}.`;
    case "budget":
      return "The run reached maxBudgetUsd. session.continue() goes on with a fresh budget.";
    default:
      return result.status satisfies never;
  }
}

/** Asks the model once. Timeouts are ours; the stream goes to readers, the outcome to the machine. */
import { failure as failureSchema, type Failure } from "../core/failure.ts";
import type { InputOf } from "../core/event.ts";
import type { ModelChunk, ModelPort, ModelRequest } from "../ports.ts";
import { usage as usageSchema, type Usage } from "../core/usage.ts";
import { Answer } from "./answer.ts";
import { effect, messageOf, type Job } from "./effect.ts";
import type { Host } from "./host.ts";
import { outputInstructions } from "./structured.ts";

type Input = { id: string; turn: number; attempt: number; prefer: string | null };

export const callModel = effect<Input>(
  async (input, job) => {
    const { host } = job;
    const durable = host.journal.flush();
    if (durable !== true && !(await durable)) return;
    if (job.settled) return;
    const { view, hasFiles } = host.transcript;
    const messages = hasFiles ? await host.media.whole(view) : view;
    if (job.settled) return;
    const answer = new Answer(input.turn, input.attempt, host.journal);
    await converse(host.run.model, requestOf(host, messages, input.prefer), job, answer);
  },
  (error) => failedWith({ class: "fatal", message: messageOf(error) }),
);

/** The frozen instructions first, then what is contributed to this request. */
function requestOf(host: Host, messages: ModelRequest["messages"], prefer: string | null): ModelRequest {
  const { model, output, settings } = host.run;
  const said = [host.instructions, host.pinned.contributions, outputInstructions(output, model)];
  const request: ModelRequest = {
    instructions: said.filter(Boolean).join("\n\n"),
    messages,
    tools: host.pinned.catalogue.specs,
    settings,
    purpose: "turn",
    sessionId: host.id,
  };
  if (output && model.structured) request.output = output.spec;
  if (prefer !== null) request.prefer = prefer;
  return request;
}

const failedWith = (failure: Failure, answer?: Answer, usage?: Usage): InputOf<"model.failed"> => {
  const event: InputOf<"model.failed"> = { type: "model.failed", failure, parts: answer?.parts() ?? [] };
  if (usage) event.usage = usage;
  return event;
};

/** Reads the stream until it says it is complete. Whoever settles first wins; the rest of the stream is let go. */
async function converse(model: ModelPort, request: ModelRequest, job: Job, answer: Answer): Promise<void> {
  let usage: Usage | undefined;
  const watch = new StreamWatch(job, (failure) => settle(failedWith(failure, answer, usage)));
  const settle = (event: InputOf<"model.failed"> | InputOf<"model.completed">) => {
    watch.stop();
    if (event.type === "model.failed") nameStandIn(event.failure, model, request.prefer, job);
    job.settle(event);
    if (event.type === "model.failed") job.release();
  };
  job.onAbort(() => settle(failedWith({ class: "cancelled", message: "The request was cancelled." }, answer, usage)));
  try {
    for await (const chunk of model.stream(request, { signal: job.signal })) {
      if (job.settled) return watch.stop();
      watch.touch();
      switch (chunk.type) {
        case "text":
        case "thinking":
        case "tool-call":
          answer.take(chunk);
          break;
        case "usage":
          usage = readUsage(chunk.usage, job);
          break;
        case "finish":
          if (!finishReasons.has(chunk.reason)) return settle(failedWith(noReason(chunk.reason), answer, usage));
          return settle(completed(answer, chunk, usage, model.id));
        case "failed":
          return settle(failedWith(readFailure(chunk.failure), answer, usage));
        default:
          chunk satisfies never;
      }
    }
    const message = "The stream ended before the answer was complete.";
    settle(failedWith({ class: "malformed", message }, answer, usage));
  } catch (error) {
    settle(failedWith({ class: "fatal", message: messageOf(error) }, answer, usage));
  }
}

/** Who stands by for the model that failed goes into the record: the machine asks that one next. */
function nameStandIn(failure: Failure, model: ModelPort, failed: string | undefined, job: Job): void {
  try {
    const next = failure.class === "cancelled" ? undefined : model.standIn?.(failure, failed);
    if (typeof next === "string") failure.next = next;
  } catch (error) {
    job.host.logger.warn(`The model port could not name a stand-in: ${messageOf(error)}`);
  }
}

const finishReasons = new Set<unknown>(["stop", "length", "tool-calls"]);
const noReason = (reason: unknown): Failure => ({
  class: "fatal",
  message: `The model port finished with an unknown reason: ${messageOf(reason)}`,
});

/** A port is foreign code: what it says is parsed before it enters a record. Usage that is none is left out. */
function readUsage(said: unknown, job: Job): Usage | undefined {
  const read = usageSchema.safeParse(said);
  if (!read.success) job.host.logger.warn("The model port reported a usage that is none; it is left out.");
  return read.data;
}
const readFailure = (said: unknown): Failure => {
  const read = failureSchema.safeParse(said);
  return read.success ? read.data : { class: "fatal", message: "The model port failed without saying how." };
};

function completed(
  answer: Answer,
  finish: Extract<ModelChunk, { type: "finish" }>,
  usage: Usage | undefined,
  id: string,
): InputOf<"model.completed"> {
  const event: InputOf<"model.completed"> = {
    type: "model.completed",
    message: answer.finish(),
    finishReason: finish.reason,
    model: finish.model ?? id,
  };
  if (usage) event.usage = usage;
  return event;
}

/** First byte, idle and total time of a stream. One timer, set again only when it fires. */
class StreamWatch {
  readonly #job: Job;
  readonly #fail: (failure: Failure) => void;
  readonly #startedAt: number;
  #touchedAt = 0;
  #cancel: () => void;

  constructor(job: Job, fail: (failure: Failure) => void) {
    this.#job = job;
    this.#fail = fail;
    this.#startedAt = job.host.clock.now();
    this.#cancel = this.#arm(this.#startedAt);
  }

  touch(): void {
    this.#touchedAt = this.#job.host.clock.now();
  }

  stop(): void {
    this.#cancel();
  }

  /** When the stream is late, and what for. */
  #deadline(): { at: number; message: string } {
    const { firstByteMs, streamIdleMs, requestMs } = this.#job.host.limits;
    const waiting = this.#touchedAt === 0;
    const quiet = waiting ? firstByteMs : streamIdleMs;
    const at = (waiting ? this.#startedAt : this.#touchedAt) + quiet;
    const total = requestMs > 0 ? this.#startedAt + requestMs : Infinity;
    if (total < at) return { at: total, message: `The request took longer than requestMs (${requestMs} ms).` };
    const what = waiting ? "did not begin to answer within firstByteMs" : "fell silent for streamIdleMs";
    return { at, message: `The model ${what} (${quiet} ms).` };
  }

  #arm(now: number): () => void {
    // A touch may bring the deadline nearer (from the first byte to the next), but never nearer than the idle time.
    const wait = Math.min(this.#deadline().at - now, this.#job.host.limits.streamIdleMs);
    return this.#job.host.clock.setTimer(Math.max(0, wait), () => {
      const { at, message } = this.#deadline();
      const then = this.#job.host.clock.now();
      if (then >= at) this.#fail({ class: "timeout", message });
      else this.#cancel = this.#arm(then);
    });
  }
}

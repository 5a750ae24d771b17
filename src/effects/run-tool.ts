/** Runs one tool call. Timeout and cancel are hard: after the grace a deaf tool is abandoned. */
import { resultText } from "../core/call.ts";
import type { InputOf } from "../core/event.ts";
import { text, type ContentPart, type ResultStatus } from "../core/message.ts";
import type { Call } from "../core/batch.ts";
import type { ToolContext, ToolDefinition } from "../ports.ts";
import { toContent } from "../tool.ts";
import { effect, messageOf, type Job } from "./effect.ts";
import { cutOutput, isShort } from "./output.ts";
import { checkedValue } from "./resolve-call.ts";

type Outcome = { status: ResultStatus; output: ContentPart[]; by?: string };

export const runTool = effect<{ id: string; call: Call }>(
  ({ call }, job) => {
    const durable = job.host.journal.flush();
    return durable === true ? begin(job, call) : refused(job, call, durable);
  },
  (error, { call }) => ({
    type: "tool.settled",
    callId: call.callId,
    name: call.name,
    ...failed(messageOf(error)),
  }),
);

async function refused(job: Job, call: Call, durable: false | Promise<boolean>): Promise<void> {
  if (durable !== false && (await durable)) return begin(job, call);
  const output = [text("Not executed: the journal could not be written.")];
  settle(job, call, { status: "cancelled", by: "store", output });
}

/** Its start is on disk; now it may take effect. Arguments that a review has checked are not checked again. */
function begin(job: Job, call: Call): void | Promise<void> {
  if (job.settled) return;
  const { host } = job;
  const tool = host.pinned.catalogue.get(call.name) ?? host.catalogue().get(call.name);
  if (!tool) return settle(job, call, failed(`The tool ${call.name} is gone.`));
  const known = host.chain.some((m) => m.reviewCall) ? undefined : checkedValue(tool, call.args);
  if (known) return new ToolRun(job, call, tool).start(known.value);
  return checkAndRun(job, call, tool);
}

async function checkAndRun(job: Job, call: Call, tool: ToolDefinition): Promise<void> {
  const parsed = await tool.parse(call.args as never);
  if (!parsed.ok) return settle(job, call, failed(parsed.error));
  new ToolRun(job, call, tool).start(parsed.value);
}

const failed = (message: string): Outcome => ({ status: "failed", output: [text(message)] });

function settle(job: Job, call: Call, outcome: Outcome): void {
  const event: InputOf<"tool.settled"> = {
    type: "tool.settled",
    callId: call.callId,
    name: call.name,
    status: outcome.status,
    output: outcome.output,
  };
  if (outcome.by !== undefined) event.by = outcome.by;
  job.settle(event);
}

/** `afterCall` hooks remark on the result, then it is cut to size. Neither can change how the call ended. */
function conclude(job: Job, call: Call, tool: ToolDefinition, args: unknown, outcome: Outcome): void {
  const hooks = job.host.chain.some((m) => m.afterCall);
  if (!hooks && isShort(job.host, outcome.output)) return settle(job, call, outcome);
  finish(job, call, tool, args, outcome).then(
    (output) => settle(job, call, { ...outcome, output }),
    (error: unknown) => settle(job, call, failed(messageOf(error))),
  );
}

async function finish(job: Job, call: Call, tool: ToolDefinition, args: unknown, outcome: Outcome) {
  const { host } = job;
  const { status } = outcome;
  let { output } = outcome;
  for (const m of host.chain) {
    if (!m.afterCall || status === "abandoned") continue;
    const seen = { callId: call.callId, name: call.name, args, via: call.via, readOnly: tool.readOnly };
    try {
      const remark = await m.afterCall(seen, { status, output }, host.hookContext(job.signal));
      if (remark) output = [...output, text(remark.note)];
    } catch (error) {
      const message = messageOf(error);
      host.journal.note({ type: "middleware.failed", middleware: m.name, hook: "afterCall", message });
    }
  }
  return cutOutput(host, call.callId, output);
}

/** One execution against its clock. */
class ToolRun {
  readonly #job: Job;
  readonly #call: Call;
  readonly #tool: ToolDefinition;
  readonly #controller = new AbortController();
  /** Why it was asked to stop. */
  #stopped: "timeout" | "cancel" | null = null;
  #args: unknown;
  #cancelTimer: () => void = () => {};
  #over = false;

  constructor(job: Job, call: Call, tool: ToolDefinition) {
    this.#job = job;
    this.#call = call;
    this.#tool = tool;
  }

  /** From here on it ends exactly once, whatever the tool does. */
  start(args: unknown): void {
    const { clock, limits } = this.#job.host;
    this.#args = args;
    this.#job.onAbort(() => this.#stop("cancel"));
    const timeoutMs = this.#call.timeoutMs ?? limits.toolTimeoutMs;
    if (!this.#stopped && timeoutMs > 0) this.#cancelTimer = clock.setTimer(timeoutMs, () => this.#stop("timeout"));
    void this.#execute(args);
  }

  #finish(outcome: Outcome): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancelTimer();
    conclude(this.#job, this.#call, this.#tool, this.#args, outcome);
  }

  async #execute(args: unknown): Promise<void> {
    try {
      const value = this.#tool.execute(args, this.#context());
      this.#returned("ok", toContent(value instanceof Promise ? await value : value));
    } catch (error) {
      this.#returned("failed", [text(messageOf(error))]);
    }
  }

  /** What a value or a throw means depends on whether the tool had been asked to stop. */
  #returned(outcome: "ok" | "failed", output: ContentPart[]): void {
    const { callId, name } = this.#call;
    if (this.#over) return this.#job.host.journal.note({ type: "tool.late", callId, name, outcome });
    if (this.#stopped === "timeout")
      return this.#finish({ status: "timeout", by: "timeout", output: [text(this.#tooLong()), ...output] });
    if (this.#stopped === "cancel" && outcome === "failed")
      return this.#finish({ status: "cancelled", by: "cancel", output: [text(resultText.cancelled())] });
    this.#finish({ status: outcome, output });
  }

  #tooLong(): string {
    return `The tool was stopped after ${this.#call.timeoutMs ?? this.#job.host.limits.toolTimeoutMs} ms.`;
  }

  #stop(why: "timeout" | "cancel"): void {
    if (this.#over || this.#stopped) return;
    this.#stopped = why;
    this.#cancelTimer();
    this.#cancelTimer = this.#job.host.clock.setTimer(this.#job.host.limits.graceMs, () =>
      this.#finish({ status: "abandoned", by: why, output: [text(resultText.abandoned())] }),
    );
    this.#controller.abort(new Error(why === "timeout" ? this.#tooLong() : "The run was cancelled."));
  }

  #context(): ToolContext {
    const { host } = this.#job;
    const { callId, name } = this.#call;
    return {
      callId,
      signal: this.#controller.signal,
      progress: (value) => {
        if (!this.#over) host.journal.live({ type: "tool.progress", callId, name, progress: value });
      },
      session: host.toolSession,
      context: host.run.context,
    };
  }
}

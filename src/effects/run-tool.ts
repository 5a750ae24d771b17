/** Runs one tool call. Timeout and cancel are hard: after the grace a deaf tool is abandoned. */
import { resultText } from "../core/call.ts";
import type { InputOf } from "../core/event.ts";
import { text, type ContentPart, type ResultStatus } from "../core/message.ts";
import type { Call } from "../core/batch.ts";
import type { ToolContext, ToolDefinition } from "../ports.ts";
import { toContent } from "../tool.ts";
import { effect, messageOf, type Job } from "./effect.ts";
import { fit } from "./output.ts";

type Outcome = { status: ResultStatus; output: ContentPart[]; by?: string };

export const runTool = effect<{ id: string; call: Call }>(
  async ({ call }, job) => {
    const durable = job.host.journal.flush();
    if (durable !== true && !(await durable))
      return settle(job, call, {
        status: "cancelled",
        by: "store",
        output: [text("Not executed: the journal could not be written.")],
      });
    if (job.settled) return;
    const tool = job.host.catalogue().get(call.name) ?? job.host.pinned.catalogue.get(call.name);
    if (!tool) return settle(job, call, failed(`The tool ${call.name} is gone.`));
    const parsed = await tool.parse(call.args as never);
    if (!parsed.ok) return settle(job, call, failed(parsed.error));
    const outcome = await new ToolRun(job, call, tool).outcome(parsed.value);
    if (outcome) await conclude(job, call, tool, parsed.value, outcome);
  },
  (error, { call }) => ({
    type: "tool.settled",
    callId: call.callId,
    name: call.name,
    ...failed(messageOf(error)),
  }),
);

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
async function conclude(job: Job, call: Call, tool: ToolDefinition, args: unknown, outcome: Outcome): Promise<void> {
  const { host } = job;
  let output = outcome.output;
  for (const m of host.chain) {
    if (!m.afterCall || outcome.status === "abandoned") continue;
    const seen = { callId: call.callId, name: call.name, args, via: call.via, readOnly: tool.readOnly };
    try {
      const remark = await m.afterCall(seen, { status: outcome.status, output }, host.hookContext(job.signal));
      if (remark) output = [...output, text(remark.note)];
    } catch (error) {
      host.journal.note({
        type: "middleware.failed",
        middleware: m.name,
        hook: "afterCall",
        message: messageOf(error),
      });
    }
  }
  const size = fit(host, call.callId, output);
  settle(job, call, { ...outcome, output: size instanceof Promise ? await size : size });
}

/** One execution against its clock. */
class ToolRun {
  readonly #job: Job;
  readonly #call: Call;
  readonly #tool: ToolDefinition;
  readonly #controller = new AbortController();
  /** Why it was asked to stop. */
  #stopped: "timeout" | "cancel" | null = null;
  #finish!: (outcome: Outcome) => void;
  #cancelTimer: () => void = () => {};
  #over = false;

  constructor(job: Job, call: Call, tool: ToolDefinition) {
    this.#job = job;
    this.#call = call;
    this.#tool = tool;
  }

  /** Resolves with how the execution ended, whatever the tool does. */
  outcome(args: unknown): Promise<Outcome> {
    const { clock, limits } = this.#job.host;
    return new Promise((resolve) => {
      this.#finish = (outcome) => {
        if (this.#over) return;
        this.#over = true;
        this.#cancelTimer();
        resolve(outcome);
      };
      this.#job.onAbort(() => this.#stop("cancel"));
      const timeoutMs = this.#call.timeoutMs ?? limits.toolTimeoutMs;
      if (!this.#stopped && timeoutMs > 0) this.#cancelTimer = clock.setTimer(timeoutMs, () => this.#stop("timeout"));
      void this.#execute(args);
    });
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

/** Runs one tool call. Timeout and cancel are hard: after the grace a deaf tool is abandoned. */
import { resultText } from "../core/call.ts";
import type { InputOf } from "../core/event.ts";
import { text, type ContentPart, type ResultStatus } from "../core/message.ts";
import type { Call } from "../core/batch.ts";
import type { ToolContext, ToolDefinition } from "../ports.ts";
import { toContent } from "../tool.ts";
import { effect, isThenable, hookFailed, messageOf, type Job } from "./effect.ts";
import { readRemark } from "./hook-answers.ts";
import { cutOutput, cutShort, isShort } from "./output.ts";
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

/** Its start is on disk; now it may take effect. */
function begin(job: Job, call: Call): void {
  if (job.settled) return;
  const { host } = job;
  const tool = host.pinned.catalogue.get(call.name) ?? host.catalogue().get(call.name);
  if (!tool) return settle(job, call, failed(`The tool ${call.name} is gone.`));
  new ToolRun(job, call, tool).start();
}

const failed = (message: string): Outcome => ({ status: "failed", output: [text(message)] });

function settle(job: Job, call: Call, outcome: Outcome): void {
  const event: InputOf<"tool.settled"> = {
    type: "tool.settled",
    callId: call.callId,
    name: call.name,
    status: outcome.status,
    output: job.host.media.keep(outcome.output),
  };
  if (outcome.by !== undefined) event.by = outcome.by;
  job.settle(event);
}

/** `afterCall` hooks remark on a result, then it is cut to size. Neither can change how the call ended. */
async function finish(job: Job, call: Call, tool: ToolDefinition, args: unknown, outcome: Outcome) {
  const { host } = job;
  const { status } = outcome;
  let { output } = outcome;
  for (const m of host.chain) {
    if (!m.afterCall || status === "abandoned") continue;
    const seen = { callId: call.callId, name: call.name, args, via: call.via, readOnly: tool.readOnly };
    try {
      const remark = readRemark(await m.afterCall(seen, { status, output }, host.hookContext(job.signal)));
      if (remark) output = [...output, text(remark.note)];
    } catch (error) {
      hookFailed(host, m.name, "afterCall", error);
    }
  }
  return cutOutput(host, call.callId, output);
}

/** One execution against its clock: it settles exactly once, whatever the tool, its schema or a hook does. */
class ToolRun {
  readonly #job: Job;
  readonly #call: Call;
  readonly #tool: ToolDefinition;
  readonly #controller = new AbortController();
  /** Why it was asked to stop. */
  #stopped: "timeout" | "cancel" | null = null;
  #began = false;
  /** How the tool itself ended, as soon as that is known. */
  #outcome: Outcome | null = null;
  #cancelTimer: () => void = () => {};

  constructor(job: Job, call: Call, tool: ToolDefinition) {
    this.#job = job;
    this.#call = call;
    this.#tool = tool;
  }

  get #timeoutMs(): number {
    return this.#call.timeoutMs ?? this.#job.host.limits.toolTimeoutMs;
  }

  start(): void {
    this.#job.onAbort(() => this.#stop("cancel"));
    if (!this.#stopped && this.#timeoutMs > 0)
      this.#cancelTimer = this.#job.host.clock.setTimer(this.#timeoutMs, () => this.#stop("timeout"));
    this.#job.onLeave(() => this.#cancelTimer());
    this.#check().catch((error: unknown) => settle(this.#job, this.#call, failed(messageOf(error))));
  }

  /** Arguments that a review has checked are not checked again. */
  async #check(): Promise<void> {
    const { args } = this.#call;
    const reviewed = this.#job.host.chain.some((m) => m.reviewCall);
    const known = reviewed ? undefined : checkedValue(this.#tool, args);
    if (known) return this.#execute(known.value);
    const parsed = await this.#tool.parse(args as never);
    if (!parsed.ok) return settle(this.#job, this.#call, failed(parsed.error));
    if (!this.#stopped) return this.#execute(parsed.value);
  }

  async #execute(args: unknown): Promise<void> {
    this.#began = true;
    try {
      const value = this.#tool.execute(args, this.#context());
      this.#returned(args, "ok", toContent(isThenable(value) ? await value : value));
    } catch (error) {
      this.#returned(args, "failed", [text(messageOf(error))]);
    }
  }

  /** What a value or a throw means depends on whether the tool had been asked to stop. */
  #returned(args: unknown, outcome: "ok" | "failed", output: ContentPart[]): void {
    const { callId, name } = this.#call;
    if (this.#job.settled) return this.#job.host.journal.note({ type: "tool.late", callId, name, outcome });
    if (this.#stopped === "timeout")
      this.#conclude(args, { status: "timeout", by: "timeout", output: [text(this.#tooLong()), ...output] });
    else if (this.#stopped === "cancel" && outcome === "failed")
      this.#conclude(args, { status: "cancelled", by: "cancel", output: [text(resultText.cancelled())] });
    else this.#conclude(args, { status: outcome, output });
  }

  #conclude(args: unknown, outcome: Outcome): void {
    this.#outcome = outcome;
    const { host } = this.#job;
    if (!host.chain.some((m) => m.afterCall) && isShort(host, outcome.output))
      return settle(this.#job, this.#call, outcome);
    finish(this.#job, this.#call, this.#tool, args, outcome).then(
      (output) => settle(this.#job, this.#call, { ...outcome, output }),
      (error: unknown) => settle(this.#job, this.#call, failed(messageOf(error))),
    );
  }

  #tooLong(): string {
    return `The tool was stopped after ${this.#timeoutMs} ms.`;
  }

  #stop(why: "timeout" | "cancel"): void {
    if (this.#stopped) return;
    this.#stopped = why;
    this.#cancelTimer();
    this.#cancelTimer = this.#job.host.clock.setTimer(this.#job.host.limits.graceMs, () => this.#giveUp(why));
    this.#controller.abort(new Error(why === "timeout" ? this.#tooLong() : "The run was cancelled."));
  }

  /** The grace is over: what is known is the result. */
  #giveUp(why: "timeout" | "cancel"): void {
    const { host } = this.#job;
    if (this.#outcome)
      settle(this.#job, this.#call, { ...this.#outcome, output: cutShort(host, this.#outcome.output) });
    else if (this.#began)
      settle(this.#job, this.#call, { status: "abandoned", by: why, output: [text(resultText.abandoned())] });
    else settle(this.#job, this.#call, { status: "cancelled", by: why, output: [text(resultText.cancelled())] });
  }

  #context(): ToolContext {
    const { host } = this.#job;
    const { callId, name } = this.#call;
    return {
      callId,
      signal: this.#controller.signal,
      progress: (value) => {
        if (!this.#job.settled) host.journal.live({ type: "tool.progress", callId, name, progress: value });
      },
      session: host.toolSession,
      context: host.run.context,
    };
  }
}

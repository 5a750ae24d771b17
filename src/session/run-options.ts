/** What becomes of a run's options: one half is written to the journal, the other lives with the run. */
import { AgentError } from "../core/errors.ts";
import type { MachineRunOptions } from "../core/config.ts";
import type { OutputOf } from "../core/event.ts";
import type { LiveRun } from "../effects/host.ts";
import type { Output } from "../effects/structured.ts";
import type { ModelSettings } from "../ports.ts";
import { compileInput, type ToolInput } from "../tool-input.ts";
import type { Parts } from "./agent.ts";
import type { Ledger } from "./ledger.ts";
import type { RunOptions } from "./options.ts";
import type { RunResult } from "./run.ts";

const approvalsOf = (options: RunOptions) =>
  typeof options.approvals === "string" ? { mode: options.approvals } : (options.approvals ?? {});

/** The half that the machine decides by. A continued run keeps what its options do not name. */
export function machineOptionsOf(parts: Parts, options: RunOptions, before?: MachineRunOptions): MachineRunOptions {
  const given = approvalsOf(options);
  const unanswered = given.mode ?? before?.approvals.unanswered ?? "deny";
  const made: MachineRunOptions = {
    approvals: {
      mode: options.approve === undefined ? unanswered : "callback",
      unanswered,
      onSteer: given.onSteer ?? before?.approvals.onSteer ?? "deny-pending",
    },
  };
  if (options.maxTurns !== undefined) made.maxTurns = options.maxTurns;
  if (options.maxBudgetUsd !== undefined) made.maxBudgetUsd = options.maxBudgetUsd;
  const { thinkingLevel } = settingsOf(parts, options, before);
  if (thinkingLevel !== undefined) made.thinkingLevel = thinkingLevel;
  if (options.settings !== undefined) made.settings = options.settings;
  const output = options.output === undefined ? before?.output : outputOf(options.output).spec;
  if (output !== undefined) made.output = output;
  return made;
}

/**
 * The output schema, ready to check answers with.
 * @throws AgentError `invalid_options` for one that a model cannot be told in JSON Schema
 */
export function outputOf(schema: ToolInput, name?: string): Output {
  const known = compiled.get(schema);
  if (known) return known;
  const output = compileOutput(schema, name);
  compiled.set(schema, output);
  return output;
}
const compiled = new WeakMap<object, Output>();

function compileOutput(schema: ToolInput, name: string | undefined): Output {
  try {
    const { parameters, parse } = compileInput(schema, undefined, "Invalid values");
    const { title } = parameters;
    const named = name ?? (typeof title === "string" ? title.replaceAll(/[^A-Za-z0-9_-]+/g, "_").slice(0, 64) : "");
    return { spec: { name: named || "answer", schema: parameters }, parse };
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    throw new AgentError("invalid_options", error.message.replace(/^input/, "run.output"), { cause: error });
  }
}

/** Of the run, else of the run it goes on with: the journal has its JSON Schema. */
const outputNow = (options: RunOptions, before: MachineRunOptions | undefined): Output | undefined =>
  options.output !== undefined
    ? outputOf(options.output)
    : before?.output && outputOf(before.output.schema, before.output.name);

/** Of the run, else of the run it goes on with, else of the agent. */
function settingsOf(parts: Parts, options: RunOptions, before: MachineRunOptions | undefined): ModelSettings {
  const settings: ModelSettings = { ...parts.settings, ...before?.settings, ...options.settings };
  const thinkingLevel = options.thinkingLevel ?? options.settings?.thinkingLevel ?? before?.thinkingLevel;
  return thinkingLevel === undefined ? settings : { ...settings, thinkingLevel };
}

/** The half that cannot be written: functions, models, live objects. */
export function liveRunOf(
  parts: Parts,
  id: string,
  options: RunOptions,
  context: unknown,
  before?: MachineRunOptions,
): LiveRun {
  return {
    id,
    approve: options.approve,
    unanswered: approvalsOf(options).mode ?? before?.approvals.unanswered ?? "deny",
    model: options.model ?? parts.model,
    settings: settingsOf(parts, options, before),
    output: outputNow(options, before),
    context: options.context ?? context,
  };
}

/** A run whose end could not be written has not completed, whatever the model said: nobody will find it again. */
export function failStore(result: RunResult, why: { message: string } | null): void {
  result.status = "failed";
  result.error = { code: "store", message: why?.message ?? "The journal could not be written.", retryable: true };
}

/** How a run ended, for its caller. */
export function resultOf(event: OutputOf<"run.ended"> | OutputOf<"run.suspended">, ledger: Ledger): RunResult {
  const usage = ledger.run?.usage.total ?? {};
  const base = { text: ledger.run?.text ?? "", usage, runId: event.runId };
  if (event.type === "run.suspended")
    return { ...base, status: "suspended", turns: event.turns, undelivered: [], pending: event.pending };
  const result: RunResult = { ...base, status: event.status, turns: event.turns, undelivered: event.undelivered };
  if (event.openTasks) result.openTasks = event.openTasks;
  if (event.error) result.error = event.error as NonNullable<RunResult["error"]>;
  if (event.reason !== undefined) result.reason = event.reason;
  return result;
}

/** Every option a user can pass, checked at the boundary: a mistake is named with its path and what was expected. */
import { z } from "zod";
import { lazily } from "../core/lazy.ts";
import { AgentError } from "../core/errors.ts";
import { compactionSettings, limits, thresholds, type CompactionSettings, type Limits } from "../core/limits.ts";
import { message, text, type ContentPart, type Json, type Message } from "../core/message.ts";
import { readContent, type ContentInput } from "../tool-parts.ts";
import { modelSettings } from "../core/settings.ts";
import type { Approve } from "../effects/host.ts";
import type { Middleware } from "../middleware/middleware.ts";
import type { ToolInput } from "../tool-input.ts";
import type { Clock, Ids, Logger, ModelPort, ModelSettings, Store, ToolDefinition } from "../ports.ts";

/** What an ask meets when there is no `approve`, and what a steer does to open asks. */
export type ApprovalOptions = {
  mode?: "deny" | "wait" | "suspend";
  onSteer?: "deny-pending" | "queue" | "reject";
};

export type RunOptions = {
  approve?: Approve;
  approvals?: ApprovalOptions | "deny" | "wait" | "suspend";
  /** Cancels the run; its reason is in the ending. */
  signal?: AbortSignal;
  thinkingLevel?: string;
  maxTurns?: number;
  maxBudgetUsd?: number;
  model?: ModelPort;
  /** Added to the agent's; the same name replaces. */
  tools?: Tools;
  settings?: ModelSettings;
  /**
   * The shape of the final answer: a zod schema, any Standard Schema, or a JSON Schema of an object. `result.object` has
   * it, parsed; an answer that does not fit is asked for again, at most `limits.outputRepairs` times in a row.
   */
  output?: ToolInput;
  /** Live objects for tools and hooks; never written, never shown to the model. */
  context?: unknown;
};
export type Tools = { [name: string]: ToolDefinition };

export type AgentOptions = {
  name?: string;
  model: ModelPort;
  /** Frozen into each session when it is created. */
  instructions?: string;
  tools?: Tools;
  /** Order is behaviour. */
  middleware?: Middleware[];
  /** Where journals live; in memory by default. */
  store?: Store;
  settings?: ModelSettings;
  limits?: Partial<Limits>;
  /** `model` writes summaries in the place of the run's own; `tokenizer` counts instead of estimating. */
  compaction?: Partial<CompactionSettings> & { model?: ModelPort; tokenizer?: Tokenizer };
  /** For runs that name none. */
  defaults?: RunOptions;
  /** XState's own observer: a function or an object with `next`. A throw is logged and goes no further. */
  inspect?: ((event: any) => void) | { next?: (event: any) => void };
  logger?: Logger;
  clock?: Clock;
  ids?: Ids;
};

export type SessionOptions = {
  id?: string;
  workspace?: string;
  metadata?: Json;
  /** Messages that came before; pairs must be whole. */
  history?: Message[];
  context?: unknown;
  /** Runs by itself when background work reports while idle. */
  autorun?: RunOptions;
};

/** Counts tokens as a model does. `count` is pure, and quick: it is asked about every text once. */
export type Tokenizer = { readonly name?: string; count(this: void, text: string): number };

/** A prompt: text, parts, or user messages. */
export type Input = string | ContentInput[] | { role: "user"; content: string | ContentInput[] }[];

const fn = lazily(() => z.custom<(...args: any[]) => any>((v) => typeof v === "function", "expected a function"));
const live = lazily(() => z.any());
const port = (name: string, method: string) =>
  z.custom((v) => typeof v === "object" && v !== null && typeof (v as any)[method] === "function", `expected ${name}`);
const tokenizer = port("a tokenizer, such as await gptTokenizer()", "count");
const model = port("a model, such as openai({ model: … })", "stream");
const tools = lazily(() => z.record(z.string().min(1), port("a tool made by tool({ … })", "execute")));
const approvalMode = lazily(() => z.enum(["deny", "wait", "suspend"]));
const runOptions = lazily(() =>
  z.strictObject({
    approve: z.union([z.enum(["allow", "deny"]), fn], 'expected "allow", "deny" or a function').optional(),
    approvals: z
      .union([
        approvalMode,
        z.strictObject({
          mode: approvalMode.optional(),
          onSteer: z.enum(["deny-pending", "queue", "reject"]).optional(),
        }),
      ])
      .optional(),
    signal: z.custom<AbortSignal>((v) => v instanceof AbortSignal, "expected an AbortSignal").optional(),
    thinkingLevel: z.string().optional(),
    maxTurns: z.number().int().min(-1).optional(),
    maxBudgetUsd: z.number().nonnegative().optional(),
    model: model.optional(),
    tools: tools.optional(),
    settings: modelSettings.optional(),
    output: z
      .custom((v) => (typeof v === "object" && v !== null) || typeof v === "function", "expected a schema of an object")
      .optional(),
    context: live.optional(),
  }),
);
const agentOptions = lazily(() =>
  z.strictObject({
    name: z.string().min(1).optional(),
    model,
    instructions: z.string().optional(),
    tools: tools.optional(),
    middleware: z.array(z.custom<Middleware>((v) => typeof v === "object" && v !== null)).optional(),
    store: port("a store, such as jsonlStore(dir)", "append").optional(),
    settings: modelSettings.optional(),
    limits: z.object({}).loose().optional(),
    compaction: z.object({ model: model.optional(), tokenizer: tokenizer.optional() }).loose().optional(),
    defaults: runOptions.optional(),
    inspect: z.union([fn, z.looseObject({ next: fn.optional() })]).optional(),
    logger: port("a logger with warn()", "warn").optional(),
    clock: port("a clock with now() and setTimer()", "setTimer").optional(),
    ids: port("ids with next()", "next").optional(),
  }),
);
const sessionOptions = lazily(() =>
  z.strictObject({
    id: z
      .string()
      .regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/, "expected letters, digits, dot, dash, underscore")
      .optional(),
    workspace: z.string().min(1).optional(),
    metadata: z.json().optional(),
    history: z.array(message).optional(),
    context: live.optional(),
    autorun: runOptions.optional(),
  }),
);
/** @throws AgentError `invalid_options` naming each wrong option, by path */
function check<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const sentences = result.error.issues.map((i) => `${[what, ...i.path].join(".")}: ${i.message}`);
  throw new AgentError("invalid_options", sentences.join("; "), { details: result.error.issues });
}

export const checkAgent = (o: AgentOptions): void => void check(agentOptions, o, "agent");
export const checkRun = (o: RunOptions | undefined): RunOptions =>
  o === undefined ? {} : (check(runOptions, o, "run") as RunOptions);
/** @throws AgentError `invalid_options` for a spending limit that nobody could keep */
export function checkBudget(run: RunOptions, agent: { limits: Limits; model: ModelPort }): void {
  const model = run.model ?? agent.model;
  if ((run.maxBudgetUsd ?? agent.limits.maxBudgetUsd) <= 0 || model.priced) return;
  const message = `maxBudgetUsd: the price of ${model.id} is not known; give the model prices, or set no limit`;
  throw new AgentError("invalid_options", message);
}
export function checkSession(o: SessionOptions): void {
  check(sessionOptions, o, "session");
  for (const [i, { role, parts }] of (o.history ?? []).entries())
    if (role === "user") readContent(parts, `session.history[${i}]`);
    else if (role === "tool") for (const { output } of parts) readContent(output, `session.history[${i}]`);
}
export const checkLimits = (o: unknown): Limits => check(limits, o ?? {}, "limits") as Limits;
export const checkCompaction = (o: unknown): CompactionSettings =>
  check(compactionSettings, o ?? {}, "compaction") as CompactionSettings;
/** @throws AgentError `invalid_options` when instructions and tools alone would fill the window: no turn could fit */
export function checkRoom(compaction: CompactionSettings, base: number): void {
  const { full } = thresholds(compaction);
  if (base < full) return;
  const { window, maxContextTokens } = compaction;
  const message =
    `compaction: instructions and tools take ${base} tokens, which leaves no room below ${Math.floor(full)} ` +
    `(window ${window}, maxContextTokens ${maxContextTokens}). Use fewer tools, shorter instructions, or a larger window`;
  throw new AgentError("invalid_options", message, { details: { base, window, full } });
}

/**
 * The prompts an input stands for, each with its parts; empty ones are left out.
 * @throws AgentError `invalid_options` for what is no input, with its place
 */
export function promptsOf(value: Input): ContentPart[][] {
  if (typeof value === "string") return value === "" ? [] : [[text(value)]];
  const isMessage = (item: unknown) => typeof item === "object" && item !== null && "role" in item;
  const prompts =
    Array.isArray(value) && value.some(isMessage)
      ? value.map(promptOf)
      : [readContent(value as ContentInput[], "input")];
  return prompts.filter((parts) => parts.length > 0);
}

function promptOf(message: unknown, i: number): ContentPart[] {
  const { role, content, ...rest } = message as { role?: unknown; content?: unknown };
  const where = `input[${i}]`;
  if (role !== "user" || Object.keys(rest).length)
    throw new AgentError(
      "invalid_options",
      `${where}: expected { role: "user", content }; history goes to createSession`,
    );
  if (typeof content === "string") return content === "" ? [] : [text(content)];
  return readContent(content as ContentInput[], `${where}.content`);
}

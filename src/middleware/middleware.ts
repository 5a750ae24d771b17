/** The one type for hooks, permission, policy, contributions and tool providers. */
import type { Verdict } from "../core/call.ts";
import { AgentError } from "../core/errors.ts";
import type { ContentPart, Json, ResultStatus } from "../core/message.ts";
import type { OutputOf } from "../core/event.ts";
import type { Usage } from "../core/usage.ts";
import type { ToolDefinition } from "../ports.ts";

/** What every hook is told about where it runs. `signal` aborts when its phase is left. */
export type HookContext = {
  session: { id: string; workspace: string | undefined; mode: string };
  runId: string | undefined;
  signal: AbortSignal;
  /** The host's live objects, as given to the session or run. */
  context: unknown;
};

/** A call as a review sees it: the effective one. */
export type CallUnderReview = {
  readonly callId: string;
  readonly name: string;
  readonly args: any;
  readonly via?: string | undefined;
  readonly readOnly: boolean;
};

/**
 * A review's opinion. Nothing (or `abstain`) is none. `args` rewrites the arguments: they are validated and the whole
 * chain looks again, once. `lift` also lifts a tool's own `needsApproval`: for a bypass, or a remembered decision.
 */
export type Opinion =
  void | undefined | "abstain" | Verdict | { verdict?: Verdict; reason?: string; args?: Json; lift?: boolean };

export type InputOpinion = void | undefined | { refuse: string } | { parts?: ContentPart[]; info?: string[] };
export type CompactionView = { kind: "elide" | "summarize" | "discard"; tokens: number };
type Later<T> = T | Promise<T>;

/** Everything a middleware may do; every hook is optional, and all hooks of one middleware come and go together. */
export type Middleware = {
  /** Unique in a chain; shown in denials and records. */
  readonly name: string;
  /** Direct tools, or `deferred` ones that are found by search. Changes show at the next request. */
  tools?: { [name: string]: ToolDefinition } | ((context: { sessionId: string }) => { [name: string]: ToolDefinition });
  /** Before a prompt enters the transcript: refuse it, rewrite it, or add notices. A throw refuses. */
  onInput?(input: { id: string; parts: readonly ContentPart[] }, context: HookContext): Later<InputOpinion>;
  /** Before each request: text after the frozen instructions. Never in the transcript. */
  contribute?(context: HookContext): Later<string | undefined | void>;
  /** Before a compaction: `block` keeps it from happening. */
  beforeCompact?(plan: CompactionView, context: HookContext): Later<void | undefined | { block: string }>;
  afterCompact?(done: CompactionView, context: HookContext): Later<void>;
  /** Before a tool runs (PRE_TOOL_USE). A throw denies the call. */
  reviewCall?(call: CallUnderReview, context: HookContext): Later<Opinion>;
  /** After a tool ran (POST_TOOL_USE): may add a remark to its result, never change its status. */
  afterCall?(
    call: CallUnderReview,
    result: { status: ResultStatus; output: readonly ContentPart[] },
    context: HookContext,
  ): Later<void | undefined | { note: string }>;
  /** Before a run ends with an answer: feedback sends it on. */
  onStop?(answer: { text: string }, context: HookContext): Later<void | undefined | { feedback: string }>;
  /** After the terminal record. */
  onRunEnd?(ended: OutputOf<"run.ended"> & { usage: Usage }, context: HookContext): Later<void>;
};

const hooks = [
  "tools",
  "onInput",
  "contribute",
  "beforeCompact",
  "afterCompact",
  "reviewCall",
  "afterCall",
  "onStop",
  "onRunEnd",
] as const;

/**
 * Checks a middleware and gives it its type.
 * @throws AgentError `invalid_options` for a missing name, an unknown hook, or a hook that is not a function
 */
export function defineMiddleware<M extends Middleware>(middleware: M): M {
  const at = `middleware ${JSON.stringify(middleware?.name ?? "")}`;
  if (typeof middleware?.name !== "string" || middleware.name === "")
    throw new AgentError("invalid_options", "middleware.name: expected a non-empty string");
  for (const [key, value] of Object.entries(middleware)) {
    if (key === "name" || value === undefined) continue;
    if (!(hooks as readonly string[]).includes(key))
      throw new AgentError("invalid_options", `${at}: unknown hook "${key}"; the hooks are ${hooks.join(", ")}`);
    if (typeof value !== "function" && !(key === "tools" && typeof value === "object"))
      throw new AgentError("invalid_options", `${at}: ${key} must be a function`);
  }
  return middleware;
}

/** An ordered chain. Order is behaviour: contributions, reviews and tools follow it. */
export type Chain = readonly Middleware[];

/** @throws AgentError `invalid_options` when two middlewares share a name */
export function chainOf(middleware: readonly Middleware[]): Chain {
  const names = new Set<string>();
  for (const m of middleware) {
    defineMiddleware(m);
    if (names.has(m.name))
      throw new AgentError("invalid_options", `middleware: two are named "${m.name}"; give each a name of its own`);
    names.add(m.name);
  }
  return [...middleware];
}

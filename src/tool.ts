/** `tool()`: how a host defines what a model may call. */
import { z } from "zod";
import { lazily } from "./core/lazy.ts";
import { onUnknown, type OnUnknown } from "./core/call.ts";
import { AgentError } from "./core/errors.ts";
import type { JsonSchema, ToolContext, ToolDefinition } from "./ports.ts";
import { compileInput, type ArgsOf, type ToolInput } from "./tool-input.ts";

export { content, toContent, type Content } from "./tool-content.ts";
export type { ContentInput } from "./tool-parts.ts";
export type { ToolInput } from "./tool-input.ts";
export type { StandardSchema } from "./tool-schema.ts";

/** Options of {@link tool}. `S` is the schema, `C` the host's live objects. */
export type ToolOptions<S extends ToolInput, C> = {
  /** What it does and when to use it, for the model. */
  description: string;
  /** Arguments as a zod schema, any Standard Schema, or a JSON Schema; always an object. */
  input: S;
  /** The JSON Schema to show the model, where `input` cannot give one itself. */
  parameters?: JsonSchema;
  /**
   * Does the work. A string, {@link content} or any JSON value is its result; a throw is a failed result that the model
   * reads. Should stop soon after `context.signal` aborts.
   */
  execute: (args: ArgsOf<S>, context: ToolContext<C>) => unknown;
  /** Changes nothing, so it needs no approval. Default `false`. */
  readOnly?: boolean;
  /** Asks before it runs, whatever a policy allows. */
  needsApproval?: boolean | ((args: ArgsOf<S>) => boolean);
  /** Calls that share a key run one after the other. */
  lockKey?: (args: ArgsOf<S>, session: { workspace: string | undefined }) => string[];
  /** Replaces `limits.toolTimeoutMs`. */
  timeoutMs?: number;
  /** What a call meets that had started when the process died; default `report`. */
  onUnknown?: OnUnknown;
  /** Its results are never shortened by compaction. */
  retain?: boolean;
  /**
   * Names the file or skill that a call reads in. What was read recently is read again after a compaction, by calling the
   * tool once more with the same arguments; only for tools that are `readOnly`.
   */
  reads?: (args: ArgsOf<S>) => string | undefined;
  /** Not shown to the model; found by search. */
  deferred?: boolean;
};

const callback = lazily(() => z.custom((value) => typeof value === "function", "expected a function"));

const options = lazily(() =>
  z.strictObject({
    description: z.string().min(1),
    input: z.any().refine((value) => value !== undefined, "a schema is missing"),
    parameters: z.record(z.string(), z.any()).optional(),
    execute: callback,
    readOnly: z.boolean().optional(),
    needsApproval: z.union([z.boolean(), callback], "expected a boolean or a function").optional(),
    lockKey: callback.optional(),
    timeoutMs: z.number().positive().optional(),
    onUnknown: onUnknown.optional(),
    retain: z.boolean().optional(),
    reads: callback.optional(),
    deferred: z.boolean().optional(),
  }),
);

/**
 * Makes a tool. Arguments reach `execute` validated and converted, with the types of the schema; invalid ones never do.
 * @throws AgentError `invalid_options` for a wrong option, with its name, and for a schema that a model cannot be told in
 * JSON Schema, with the place in it
 */
export function tool<S extends ToolInput, C = unknown>(given: ToolOptions<S, C>): ToolDefinition {
  const checked = options.safeParse(given);
  if (!checked.success) {
    const said = checked.error.issues.map(({ path, message }) => [...path.map(String), message].join(": "));
    throw new AgentError("invalid_options", `tool(): ${said.join("; ")}`, { cause: checked.error });
  }
  const { input, parameters, readOnly = false, ...rest } = given;
  return { ...rest, ...compileInput(input, parameters), readOnly };
}

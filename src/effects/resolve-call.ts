/** Finds the tool that a call means, and checks its arguments. */
import type { Json } from "../core/message.ts";
import type { ParsedArgs, ToolDefinition } from "../ports.ts";
import { isThenable, messageOf } from "./effect.ts";
import type { Host } from "./host.ts";

/** A call after unwrapping: `value` are the arguments as the tool gets them, `args` as they were written. */
export type Effective = { name: string; args: Json; via?: string; tool: ToolDefinition; value: unknown };

/** Arguments that were checked already, so that an unchanged call need not be checked again when it runs. */
const checked = new WeakMap<object, { tool: ToolDefinition; value: unknown }>();

/** What a tool made of exactly these arguments, when it has seen them. */
export const checkedValue = (tool: ToolDefinition, args: unknown): { value: unknown } | undefined => {
  const known = typeof args === "object" && args !== null ? checked.get(args) : undefined;
  return known?.tool === tool ? known : undefined;
};

/** Resolves against the pinned catalogue; a wrapper gives way to its target. Answers with a sentence when it cannot. */
export function resolveCall(
  host: Host,
  name: string,
  args: Json,
  via?: string,
): Effective | string | Promise<Effective | string> {
  const { catalogue } = host.pinned;
  const tool = catalogue.get(name);
  if (!tool)
    return `There is no tool named ${JSON.stringify(name)}. The tools are: ${catalogue.names.join(", ") || "none"}.`;
  const finish = (parsed: ParsedArgs) => {
    if (!parsed.ok) return `The arguments of ${name} are not valid: ${parsed.error}`;
    const target = via === undefined ? tool.target?.(parsed.value) : undefined;
    if (target) return resolveCall(host, target.name, target.args, name);
    const { value } = parsed;
    if (typeof args === "object" && args !== null) checked.set(args, { tool, value });
    return via === undefined ? { name, args, tool, value } : { name, args, tool, value, via };
  };
  try {
    const parsed = tool.parse(args);
    return isThenable(parsed) ? parsed.then(finish) : finish(parsed);
  } catch (error) {
    return `The arguments of ${name} could not be checked: ${messageOf(error)}`;
  }
}

/** Deferred tools: not in the request, found by `search_tools`, run by `call_tool` under their own permission. */
import type { Json } from "../core/message.ts";
import type { ToolDefinition } from "../ports.ts";

/** Tools found at once. */
const FOUND = 10;

/** The two tools that stand for all deferred ones. */
export function searchAndCall(deferred: readonly [string, ToolDefinition][]): { [name: string]: ToolDefinition } {
  return {
    search_tools: {
      description: "Finds further tools by words of their name or description. Run one with call_tool.",
      parameters: {
        type: "object",
        properties: { query: { type: "string", description: "words to look for" } },
        required: ["query"],
        additionalProperties: false,
      },
      readOnly: true,
      parse: (args) => fieldsOf(args, ["query"]),
      execute: ({ query }: { query: string }) => search(deferred, query),
    },
    call_tool: {
      description: "Runs a tool that search_tools found.",
      parameters: {
        type: "object",
        properties: { name: { type: "string" }, arguments: { type: "object" } },
        required: ["name", "arguments"],
        additionalProperties: false,
      },
      readOnly: false,
      parse: (args) => fieldsOf(args, ["name", "arguments"]),
      target: (args: { name: string; arguments: Json }) => ({ name: args.name, args: args.arguments }),
      execute: () => {
        throw new Error("call_tool stands for its target and is never run itself");
      },
    },
  };
}

function search(deferred: readonly [string, ToolDefinition][], query: string) {
  const words = query.toLowerCase().split(/\W+/).filter(Boolean);
  const score = ([name, tool]: [string, ToolDefinition]) => {
    const text = `${name} ${tool.description}`.toLowerCase();
    return words.filter((word) => text.includes(word)).length;
  };
  return deferred
    .map((tool) => ({ tool, hits: score(tool) }))
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .slice(0, FOUND)
    .map(({ tool: [name, { description, parameters }] }) => ({ name, description, parameters }));
}

function fieldsOf(args: Json, names: readonly string[]) {
  if (typeof args !== "object" || args === null || Array.isArray(args))
    return { ok: false as const, error: "expected an object" };
  const missing = names.find((name) => !(name in args));
  return missing ? { ok: false as const, error: `${missing} is missing` } : { ok: true as const, value: args };
}

/** The tools of one request: what the model is offered, and what `act` resolves calls against. */
import { AgentError } from "../core/errors.ts";
import { estimateText } from "../core/budget.ts";
import { searchAndCall } from "../middleware/deferred-tools.ts";
import type { Chain, Middleware } from "../middleware/middleware.ts";
import type { ToolDefinition, ToolSpec } from "../ports.ts";
import { messageOf } from "./effect.ts";
import { hashOf } from "./hash.ts";

type Tools = { readonly [name: string]: ToolDefinition };

/** Immutable; equal tools make equal catalogues. */
export class Catalogue {
  /** Direct tools, sorted by name. */
  readonly specs: readonly ToolSpec[];
  readonly names: string[];
  readonly hash: string;
  readonly tokens: number;
  readonly #tools: ReadonlyMap<string, ToolDefinition>;

  constructor(tools: ReadonlyMap<string, ToolDefinition>) {
    this.#tools = tools;
    const direct = [...tools].filter(([, t]) => !t.deferred).sort(([a], [b]) => (a < b ? -1 : 1));
    this.specs = direct.map(([name, t]) => ({ name, description: t.description, parameters: t.parameters }));
    this.names = direct.map(([name]) => name);
    const text = JSON.stringify(this.specs);
    this.hash = hashOf(text).slice(0, 16);
    this.tokens = this.specs.length ? estimateText(text) : 0;
  }

  get(name: string): ToolDefinition | undefined {
    return this.#tools.get(name);
  }
}

function toolsOf(m: Middleware, sessionId: string): Tools {
  if (typeof m.tools !== "function") return m.tools ?? {};
  try {
    return m.tools({ sessionId });
  } catch (cause) {
    const message = `The tools of middleware "${m.name}" could not be had: ${messageOf(cause)}`;
    throw new AgentError("invalid_options", message, { cause, details: { middleware: m.name } });
  }
}

/**
 * Gathers the tools of an agent, a chain and a run. A run's tools replace the agent's of the same name; a middleware
 * must not bring a name that is taken.
 * @throws AgentError `invalid_options`
 */
export function gatherTools(sources: {
  agent: Tools;
  chain: Chain;
  run?: Tools | undefined;
  sessionId: string;
}): Catalogue {
  const tools = new Map(Object.entries({ ...sources.agent, ...sources.run }));
  for (const m of sources.chain) {
    if (!m.tools) continue;
    const own = toolsOf(m, sources.sessionId);
    for (const [name, definition] of Object.entries(own)) {
      if (tools.has(name))
        throw new AgentError(
          "invalid_options",
          `middleware "${m.name}" brings the tool "${name}", which exists already`,
        );
      tools.set(name, definition);
    }
  }
  const deferred = [...tools].filter(([, t]) => t.deferred);
  if (deferred.length)
    for (const [name, definition] of Object.entries(searchAndCall(deferred)))
      if (!tools.has(name)) tools.set(name, definition);
  return new Catalogue(tools);
}

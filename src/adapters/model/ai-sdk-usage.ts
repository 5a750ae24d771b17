/** Token counts as the versions of the AI SDK's specification spell them. */
import type { Usage } from "../../core/usage.ts";
import { fields, type Fields } from "./chat-usage.ts";

const count = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;

/** How providers name what they count, in their own usage. */
const spoken: { readonly [K in keyof Usage]?: RegExp } = {
  input: /input|prompt/i,
  output: /output|completion|candidates/i,
  cacheRead: /cached|cache_?(read|hit)/i,
  cacheWrite: /cache_?(creation|write)/i,
  reasoning: /reason|thought|thinking/i,
};

/**
 * Reads the usage of a `finish` part; `undefined` when it says nothing. Provider packages write 0 for what their provider
 * did not say, so a 0 counts only where the provider's own usage has a word for it.
 */
export function aiSdkUsage(raw: unknown, countsFreshOnly = false): Usage | undefined {
  const usage = fields(raw);
  if (!usage) return undefined;
  const input = fields(usage["inputTokens"]);
  const output = fields(usage["outputTokens"]);
  const said = input || output ? nested(input, output, usage) : flat(usage, countsFreshOnly);
  return Object.keys(said).length ? said : undefined;
}

function nested(input: Fields | undefined, output: Fields | undefined, usage: Fields): Usage {
  const words = namesIn(usage["raw"]).join(" ");
  return present(
    {
      input: count(input?.["total"]),
      output: count(output?.["total"]),
      cacheRead: count(input?.["cacheRead"]),
      cacheWrite: count(input?.["cacheWrite"]),
      reasoning: count(output?.["reasoning"]),
    },
    (name) => spoken[name]?.test(words) === true,
  );
}

/** v2: flat, and absent where nothing was said. */
function flat(usage: Fields, countsFreshOnly: boolean): Usage {
  const fresh = count(usage["inputTokens"]);
  const cacheRead = count(usage["cachedInputTokens"]);
  return present(
    {
      input: fresh !== undefined && countsFreshOnly ? fresh + (cacheRead ?? 0) : fresh,
      output: count(usage["outputTokens"]),
      cacheRead,
      reasoning: count(usage["reasoningTokens"]),
    },
    () => true,
  );
}

function present(
  counts: { [K in keyof Usage]: number | undefined },
  countsZero: (name: keyof Usage) => boolean,
): Usage {
  const usage: Usage = {};
  for (const name of Object.keys(counts) as (keyof Usage)[]) {
    const value = counts[name];
    if (value !== undefined && (value > 0 || countsZero(name))) usage[name] = value;
  }
  return usage;
}

/** The names of all numbers in an object, at any depth. */
function namesIn(raw: unknown): string[] {
  const object = fields(raw);
  if (!object) return [];
  return Object.entries(object).flatMap(([name, value]) => (typeof value === "number" ? [name] : namesIn(value)));
}

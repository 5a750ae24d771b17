/** Token counts as chat providers spell them. */
import type { Usage } from "../../core/usage.ts";

/** Any JSON object. */
export type Fields = { readonly [key: string]: unknown };

/** The value when it is an object with fields, else `undefined`. */
export const fields = (value: unknown): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

const count = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;

/** The usage object of a chunk, wherever this provider puts it. */
export function findUsage(chunk: Fields, choice: Fields | undefined): Fields | undefined {
  return (
    fields(chunk["usage"]) ??
    fields(choice?.["usage"]) ??
    fields(fields(choice?.["delta"])?.["usage"]) ??
    fields(fields(chunk["x_groq"])?.["usage"])
  );
}

/** Reads one usage object. What it does not say stays absent. */
export function readUsage(raw: Fields): Usage {
  const prompt = fields(raw["prompt_tokens_details"] ?? raw["input_tokens_details"]);
  const completion = fields(raw["completion_tokens_details"] ?? raw["output_tokens_details"]);
  const input = count(raw["prompt_tokens"] ?? raw["input_tokens"]);
  const reasoning = count(completion?.["reasoning_tokens"] ?? raw["reasoning_tokens"]);
  const written = count(raw["completion_tokens"] ?? raw["output_tokens"]);
  const total = count(raw["total_tokens"]);
  // Some providers leave reasoning out of the completion; then only the total shows it.
  const apart = reasoning && input !== undefined && written !== undefined && total === input + written + reasoning;
  return present({
    input,
    output: apart ? written + reasoning : written,
    cacheRead: count(prompt?.["cached_tokens"] ?? raw["prompt_cache_hit_tokens"] ?? raw["cached_tokens"]),
    cacheWrite: count(
      prompt?.["cache_write_tokens"] ?? prompt?.["cache_creation_input_tokens"] ?? raw["cache_creation_input_tokens"],
    ),
    reasoning,
  });
}

function present(counts: { [K in keyof Usage]: number | undefined }): Usage {
  const usage: Usage = {};
  for (const key of Object.keys(counts) as (keyof Usage)[]) if (counts[key] !== undefined) usage[key] = counts[key];
  return usage;
}

/** Token usage as a provider reported it. Absent means the provider did not say, which is not the same as 0. */
import { z } from "zod";
import { lazily } from "./lazy.ts";

const tokens = lazily(() => z.number().nonnegative().optional());
export const usage = lazily(() =>
  z.object({
    /** All tokens read, cached ones included. */
    input: tokens,
    /** All tokens written, reasoning included. */
    output: tokens,
    cacheRead: tokens,
    cacheWrite: tokens,
    reasoning: tokens,
    /** US dollars, when the model port knows its prices. */
    costUsd: tokens,
  }),
);
export type Usage = z.infer<typeof usage>;

const add = (a: number | undefined, b: number | undefined) => (a === undefined ? b : b === undefined ? a : a + b);

/** Sums two reports; what neither says stays absent. */
export function addUsage(a: Usage, b: Usage | undefined): Usage {
  if (!b) return a;
  const sum: Usage = {};
  for (const key of ["input", "output", "cacheRead", "cacheWrite", "reasoning", "costUsd"] as const) {
    const value = add(a[key], b[key]);
    if (value !== undefined) sum[key] = value;
  }
  return sum;
}

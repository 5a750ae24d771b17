/** What well-known models of OpenAI cost and hold. Dated; `prices` and `window` of the options override it. */
import type { Usage } from "../../core/usage.ts";

/** US dollars per million tokens. `cacheRead` and `cacheWrite` default to `input`. */
export type Prices = { input: number; output: number; cacheRead?: number; cacheWrite?: number };
/** A row of the table: `long` replaces the prices of a request whose input is larger than `above` tokens. */
export type ModelCard = Prices & { window: number; long?: Prices & { above: number } };

const card = (window: number, input: number, cacheRead: number, output: number): ModelCard => ({
  window,
  input,
  cacheRead,
  output,
});
const twoTier = (window: number, input: number, cacheRead: number, output: number): ModelCard => ({
  ...card(window, input, cacheRead, output),
  // Above 272k tokens of input: twice the input prices, one and a half times the output price, for the whole request.
  long: { above: 272_000, input: 2 * input, cacheRead: 2 * cacheRead, output: 1.5 * output },
});

/**
 * Standard tier, pay as you go, as published in mid 2026 (developers.openai.com/api/docs/pricing and the
 * model pages beside it). `window`
 * is what the model reads: for the GPT-5 family the advertised context less the 128,000 tokens kept for the answer.
 */
const table: { readonly [model: string]: ModelCard } = {
  "gpt-5.5": twoTier(922_000, 5, 0.5, 30),
  "gpt-5.4": twoTier(922_000, 2.5, 0.25, 15),
  "gpt-5.4-mini": card(272_000, 0.75, 0.075, 4.5),
  "gpt-5.4-nano": card(272_000, 0.2, 0.02, 1.25),
  "gpt-5.2": card(272_000, 1.75, 0.175, 14),
  "gpt-5.1": card(272_000, 1.25, 0.125, 10),
  "gpt-5": card(272_000, 1.25, 0.125, 10),
  "gpt-5-mini": card(272_000, 0.25, 0.025, 2),
  "gpt-5-nano": card(272_000, 0.05, 0.005, 0.4),
  "gpt-4.1": card(1_047_576, 2, 0.5, 8),
  "gpt-4.1-mini": card(1_047_576, 0.4, 0.1, 1.6),
  "gpt-4.1-nano": card(1_047_576, 0.1, 0.025, 0.4),
  "gpt-4o": card(128_000, 2.5, 1.25, 10),
  "gpt-4o-mini": card(128_000, 0.15, 0.075, 0.6),
  o3: card(200_000, 2, 0.5, 8),
  "o4-mini": card(200_000, 1.1, 0.275, 4.4),
};

/** What is known of a model of OpenAI, by its name with or without a date (`gpt-5.2-2025-12-11`). */
export function modelCard(model: string): ModelCard | undefined {
  const name = model.replace(/-\d{4}-\d{2}-\d{2}$/, "");
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** What a request cost in US dollars; `undefined` when tokens in or out were not reported. */
export function costUsd(usage: Usage, card: Prices & Pick<ModelCard, "long">): number | undefined {
  const { input, output, cacheRead = 0, cacheWrite = 0 } = usage;
  if (input === undefined || output === undefined) return undefined;
  const prices = card.long && input > card.long.above ? card.long : card;
  const fresh = Math.max(0, input - cacheRead - cacheWrite);
  const dollars =
    fresh * prices.input +
    cacheRead * (prices.cacheRead ?? prices.input) +
    cacheWrite * (prices.cacheWrite ?? prices.input) +
    output * prices.output;
  return dollars / 1_000_000;
}

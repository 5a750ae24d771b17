/** What is known of providers that the AI SDK's specification has no word for. */
import type { Json } from "../../core/message.ts";
import type { SpecVersion } from "./ai-sdk-spec.ts";

type Options = { [name: string]: Json };

/** One provider package, or several that take the same options. */
export type Family = {
  /** Its key in `providerOptions`. */
  key: string;
  /** Sent with every request; `settings.extra` overrides it. */
  always?: Options;
  structured: boolean;
  /** Whether results of tools can hold images and files. */
  resultMedia: boolean;
  /** How tool calls in parallel are allowed or forbidden; absent where the provider has no such option. */
  parallel?: (allowed: boolean) => Options;
  /** How much to think, for packages from before the specification's own `reasoning` setting (v4). */
  thinking?: (level: string, modelId: string) => Options;
  /** Whether it refuses to go on thinking after calls that came without thinking of its own, such as another model's. */
  thinkingLeadsCalls?: boolean;
  /** v2 only: its input count leaves cached tokens out. */
  countsFreshOnly?: boolean;
};

const openai = {
  structured: true,
  parallel: (allowed: boolean) => ({ parallelToolCalls: allowed }),
  thinking: (level: string) => ({ reasoningEffort: level }),
};

/**
 * Responses keep reasoning on the server, for a while, and name it in later requests. A journal outlives that, so it comes
 * here instead, encrypted.
 */
const responses = { ...openai, resultMedia: true, always: { store: false } };

/** Tokens to think with, by level; a level of another name counts as the middle one. */
const budgets: { readonly [level: string]: number } = { minimal: 1024, low: 4096, medium: 10_240, high: 24_576 };
const budgetOf = (level: string): number => budgets[level] ?? budgets["medium"]!;

const anthropic: Family = {
  key: "anthropic",
  structured: true,
  resultMedia: true,
  parallel: (allowed) => ({ disableParallelToolUse: !allowed }),
  thinking: (level): Options => ({
    thinking: level === "none" ? { type: "disabled" } : { type: "enabled", budgetTokens: budgetOf(level) },
  }),
  thinkingLeadsCalls: true,
  countsFreshOnly: true,
};

const google: Family = {
  key: "google",
  structured: true,
  resultMedia: true,
  // Gemini 2 counts tokens, its successors take the level's name.
  thinking: (level, modelId): Options => ({
    thinkingConfig: /gemini-2/.test(modelId)
      ? { thinkingBudget: level === "none" ? 0 : budgetOf(level) }
      : { thinkingLevel: level },
  }),
};

/** By the beginning of a provider's name; the first that fits. */
const families: readonly (readonly [prefix: string, family: Family])[] = [
  ["openai.responses", { ...responses, key: "openai" }],
  ["openai.", { ...openai, key: "openai", resultMedia: false }],
  ["azure.responses", { ...responses, key: "azure" }],
  ["azure", { ...openai, key: "openai", resultMedia: false }],
  ["anthropic", anthropic],
  ["vertex.anthropic", anthropic],
  ["google", google],
  ["amazon-bedrock", { key: "bedrock", structured: true, resultMedia: true }],
];

/** What is known of a provider, by the name a model gives it. Of others nothing is taken for granted. */
export const familyOf = (provider: string): Family =>
  families.find(([prefix]) => provider.startsWith(prefix))?.[1] ?? {
    key: provider.split(".")[0]!,
    structured: false,
    resultMedia: false,
  };

/** The specification's own word for how much to think came with v4. */
export const hasReasoning = (version: SpecVersion): boolean => version === "v4";

/** Options of the AI SDK adapter, checked where they come in. */
import { z } from "zod";
import { AgentError } from "../../core/errors.ts";
import type { Logger } from "../../ports.ts";
import { familyOf, type Family } from "./ai-sdk-families.ts";
import { VERSIONS, type AiSdkModel, type SpecVersion } from "./ai-sdk-spec.ts";
import type { Prices } from "./prices.ts";

/** What {@link fromAiSdk} takes beside the model. Keys, addresses and headers are the model's own matter. */
export type AiSdkOptions = {
  /** Default: the provider's first word and the model's id, such as `anthropic/claude-opus-4-5`. */
  id?: string;
  /** Tokens the model can read; without it nothing is compacted before the provider complains. */
  window?: number;
  /** US dollars per million tokens; without them no cost is reported and no spend limit can hold. */
  prices?: Prices;
  /**
   * Whether the provider holds answers to a JSON Schema. Default: true for OpenAI, Azure, Anthropic, Google and Bedrock;
   * for others the shape is asked for in the instructions.
   */
  structured?: boolean;
  /**
   * Where images and files that a tool returned go: into its `result`, or, where providers take only text there, into a
   * user `message` after the results. Default: `result` for Anthropic, Google, Bedrock and OpenAI Responses.
   */
  resultMedia?: "result" | "message";
  /** Hears once of each warning the provider package gives, such as a setting it leaves out. Default: the console. */
  logger?: Logger;
};

const dollars = z.number().nonnegative();
const schema = z.strictObject({
  id: z.string().min(1).optional(),
  window: z.number().int().positive().optional(),
  prices: z
    .strictObject({ input: dollars, output: dollars, cacheRead: dollars.optional(), cacheWrite: dollars.optional() })
    .optional(),
  structured: z.boolean().optional(),
  resultMedia: z.enum(["result", "message"]).optional(),
  logger: z
    .custom<Logger>((l) => typeof (l as Logger | undefined)?.warn === "function", "expected a logger with warn()")
    .optional(),
});

/** A model and its options with every default filled in. */
export type AiSdkSettings = {
  model: AiSdkModel;
  version: SpecVersion;
  family: Family;
  id: string;
  window: number | undefined;
  prices: Prices | undefined;
  structured: boolean;
  resultMedia: "result" | "message";
  logger: Logger;
};

/**
 * Checks a model and its options, and fills in what is known of the provider.
 * @throws AgentError `invalid_options` with the path of each mistake and what was expected there
 */
export function aiSdkSettings(model: AiSdkModel, options: AiSdkOptions): AiSdkSettings {
  const version = versionOf(model);
  const parsed = schema.safeParse(options);
  if (!parsed.success) {
    const mistakes = parsed.error.issues.map((i) => `${i.path.join(".") || "options"}: ${i.message}`);
    throw new AgentError("invalid_options", `fromAiSdk: ${mistakes.join("; ")}`);
  }
  const family = familyOf(model.provider);
  const { id, window, prices, structured, resultMedia, logger } = parsed.data;
  return {
    model,
    version,
    family,
    id: id ?? `${model.provider.split(".")[0]}/${model.modelId}`,
    window,
    prices,
    structured: structured ?? family.structured,
    resultMedia: resultMedia ?? (family.resultMedia ? "result" : "message"),
    logger: logger ?? { warn: (message) => console.warn(`rcra: ${message}`) },
  };
}

function versionOf(model: unknown): SpecVersion {
  if (typeof model === "string")
    throw new AgentError(
      "invalid_options",
      `fromAiSdk: model: expected a model object such as openai("gpt-5.2"), not the name ${JSON.stringify(model)}.`,
    );
  const given = model as Partial<AiSdkModel> | null | undefined;
  const version = given?.specificationVersion;
  const whole =
    typeof given?.doStream === "function" && typeof given.provider === "string" && typeof given.modelId === "string";
  if (!whole || version === undefined)
    throw new AgentError(
      "invalid_options",
      'fromAiSdk: model: expected a language model of the AI SDK such as openai("gpt-5.2").',
    );
  const known = VERSIONS.find((v) => v === version);
  if (known) return known;
  const spoken = VERSIONS.join(", ");
  throw new AgentError(
    "invalid_options",
    `fromAiSdk: model: ${given.provider} speaks specification ${String(version)} of the AI SDK; expected one of ${spoken}. Install another version of the provider package or of rcra.`,
  );
}

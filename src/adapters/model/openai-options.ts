/** Options of the OpenAI adapter, checked where they come in. */
import { z } from "zod";
import { AgentError } from "../../core/errors.ts";
import { modelSettings } from "../../core/settings.ts";
import type { ModelSettings } from "../../ports.ts";
import { secretHeaders } from "./secrets.ts";
import { modelCard, type ModelCard, type Prices } from "./prices.ts";

const dollars = z.number().nonnegative();
const schema = z.strictObject({
  model: z.string().min(1),
  baseURL: z.url({ protocol: /^https?$/, error: "expected an http(s) address such as https://host/v1" }).optional(),
  apiKey: z.string().min(1).optional(),
  api: z.enum(["chat", "responses"]).optional(),
  window: z.number().int().positive().optional(),
  prices: z
    .strictObject({
      input: dollars,
      output: dollars,
      cacheRead: dollars.optional(),
      cacheWrite: dollars.optional(),
    })
    .optional(),
  settings: modelSettings.optional(),
  structured: z.boolean().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  organization: z.string().min(1).optional(),
  fetch: z
    .custom<typeof globalThis.fetch>((f) => typeof f === "function", "expected a function like the global fetch")
    .optional(),
});

/** What {@link openai} takes. Retries and timeouts are not among it: they belong to the runtime's limits. */
export type OpenAIOptions = {
  /** Such as `gpt-5.2`; sent as it is. */
  model: string;
  /** Of any server that speaks Chat Completions. Default `OPENAI_BASE_URL`, else OpenAI's own. */
  baseURL?: string;
  /** Default `OPENAI_API_KEY`. May be absent only with a `baseURL`; `none` is sent then. */
  apiKey?: string;
  /** Chat Completions (default), which many servers speak, or OpenAI's Responses. */
  api?: "chat" | "responses";
  /** Settings of every request; those of agent and run win. */
  settings?: ModelSettings;
  /** Whether the server enforces output schemas. Default: OpenAI and Azure do, nobody else is known to. */
  structured?: boolean;
  /** Tokens the model can read. Default: known for OpenAI's own models. */
  window?: number;
  /** US dollars per million tokens. Default: a dated table of OpenAI's own models; none for other servers. */
  prices?: Prices;
  /** Sent with every request. Those that look like credentials by their names never appear in a message. */
  headers?: { [name: string]: string };
  organization?: string;
  fetch?: typeof globalThis.fetch;
};

/** Options with every default filled in. */
export type OpenAISettings = {
  model: string;
  api: "chat" | "responses";
  defaults: ModelSettings;
  structured: boolean;
  baseURL: string;
  /** Name and port, for messages; never credentials or a path. */
  host: string;
  /** Name without port: where reasoning came from and may go back to. */
  hostname: string;
  /** OpenAI itself, or Azure's copy of it: takes `max_completion_tokens`. */
  official: boolean;
  apiKey: string;
  /** What no message may show. */
  secrets: readonly string[];
  headers: { [name: string]: string };
  organization: string | undefined;
  fetch: typeof globalThis.fetch | undefined;
  window: number | undefined;
  prices: (Prices & Pick<ModelCard, "long">) | undefined;
};

const OPENAI = "https://api.openai.com/v1";

/**
 * Checks options and fills in what the environment says.
 * @throws AgentError `invalid_options` with the path of each mistake and what was expected there
 */
export function openaiSettings(
  options: OpenAIOptions,
  env: { [name: string]: string | undefined } = process.env,
): OpenAISettings {
  const parsed = schema.safeParse(options);
  if (!parsed.success) throw invalid(parsed.error);
  const { model, api = "chat", headers = {}, organization, fetch, settings = {} } = parsed.data;
  const { url, isDefault } = address(parsed.data.baseURL ?? (env["OPENAI_BASE_URL"]?.trim() || undefined));
  const apiKey = parsed.data.apiKey ?? (env["OPENAI_API_KEY"]?.trim() || undefined);
  if (apiKey === undefined && isDefault)
    throw new AgentError(
      "invalid_options",
      "openai: apiKey: expected a key; pass apiKey, set OPENAI_API_KEY, or give the baseURL of a server that needs none.",
    );
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new AgentError(
      "invalid_options",
      "openai: apiKey: expected printable ASCII without blanks; this one has a line break, a quote or another stray character.",
    );
  const card = url.hostname === "api.openai.com" ? modelCard(model) : undefined;
  const official = url.hostname === "api.openai.com" || url.hostname.endsWith(".openai.azure.com");
  return {
    model,
    api,
    defaults: settings as ModelSettings,
    structured: parsed.data.structured ?? official,
    baseURL: url.href,
    host: url.host,
    hostname: url.hostname,
    official,
    apiKey: apiKey ?? "none",
    secrets: [...(apiKey === undefined ? [] : [apiKey]), ...secretHeaders(headers), ...secretParameters(url)],
    headers,
    organization,
    fetch,
    window: parsed.data.window ?? card?.window,
    prices: parsed.data.prices ?? card,
  };
}

/** Values of an address that are keys by their names. */
const secretParameters = (url: URL): string[] =>
  [...url.searchParams].flatMap(([name, value]) => (/key|token|secret|sig|auth/i.test(name) && value ? [value] : []));

function address(given: string | undefined): { url: URL; isDefault: boolean } {
  try {
    return { url: new URL(given ?? OPENAI), isDefault: given === undefined };
  } catch {
    // Only the environment's value gets here unchecked; it is not quoted, addresses may hold credentials.
    throw new AgentError("invalid_options", "openai: OPENAI_BASE_URL: expected an address such as https://host/v1.");
  }
}

function invalid(error: z.ZodError): AgentError {
  const mistakes = error.issues.map((i) => `${i.path.join(".") || "options"}: ${i.message}`);
  return new AgentError("invalid_options", `openai: ${mistakes.join("; ")}`);
}

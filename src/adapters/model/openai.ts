/** A model behind any server that speaks OpenAI's Chat Completions or Responses. */
import type { OpenAI } from "openai";
import type { Failure } from "../../core/failure.ts";
import type { Usage } from "../../core/usage.ts";
import type { ModelChunk, ModelPort, ModelRequest } from "../../ports.ts";
import { chatApi } from "./chat-api.ts";
import { classifyThrown } from "./classify.ts";
import { noStream } from "./no-stream.ts";
import { openaiSettings, type OpenAIOptions, type OpenAISettings } from "./openai-options.ts";
import { costUsd } from "./prices.ts";
import { responsesApi } from "./responses-api.ts";
import { toolNames } from "./tool-names.ts";

/** The largest delay a timer holds: first-byte, idle and total limits are the runtime's. */
const NO_TIMEOUT = 2 ** 31 - 1;

/** A request body; its keys always come in the same order. */
export type Body = { [field: string]: unknown };

/** Turns the events of one stream into chunks. Feed `take` each, then call `end` once; a `failed` chunk ends it early. */
export type Reader = {
  /** Whether the provider said that the answer is whole, though more may still come. */
  readonly finished: boolean;
  take(event: unknown): ModelChunk[];
  end(): ModelChunk[];
  /** What was reported of usage so far; also worth knowing of a stream that failed. */
  usage(): ModelChunk[];
};

/** One of the provider's two ways to be asked. */
export type Api = {
  body(request: ModelRequest): Body;
  reader(toolName: (wire: string) => string, costUsd: (usage: Usage) => number | undefined): Reader;
  send(client: OpenAI, body: Body, signal: AbortSignal): Promise<{ data: AsyncIterable<unknown>; response: Response }>;
};

/**
 * A {@link ModelPort} over Chat Completions, or over Responses with `api: "responses"`. Never throws while streaming: what
 * goes wrong is a `failed` chunk whose message shows no key. The client library is loaded by the first request.
 * @throws AgentError `invalid_options` with the path of each mistake
 */
export function openai(options: OpenAIOptions): ModelPort {
  const settings = openaiSettings(options);
  const api = settings.api === "responses" ? responsesApi(settings) : chatApi(settings);
  let client: Promise<OpenAI> | undefined;
  const connect = () => (client ??= load(settings));
  return {
    id: `${settings.hostname === "api.openai.com" ? "openai" : settings.hostname}/${settings.model}`,
    ...(settings.window !== undefined && { window: settings.window }),
    priced: settings.prices !== undefined,
    structured: settings.structured,
    stream: (request, { signal }) =>
      stream({ ...request, settings: { ...settings.defaults, ...request.settings } }, signal, settings, api, connect),
  };
}

async function* stream(
  request: ModelRequest,
  signal: AbortSignal,
  settings: OpenAISettings,
  api: Api,
  connect: () => Promise<OpenAI>,
): AsyncGenerator<ModelChunk, void, undefined> {
  const { prices } = settings;
  let reader: Reader | undefined;
  try {
    reader = api.reader(toolNames(request.tools), (usage) => prices && costUsd(usage, prices));
    const { data, response } = await api.send(await connect(), api.body(request), signal);
    // The client reads HTML and plain JSON as a stream without events, so these are looked for here.
    const failure = await noStream(response, settings);
    if (failure) {
      yield failed(failure);
      return;
    }
    for await (const event of data) {
      for (const part of reader.take(event)) {
        yield part;
        if (part.type === "failed") return;
      }
    }
    // The client ends an aborted stream as if it were whole.
    if (!signal.aborted) {
      yield* reader.end();
      return;
    }
  } catch (error) {
    // After a finish reason the answer is whole: only the provider's own word that it is not overturns that.
    if (!signal.aborted && reader?.finished && !saidByProvider(error)) {
      yield* reader.end();
      return;
    }
    if (!signal.aborted) {
      yield* reader?.usage() ?? [];
      yield failed(classifyThrown(error, settings));
      return;
    }
  }
  yield failed({ class: "cancelled", message: "The request was cancelled." });
}

const failed = (failure: Failure): ModelChunk => ({ type: "failed", failure });

const saidByProvider = (error: unknown): boolean =>
  error instanceof Error && "error" in error && error.error !== undefined;

async function load(settings: OpenAISettings): Promise<OpenAI> {
  const { OpenAI } = await import("openai");
  const { apiKey, baseURL, headers, organization, fetch, hostname } = settings;
  // What the environment says of organizations is OpenAI's business only.
  const elsewhere = hostname !== "api.openai.com" ? { organization: null, project: null } : {};
  return new OpenAI({
    apiKey,
    baseURL,
    ...elsewhere,
    ...(organization !== undefined && { organization }),
    ...(fetch && { fetch }),
    defaultHeaders: headers,
    maxRetries: 0,
    timeout: NO_TIMEOUT,
    // It would print lines it cannot parse.
    logLevel: "off",
  });
}

/** A model behind any server that speaks OpenAI's Chat Completions. */
import type { OpenAI } from "openai";
import type { Failure } from "../../core/failure.ts";
import type { ModelChunk, ModelPort, ModelRequest } from "../../ports.ts";
import { ChatRequests, type ChatBody } from "./chat-request.ts";
import { ChatReader } from "./chat-stream.ts";
import { classifyThrown, type Peer } from "./classify.ts";
import { noStream } from "./no-stream.ts";
import { openaiSettings, type OpenAIOptions, type OpenAISettings } from "./openai-options.ts";
import { costUsd } from "./prices.ts";
import { toolNames } from "./tool-names.ts";

/** The largest delay a timer holds: first-byte, idle and total limits are the runtime's. */
const NO_TIMEOUT = 2 ** 31 - 1;

/**
 * A {@link ModelPort} over Chat Completions. Never throws while streaming: what goes wrong is a `failed` chunk whose
 * message shows no key. The client library is loaded by the first request.
 * @throws AgentError `invalid_options` with the path of each mistake
 */
export function openai(options: OpenAIOptions): ModelPort {
  const settings = openaiSettings(options);
  const requests = new ChatRequests(settings);
  let client: Promise<OpenAI> | undefined;
  const connect = () => (client ??= load(settings));
  return {
    id: `${settings.hostname === "api.openai.com" ? "openai" : settings.hostname}/${settings.model}`,
    ...(settings.window !== undefined && { window: settings.window }),
    priced: settings.prices !== undefined,
    stream: (request, { signal }) => stream(request, signal, settings, requests, connect),
  };
}

async function* stream(
  request: ModelRequest,
  signal: AbortSignal,
  settings: OpenAISettings,
  requests: ChatRequests,
  connect: () => Promise<OpenAI>,
): AsyncGenerator<ModelChunk, void, undefined> {
  const { prices } = settings;
  let reader: ChatReader | undefined;
  try {
    reader = new ChatReader({
      peer: settings,
      toolName: toolNames(request.tools),
      costUsd: (usage) => prices && costUsd(usage, prices),
    });
    const body = requests.body(request);
    const opened = await open(await connect(), body, signal, settings);
    if ("failure" in opened) {
      yield failed(opened.failure);
      return;
    }
    for await (const chunk of opened.chunks) {
      for (const part of reader.take(chunk)) {
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

/** Sends the request. The client reads HTML and plain JSON as a stream without events, so these are looked for here. */
async function open(
  client: OpenAI,
  body: ChatBody,
  signal: AbortSignal,
  peer: Peer,
): Promise<{ chunks: AsyncIterable<unknown> } | { failure: Failure }> {
  const params = body as unknown as OpenAI.Chat.ChatCompletionCreateParamsStreaming;
  const { data, response } = await client.chat.completions.create(params, { signal }).withResponse();
  const failure = await noStream(response, peer);
  return failure ? { failure } : { chunks: data };
}

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

/** A model behind any language model of the Vercel AI SDK. */
import type { Failure } from "../../core/failure.ts";
import type { ModelChunk, ModelPort, ModelRequest } from "../../ports.ts";
import { classifyAiSdk } from "./ai-sdk-failure.ts";
import { aiSdkSettings, type AiSdkOptions, type AiSdkSettings } from "./ai-sdk-options.ts";
import { AiSdkReader } from "./ai-sdk-reader.ts";
import { AiSdkRequests, type AiSdkCall } from "./ai-sdk-request.ts";
import { modelSecrets } from "./ai-sdk-secrets.ts";
import type { AiSdkModel, AiSdkStream, PartReader } from "./ai-sdk-spec.ts";
import type { Peer } from "./classify.ts";
import { costUsd } from "./prices.ts";
import { scrub } from "./secrets.ts";
import { toolNames } from "./tool-names.ts";

/**
 * A {@link ModelPort} over a language model of the AI SDK (specification v2 to v4, which are AI SDK 5 to 7). The model is
 * asked directly, through `doStream`: of the AI SDK only the provider's package is needed, and nothing retries, times
 * out or runs tools but the runtime. Never throws while streaming: what goes wrong is a `failed` chunk whose message
 * shows no key.
 *
 * What a provider wants back (signatures, encrypted reasoning, ids of items) stays with its message and goes to the same
 * provider only; so do calls that the provider ran itself and files that it made, as thinking parts without text.
 * `settings.extra` is the AI SDK's `providerOptions`. OpenAI Responses are asked with `store: false`, so that nothing a
 * session needs is kept by the provider alone.
 * @throws AgentError `invalid_options` with the path of each mistake
 */
export function fromAiSdk(model: AiSdkModel, options: AiSdkOptions = {}): ModelPort {
  const settings = aiSdkSettings(model, options);
  const said = new Set<string>();
  const warn = (message: string) => {
    const line = scrub(`${settings.id}: ${message}`, []);
    if (said.has(line)) return;
    said.add(line);
    settings.logger.warn(line);
  };
  const requests = new AiSdkRequests(settings, warn);
  return {
    id: settings.id,
    ...(settings.window !== undefined && { window: settings.window }),
    priced: settings.prices !== undefined,
    structured: settings.structured,
    stream: (request, { signal }) => stream(request, signal, settings, requests, warn),
  };
}

async function* stream(
  request: ModelRequest,
  signal: AbortSignal,
  settings: AiSdkSettings,
  requests: AiSdkRequests,
  warn: (message: string) => void,
): AsyncGenerator<ModelChunk, void, undefined> {
  const peer = peerOf(settings);
  // Also ends the connection when whoever reads this stream goes away.
  const connection = new AbortController();
  let parts: PartReader | undefined;
  const abort = () => {
    connection.abort(signal.reason);
    // Ends a pending read, also of models that do not listen to their signal.
    parts?.cancel().catch(() => undefined);
  };
  signal.addEventListener("abort", abort, { once: true });
  try {
    const reader = readerFor(request, settings, peer, warn);
    const opened = signal.aborted ? undefined : await open(settings.model, requests.call(request), connection.signal);
    parts = opened?.stream.getReader();
    reader.contentType = opened?.response?.headers?.["content-type"]?.toLowerCase();
    while (parts && !signal.aborted) {
      const { done, value } = await parts.read();
      if (signal.aborted) break;
      for (const chunk of done ? [reader.end()] : reader.take(value)) {
        yield chunk;
        if (chunk.type === "finish" || chunk.type === "failed") return;
      }
    }
  } catch (error) {
    if (!signal.aborted) {
      yield failed(classifyAiSdk(error, peer, parts ? "stream" : "request"));
      return;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    parts?.cancel().catch(() => undefined);
    connection.abort();
  }
  yield failed({ class: "cancelled", message: "The request was cancelled." });
}

const failed = (failure: Failure): ModelChunk => ({ type: "failed", failure });

/** Keys are looked up only when a message is written that could show one. */
const peerOf = ({ id, model }: AiSdkSettings): Peer => ({
  host: id,
  get secrets() {
    return modelSecrets(model);
  },
  key: "the API key of the provider",
});

function readerFor(
  request: ModelRequest,
  { model, prices, version, family }: AiSdkSettings,
  peer: Peer,
  warn: (message: string) => void,
): AiSdkReader {
  return new AiSdkReader({
    peer,
    provider: model.provider,
    toolName: toolNames(request.tools),
    costUsd: (usage) => prices && costUsd(usage, prices),
    countsFreshOnly: version === "v2" && family.countsFreshOnly === true,
    warn,
  });
}

/** Sends the request; `undefined` when it was aborted first, and whatever comes of it then is let go. */
async function open(model: AiSdkModel, call: AiSdkCall, signal: AbortSignal): Promise<AiSdkStream | undefined> {
  const sent = Promise.resolve(model.doStream({ ...call, abortSignal: signal }));
  const opened = await Promise.race([sent, aborted(signal)]);
  if (!opened)
    sent
      .then(
        ({ stream: late }) => late.getReader().cancel(),
        () => undefined,
      )
      .catch(() => undefined);
  return opened;
}

const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });

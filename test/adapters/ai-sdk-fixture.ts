/** Models of the AI SDK that stream what they are told to, in each version of the specification. */
import type {
  LanguageModelV2,
  LanguageModelV2StreamPart,
  LanguageModelV3StreamPart,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { convertArrayToReadableStream, MockLanguageModelV3, MockLanguageModelV4 } from "ai/test";
import { fromAiSdk, type AiSdkOptions } from "../../src/ai-sdk.ts";
import type { ModelPort } from "../../src/ports.ts";

/** A port, what its model was called with, and what it warned of. */
export type Told = { port: ModelPort; calls: any[]; warnings: string[] };

type Options = AiSdkOptions & { provider?: string; modelId?: string };

function told(options: Options, make: (about: { provider: string; modelId: string }) => any, calls: any[]): Told {
  const { provider = "acme.chat", modelId = "m", ...rest } = options;
  const warnings: string[] = [];
  const logger = { warn: (message: string) => warnings.push(message) };
  return { port: fromAiSdk(make({ provider, modelId }), { logger, ...rest }), calls, warnings };
}

export function v4(parts: LanguageModelV4StreamPart[], options: Options = {}): Told {
  const calls: any[] = [];
  return told(
    options,
    (about) =>
      new MockLanguageModelV4({
        ...about,
        doStream: async (call) => {
          calls.push(call);
          return { stream: convertArrayToReadableStream(parts) };
        },
      }),
    calls,
  );
}

export function v3(parts: LanguageModelV3StreamPart[], options: Options = {}): Told {
  const calls: any[] = [];
  return told(
    options,
    (about) =>
      new MockLanguageModelV3({
        ...about,
        doStream: async (call) => {
          calls.push(call);
          return { stream: convertArrayToReadableStream(parts) };
        },
      }),
    calls,
  );
}

export function v2(parts: LanguageModelV2StreamPart[], options: Options = {}): Told {
  const calls: any[] = [];
  const make = (about: { provider: string; modelId: string }): LanguageModelV2 => ({
    ...about,
    specificationVersion: "v2",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("not streamed")),
    doStream: async (call) => {
      calls.push(call);
      return { stream: convertArrayToReadableStream(parts) };
    },
  });
  return told(options, make, calls);
}

const none = undefined;
/** The end of an answer. */
export const finish = (
  unified: Extract<LanguageModelV3StreamPart, { type: "finish" }>["finishReason"]["unified"] = "stop",
  raw: string | undefined = unified,
) =>
  ({
    type: "finish",
    finishReason: { unified, raw },
    usage: {
      inputTokens: { total: none, noCache: none, cacheRead: none, cacheWrite: none },
      outputTokens: { total: none, text: none, reasoning: none },
    },
  }) as const;

export const says = (text: string, id = "0") =>
  [
    { type: "text-start", id },
    { type: "text-delta", id, delta: text },
    { type: "text-end", id },
  ] as const;

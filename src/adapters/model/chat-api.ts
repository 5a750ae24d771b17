/** Chat Completions, as the adapter asks it. */
import type { OpenAI } from "openai";
import { ChatRequests } from "./chat-request.ts";
import { ChatReader } from "./chat-stream.ts";
import type { Api } from "./openai.ts";
import type { OpenAISettings } from "./openai-options.ts";

export function chatApi(settings: OpenAISettings): Api {
  const requests = new ChatRequests(settings);
  return {
    body: (request) => requests.body(request),
    reader: (toolName, costUsd) => new ChatReader({ peer: settings, toolName, costUsd }),
    send(client, body, signal) {
      const params = body as unknown as OpenAI.Chat.ChatCompletionCreateParamsStreaming;
      return client.chat.completions.create(params, { signal }).withResponse();
    },
  };
}

/** Responses, as the adapter asks it. */
import type { OpenAI } from "openai";
import type { Api } from "./openai.ts";
import type { OpenAISettings } from "./openai-options.ts";
import { ResponsesRequests } from "./responses-request.ts";
import { ResponsesReader } from "./responses-stream.ts";

export function responsesApi(settings: OpenAISettings): Api {
  const requests = new ResponsesRequests(settings);
  return {
    body: (request) => requests.body(request),
    reader: (toolName, costUsd) => new ResponsesReader({ peer: settings, toolName, costUsd }),
    send(client, body, signal) {
      const params = body as unknown as OpenAI.Responses.ResponseCreateParamsStreaming;
      return client.responses.create(params, { signal }).withResponse();
    },
  };
}

/** Every model adapter against the one contract, each with the real client of its provider. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { fromAiSdk } from "../../src/ai-sdk.ts";
import { openai } from "../../src/openai.ts";
import { anthropic, chat, gemini, responses } from "./model-dialects.ts";
import { modelContract } from "./model.contract.ts";

const logger = { warn: () => undefined };

modelContract("openai() over Chat Completions", {
  make: ({ url, key }) => openai({ model: "gpt-5.2", baseURL: `${url}/v1`, apiKey: key }),
  dialect: chat,
  returns: ['"reasoning_content":"because"'],
});

modelContract("openai() over Responses", {
  make: ({ url, key }) => openai({ api: "responses", model: "gpt-5.2", baseURL: `${url}/v1`, apiKey: key }),
  dialect: responses,
  returns: ["b3BhcXVlLWVuY3J5cHRlZA=="],
});

modelContract("fromAiSdk() over @ai-sdk/openai Chat Completions", {
  make: ({ url, key }) => fromAiSdk(createOpenAI({ baseURL: `${url}/v1`, apiKey: key }).chat("gpt-5.2"), { logger }),
  dialect: chat,
  // The package neither shows nor returns reasoning here.
  thinks: false,
});

modelContract("fromAiSdk() over @ai-sdk/openai Responses", {
  make: ({ url, key }) =>
    fromAiSdk(createOpenAI({ baseURL: `${url}/v1`, apiKey: key }).responses("gpt-5.2"), { logger }),
  dialect: responses,
  returns: ["rs_signed_1", "b3BhcXVlLWVuY3J5cHRlZA=="],
});

modelContract("fromAiSdk() over @ai-sdk/anthropic", {
  make: ({ url, key }) =>
    fromAiSdk(createAnthropic({ baseURL: `${url}/v1`, apiKey: key })("claude-sonnet-4-5"), { logger }),
  dialect: anthropic,
  returns: ["c2lnbmVkLXRoaW5raW5n", "cmVkYWN0ZWQ="],
});

modelContract("fromAiSdk() over @ai-sdk/google", {
  make: ({ url, key }) =>
    fromAiSdk(createGoogle({ baseURL: `${url}/v1beta`, apiKey: key })("gemini-3-pro-preview"), { logger }),
  dialect: gemini,
  returns: ["dGhvdWdodC1zaWduZWQ="],
});

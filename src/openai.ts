/** `rcra/openai`: models of OpenAI, and of every server that speaks its Chat Completions. */
export { openai } from "./adapters/model/openai.ts";
export { fromOpenAIMessages, type OpenAIMessage } from "./adapters/model/openai-import.ts";
export type { OpenAIOptions } from "./adapters/model/openai-options.ts";
export type { Prices } from "./adapters/model/prices.ts";

/** `rcra/ai-sdk`: language models of the Vercel AI SDK, from any of its provider packages. */
export { fromAiSdk } from "./adapters/model/from-ai-sdk.ts";
export type { AiSdkModel, AiSdkStream, PartReader } from "./adapters/model/ai-sdk-spec.ts";
export type { AiSdkOptions } from "./adapters/model/ai-sdk-options.ts";
export type { Prices } from "./adapters/model/prices.ts";

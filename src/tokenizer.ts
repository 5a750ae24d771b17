/** `rcra/tokenizer`: exact token counts, over the optional package `gpt-tokenizer`. */
export { gptTokenizer, type GptTokenizer } from "./adapters/gpt-tokenizer.ts";

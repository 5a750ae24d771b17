/** Counts tokens exactly, as OpenAI's models do. */
import { AgentError } from "../core/errors.ts";
import { messageOf } from "../tool-schema.ts";

export type GptTokenizer = { readonly name: string; count(this: void, text: string): number };

const encodings = {
  o200k_base: () => import("gpt-tokenizer/encoding/o200k_base"),
  cl100k_base: () => import("gpt-tokenizer/encoding/cl100k_base"),
};

/**
 * Loads a tokenizer for `createAgent({ compaction: { tokenizer: await gptTokenizer() } })`; `o200k_base` is that of GPT-4o
 * and later. Its tables take some megabytes and a moment: without one, tokens are estimated.
 * @throws AgentError `invalid_options` when the package `gpt-tokenizer` is not installed
 */
export async function gptTokenizer(options: { encoding?: keyof typeof encodings } = {}): Promise<GptTokenizer> {
  const { encoding = "o200k_base" } = options;
  const load = encodings[encoding];
  if (!load) {
    const known = Object.keys(encodings).join(", ");
    throw new AgentError("invalid_options", `gptTokenizer: there is no encoding "${encoding}"; there are ${known}`);
  }
  let loaded: Awaited<ReturnType<typeof load>>;
  try {
    loaded = await load();
  } catch (cause) {
    const message = `gptTokenizer: gpt-tokenizer could not be loaded (${messageOf(cause)}). npm install gpt-tokenizer`;
    throw new AgentError("invalid_options", message, { cause });
  }
  // A text may have the name of a special token in it; it is a text all the same.
  const plain = { disallowedSpecial: new Set<string>() };
  return { name: encoding, count: (text) => loaded.countTokens(text, plain) };
}

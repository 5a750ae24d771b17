/** Structured output: the shape that a run's final answer must have, and how it is asked for and read. */
import type { Json } from "../core/message.ts";
import type { ModelPort, OutputSpec, ParsedArgs } from "../ports.ts";
import { messageOf } from "./effect.ts";

/** An output schema ready for use: what the model is told, and how its answer is checked. */
export type Output = { spec: OutputSpec; parse: (value: Json) => ParsedArgs | Promise<ParsedArgs> };

/** What a model reads whose provider does not enforce a shape; nothing for the others, and for runs without one. */
export const outputInstructions = (output: Output | undefined, model: ModelPort): string =>
  !output || model.structured
    ? ""
    : "Your final answer must be a single JSON value and nothing else: no words around it, no code fence. " +
      `It must be valid against this JSON Schema:\n${JSON.stringify(output.spec.schema)}`;

/**
 * The object that an answer stands for. The text is parsed strictly; only a code fence around the whole of it is taken
 * off. Never throws.
 */
export async function readOutput(output: Output, answer: string): Promise<ParsedArgs> {
  let value: Json;
  try {
    value = JSON.parse(withoutFence(answer)) as Json;
  } catch (error) {
    return { ok: false, error: `The answer is not JSON: ${messageOf(error)}` };
  }
  try {
    return await output.parse(value);
  } catch (error) {
    return { ok: false, error: `The answer could not be checked: ${messageOf(error)}` };
  }
}

const withoutFence = (answer: string): string =>
  /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/i.exec(answer)?.[1] ?? answer;

/** What is said to a model whose answer does not fit. */
export const repairRequest = (error: string): string =>
  `Your answer does not fit the required shape. ${error}\nAnswer again with the corrected JSON only.`;

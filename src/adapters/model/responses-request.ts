/** The body of a Responses request. */
import type { ModelRequest, ToolSpec } from "../../ports.ts";
import type { Body } from "./openai.ts";
import type { OpenAISettings } from "./openai-options.ts";
import { responsesFormat } from "./output-format.ts";
import { ResponsesInput } from "./responses-input.ts";
import { responsesThinking } from "./thinking-levels.ts";
import { wireName } from "./tool-names.ts";

/**
 * Builds bodies. Equal requests give equal bytes; a longer history gives a longer `input` with the same beginning. Nothing
 * is kept by the provider (`store: false`): the journal is the only truth, so reasoning travels encrypted in both
 * directions. `extra` comes last and wins.
 */
export class ResponsesRequests {
  readonly #model: string;
  readonly #input: ResponsesInput;
  readonly #tools = new WeakMap<ToolSpec, unknown>();

  constructor({ model, hostname }: Pick<OpenAISettings, "model" | "hostname">) {
    this.#model = model;
    this.#input = new ResponsesInput(hostname);
  }

  body({ instructions, messages, tools, settings: s, output }: ModelRequest): Body {
    return {
      model: this.#model,
      ...(instructions !== "" && { instructions }),
      input: this.#input.map(messages),
      ...(tools.length && {
        tools: tools.map((t) => this.#tool(t)),
        ...(s.toolChoice !== undefined && { tool_choice: toolChoice(s.toolChoice) }),
        ...(s.parallelToolCalls !== undefined && { parallel_tool_calls: s.parallelToolCalls }),
      }),
      ...(s.temperature !== undefined && { temperature: s.temperature }),
      ...(s.maxOutputTokens !== undefined && { max_output_tokens: s.maxOutputTokens }),
      ...(s.thinkingLevel !== undefined && responsesThinking(s.thinkingLevel)),
      ...(output && { text: { format: responsesFormat(output) } }),
      store: false,
      ...(mayThink(this.#model) && { include: ["reasoning.encrypted_content"] }),
      stream: true,
      ...s.extra,
    };
  }

  #tool(spec: ToolSpec): unknown {
    let wire = this.#tools.get(spec);
    if (!wire) {
      const { name, description, parameters } = spec;
      wire = { type: "function", name: wireName(name), description, parameters, strict: false };
      this.#tools.set(spec, wire);
    }
    return wire;
  }
}

/** OpenAI refuses to encrypt the reasoning of models that have none. */
const mayThink = (model: string): boolean => !/^(gpt-3|gpt-4|chatgpt|gpt-5[\d.]*-chat)/.test(model);

const toolChoice = (choice: NonNullable<ModelRequest["settings"]["toolChoice"]>): unknown =>
  typeof choice === "string" ? choice : { type: "function", name: wireName(choice.name) };

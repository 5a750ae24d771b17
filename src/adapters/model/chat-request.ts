/** The body of a Chat Completions request. */
import type { ModelRequest, ToolSpec } from "../../ports.ts";
import { ChatMessages } from "./chat-messages.ts";
import type { Body } from "./openai.ts";
import type { OpenAISettings } from "./openai-options.ts";
import { chatFormat } from "./output-format.ts";
import { chatThinking } from "./thinking-levels.ts";
import { wireName } from "./tool-names.ts";

/**
 * Builds bodies. Equal requests give equal bytes; a longer history gives a longer `messages` with the same beginning.
 *
 * `maxOutputTokens` is sent as `max_completion_tokens` to OpenAI and Azure, whose newer models refuse the old name, and as
 * `max_tokens` to everybody else, who may not know the new one. `extra` comes last and wins.
 */
export class ChatRequests {
  readonly #settings: Pick<OpenAISettings, "model" | "official" | "hostname">;
  readonly #messages: ChatMessages;
  readonly #tools = new WeakMap<ToolSpec, unknown>();

  constructor(settings: Pick<OpenAISettings, "model" | "official" | "hostname">) {
    this.#settings = settings;
    this.#messages = new ChatMessages(settings.hostname);
  }

  body({ instructions, messages, tools, settings: s, output }: ModelRequest): Body {
    const { model, official, hostname } = this.#settings;
    return {
      model,
      messages: this.#messages.map(instructions, messages),
      ...(tools.length && {
        tools: tools.map((t) => this.#tool(t)),
        ...(s.toolChoice !== undefined && { tool_choice: toolChoice(s.toolChoice) }),
        ...(s.parallelToolCalls !== undefined && { parallel_tool_calls: s.parallelToolCalls }),
      }),
      ...(s.temperature !== undefined && { temperature: s.temperature }),
      ...(s.maxOutputTokens !== undefined && {
        [official ? "max_completion_tokens" : "max_tokens"]: s.maxOutputTokens,
      }),
      ...(s.thinkingLevel !== undefined && chatThinking(s.thinkingLevel, hostname)),
      ...(output && { response_format: chatFormat(output) }),
      stream: true,
      stream_options: { include_usage: true },
      ...s.extra,
    };
  }

  #tool(spec: ToolSpec): unknown {
    let wire = this.#tools.get(spec);
    if (!wire) {
      const { name, description, parameters } = spec;
      wire = { type: "function", function: { name: wireName(name), description, parameters } };
      this.#tools.set(spec, wire);
    }
    return wire;
  }
}

const toolChoice = (choice: NonNullable<ModelRequest["settings"]["toolChoice"]>): unknown =>
  typeof choice === "string" ? choice : { type: "function", function: { name: wireName(choice.name) } };

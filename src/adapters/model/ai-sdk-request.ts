/** What `doStream` is called with. */
import type { Json, Message } from "../../core/message.ts";
import type { ModelRequest, ModelSettings, ToolSpec } from "../../ports.ts";
import { fields } from "./chat-usage.ts";
import { hasReasoning } from "./ai-sdk-families.ts";
import type { AiSdkSettings } from "./ai-sdk-options.ts";
import { AiSdkPrompt } from "./ai-sdk-prompt.ts";
import type { ProviderOptions } from "./ai-sdk-spec.ts";
import { wireName } from "./tool-names.ts";

/** Call options without a signal; their keys always come in the same order. */
export type AiSdkCall = { [field: string]: unknown };

/**
 * Builds calls. Equal requests give equal calls; a longer history gives a longer `prompt` with the same beginning.
 *
 * `settings.extra` is `providerOptions`, keyed by provider as the AI SDK has it: `{ openai: { store: false } }`. It wins
 * over what other settings put there.
 */
export class AiSdkRequests {
  readonly #settings: AiSdkSettings;
  readonly #prompt: AiSdkPrompt;
  readonly #warn: (message: string) => void;
  readonly #tools = new WeakMap<ToolSpec, unknown>();

  /** `warn` hears of settings that cannot be passed on. */
  constructor(settings: AiSdkSettings, warn: (message: string) => void) {
    this.#settings = settings;
    this.#prompt = new AiSdkPrompt(settings);
    this.#warn = warn;
  }

  /** @throws TypeError for a request that cannot be one: its message says why */
  call({ instructions, messages, tools, settings, output }: ModelRequest): AiSdkCall {
    const s = this.#possible(settings, messages);
    const providerOptions = this.#providerOptions(s, tools.length > 0);
    return {
      prompt: this.#prompt.map(instructions, messages),
      ...(tools.length && {
        tools: tools.map((t) => this.#tool(t)),
        ...(s.toolChoice !== undefined && { toolChoice: toolChoice(s.toolChoice) }),
      }),
      ...(s.temperature !== undefined && { temperature: s.temperature }),
      ...(s.maxOutputTokens !== undefined && { maxOutputTokens: s.maxOutputTokens }),
      ...(s.thinkingLevel !== undefined && hasReasoning(this.#settings.version) && { reasoning: s.thinkingLevel }),
      ...(output && { responseFormat: { type: "json", schema: output.schema, name: output.name } }),
      ...(Object.keys(providerOptions).length > 0 && { providerOptions }),
    };
  }

  /** Settings without those that the provider would refuse here: after a change of model, in the middle of a turn. */
  #possible(settings: ModelSettings, messages: readonly Message[]): ModelSettings {
    const { family, id } = this.#settings;
    const { thinkingLevel, ...rest } = settings;
    if (thinkingLevel === undefined || thinkingLevel === "none" || !family.thinkingLeadsCalls) return settings;
    if (!this.#prompt.followsForeignCalls(messages)) return settings;
    this.#warn(`${id} cannot think right after calls made without its own thinking; thinkingLevel is left out there.`);
    return rest;
  }

  #providerOptions(s: ModelSettings, withTools: boolean): ProviderOptions {
    const { family, version, model, id } = this.#settings;
    const ours: { [name: string]: Json } = { ...family.always };
    if (s.parallelToolCalls !== undefined && withTools) {
      if (family.parallel) Object.assign(ours, family.parallel(s.parallelToolCalls));
      else this.#warn(`${id} has no option for parallelToolCalls that is known here; pass it in settings.extra.`);
    }
    if (s.thinkingLevel !== undefined && !hasReasoning(version)) {
      if (family.thinking) Object.assign(ours, family.thinking(s.thinkingLevel, model.modelId));
      else this.#warn(`${id} has no option for thinkingLevel that is known here; pass it in settings.extra.`);
    }
    const options: ProviderOptions = Object.keys(ours).length ? { [family.key]: ours } : {};
    for (const [provider, given] of Object.entries(s.extra ?? {})) {
      if (!fields(given))
        throw new TypeError(
          `settings.extra.${provider}: expected options of a provider, such as extra: { ${family.key}: { … } }.`,
        );
      options[provider] = { ...options[provider], ...(given as { [name: string]: Json }) };
    }
    return options;
  }

  #tool(spec: ToolSpec): unknown {
    let wire = this.#tools.get(spec);
    if (!wire) {
      const { name, description, parameters } = spec;
      wire = { type: "function", name: wireName(name), description, inputSchema: parameters };
      this.#tools.set(spec, wire);
    }
    return wire;
  }
}

const toolChoice = (choice: NonNullable<ModelSettings["toolChoice"]>): unknown =>
  typeof choice === "string" ? { type: choice } : { type: "tool", toolName: wireName(choice.name) };

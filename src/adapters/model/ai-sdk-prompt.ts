/** Our messages as a prompt of the AI SDK. */
import {
  textOf,
  type AssistantMessage,
  type ContentPart,
  type Message,
  type ToolCallPart,
} from "../../core/message.ts";
import type { ToolMessage, ToolResultPart } from "../../core/message.ts";
import { filePart, resultPart, type MediaPart } from "./ai-sdk-media.ts";
import { opaqueName, optionsOf, ownData, restoredPart } from "./ai-sdk-opaque.ts";
import type { AiSdkSettings } from "./ai-sdk-options.ts";
import type { WireMessage, WirePart } from "./ai-sdk-spec.ts";
import { wireIds } from "./chat-messages.ts";
import { parseObject } from "./json-object.ts";
import { wireName } from "./tool-names.ts";

type ToolWire = { results: WireMessage; media: readonly WirePart[] };

/**
 * Maps messages, each only once in its life. Equal messages give equal prompts, and more messages give a longer prompt
 * with the same beginning. The caller keeps calls and results paired. Opaque data of other providers is left out.
 */
export class AiSdkPrompt {
  readonly #settings: Pick<AiSdkSettings, "version" | "resultMedia">;
  readonly #name: string;
  readonly #wire = new WeakMap<Message, WireMessage>();
  readonly #results = new WeakMap<Message, ToolWire>();

  constructor(settings: Pick<AiSdkSettings, "version" | "resultMedia" | "model">) {
    this.#settings = settings;
    this.#name = opaqueName(settings.model.provider);
  }

  /** The messages of a request; empty instructions are left out. @throws TypeError for media without a valid address */
  map(instructions: string, messages: readonly Message[]): WireMessage[] {
    const prompt: WireMessage[] = instructions ? [{ role: "system", content: instructions }] : [];
    let calls: AssistantMessage | undefined;
    // Where results hold text only, what else tools returned follows the last result of the exchange.
    let media: WirePart[] = [];
    const flush = () => {
      if (media.length) prompt.push({ role: "user", content: media });
      media = [];
    };
    for (const message of messages) {
      if (message.role === "tool") {
        const { results, media: more } = this.#toolMessage(message, calls);
        prompt.push(results);
        media.push(...more);
        continue;
      }
      flush();
      if (message.role === "assistant") calls = message;
      const wire = this.#message(message);
      // Some providers refuse a message without content, such as one whose only part was another's reasoning.
      if ((wire.content as unknown[]).length) prompt.push(wire);
    }
    flush();
    return prompt;
  }

  /** Whether the request goes on after calls that this provider did no thinking of its own for. */
  followsForeignCalls(messages: readonly Message[]): boolean {
    if (messages.at(-1)?.role !== "tool") return false;
    const calls = messages.findLast((m) => m.role === "assistant");
    return calls?.parts.some((p) => p.type === "thinking" && ownData(p.opaque, this.#name)) === false;
  }

  #message(message: Exclude<Message, ToolMessage>): WireMessage {
    let wire = this.#wire.get(message);
    if (!wire) {
      wire =
        message.role === "user"
          ? { role: "user", content: this.#userContent(message.parts) }
          : { role: "assistant", content: this.#assistantContent(message) };
      this.#wire.set(message, wire);
    }
    return wire;
  }

  #userContent(parts: readonly ContentPart[]): WirePart[] {
    // An empty text beside something else is refused by some.
    const said = parts.filter((p) => p.type !== "text" || p.text !== "" || parts.length === 1);
    return said.map((p) => (p.type === "text" ? textPart(p.text) : filePart(p, this.#settings.version)));
  }

  #assistantContent(message: AssistantMessage): WirePart[] {
    const ids = wireIds(message);
    const content: WirePart[] = [];
    for (const part of message.parts) {
      const options = optionsOf(part.opaque, this.#name);
      switch (part.type) {
        case "text":
          if (part.text !== "" || options.providerOptions) content.push({ ...textPart(part.text), ...options });
          break;
        case "thinking": {
          const data = ownData(part.opaque, this.#name);
          if (!data) break;
          const kept = "part" in data ? restoredPart(data["part"], this.#settings.version) : undefined;
          if (kept) content.push(kept);
          else if (!("part" in data)) content.push({ type: "reasoning", text: part.text, ...options });
          break;
        }
        case "tool-call":
          content.push({
            type: "tool-call",
            toolCallId: ids.get(part.callId),
            toolName: wireName(part.name),
            input: inputOf(part),
            ...options,
          });
          break;
        default:
          part satisfies never;
      }
    }
    return content;
  }

  #toolMessage(message: ToolMessage, calls: AssistantMessage | undefined): ToolWire {
    let wire = this.#results.get(message);
    if (!wire) {
      const ids = calls ? wireIds(calls) : new Map<string, string>();
      const media: WirePart[] = [];
      const content = message.parts.map((part) => {
        const id = ids.get(part.callId) ?? part.callId;
        const output = this.#output(part, id, media);
        return { type: "tool-result", toolCallId: id, toolName: wireName(part.name), output };
      });
      wire = { results: { role: "tool", content }, media };
      this.#results.set(message, wire);
    }
    return wire;
  }

  /** What a tool returned. Media that cannot be in a result go into `media`, with a note in both places. */
  #output(part: ToolResultPart, id: string, media: WirePart[]): unknown {
    const { version, resultMedia } = this.#settings;
    const files = part.output.filter((p): p is MediaPart => p.type !== "text");
    const inside = resultMedia === "result" ? files.map((p) => resultPart(p, version)) : [];
    const placed = inside.filter((p) => p !== undefined);
    const apart = files.filter((_, i) => inside[i] === undefined);
    if (apart.length)
      media.push(textPart(`Attached by ${part.name} (${id}):`), ...apart.map((p) => filePart(p, version)));
    const note = apart.length ? `[${apart.length} attached in the next message]` : "";
    const text = [textOf(part.output), note].filter(Boolean).join("\n");
    if (placed.length) return { type: "content", value: [...(text ? [textPart(text)] : []), ...placed] };
    return { type: part.status === "ok" ? "text" : "error-text", value: text };
  }
}

const textPart = (text: string): WirePart => ({ type: "text", text });

/** Arguments as an object. What is none goes back as `{}`; the call's result tells the model what it wrote. */
function inputOf({ args, raw }: ToolCallPart): unknown {
  if (typeof args === "object" && args !== null && !Array.isArray(args)) return args;
  return (raw !== undefined && parseObject(raw)) || {};
}

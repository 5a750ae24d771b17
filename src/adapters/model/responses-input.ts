/** Our messages as input items of a Responses request. */
import { textOf, type AssistantMessage, type ContentPart, type Message, type Opaque } from "../../core/message.ts";
import type { ToolCallPart, ToolMessage } from "../../core/message.ts";
import { argumentsOf, audioFormat, sourceOf, wireIds } from "./chat-messages.ts";
import { fields } from "./chat-usage.ts";
import { wireName } from "./tool-names.ts";

/** The adapter's name in opaque data, which is `{ host, item }` or `{ host, fields }`. */
export const PROVIDER = "openai-responses";

export type Item = { [field: string]: unknown };

/** Maps messages, each only once in its life. The caller keeps calls and results paired. */
export class ResponsesInput {
  readonly #hostname: string;
  readonly #items = new WeakMap<Message, readonly Item[]>();

  /** `hostname`: whose items may be sent back. */
  constructor(hostname: string) {
    this.#hostname = hostname;
  }

  map(messages: readonly Message[]): Item[] {
    const input: Item[] = [];
    let calls: AssistantMessage | undefined;
    for (const message of messages) {
      if (message.role === "assistant") calls = message;
      let items = this.#items.get(message);
      if (!items) {
        items = this.#itemsOf(message, calls);
        this.#items.set(message, items);
      }
      for (const item of items) input.push(item);
    }
    return input;
  }

  #itemsOf(message: Message, calls: AssistantMessage | undefined): Item[] {
    switch (message.role) {
      case "user":
        return [{ role: "user", content: contentOf(message.parts) }];
      case "assistant":
        return this.#answer(message);
      case "tool":
        return this.#results(message, calls);
      default:
        return message satisfies never;
    }
  }

  #answer(message: AssistantMessage): Item[] {
    const ids = wireIds(message);
    const items: Item[] = [];
    for (const part of message.parts) {
      const own = this.#own(part.opaque);
      if (part.type === "thinking") {
        if (own?.["item"]) items.push(own["item"] as Item);
      } else if (part.type === "text") {
        if (part.text === "") continue;
        const content = [{ type: "output_text", text: part.text, annotations: [] }];
        items.push({ type: "message", role: "assistant", content, ...fields(own?.["fields"]) });
      } else items.push(callItem(part, ids.get(part.callId)!, fields(own?.["fields"])));
    }
    // Reasoning must be followed by what came of it; of an answer that was cut right there nothing came.
    while (items.at(-1)?.["type"] === "reasoning") items.pop();
    return items;
  }

  #results(message: ToolMessage, calls: AssistantMessage | undefined): Item[] {
    const ids = calls ? wireIds(calls) : new Map<string, string>();
    return message.parts.map((result) => {
      const call = calls?.parts.find((p): p is ToolCallPart => p.type === "tool-call" && p.callId === result.callId);
      const custom = fields(this.#own(call?.opaque)?.["fields"])?.["type"] === "custom_tool_call";
      return {
        type: custom ? "custom_tool_call_output" : "function_call_output",
        call_id: ids.get(result.callId) ?? result.callId,
        output: contentOf(result.output),
      };
    });
  }

  /** Opaque data of this provider and host; what others want back is left out. */
  #own(opaque: Opaque | undefined): Item | undefined {
    if (opaque?.provider !== PROVIDER) return undefined;
    const data = fields(opaque.data);
    return data?.["host"] === this.#hostname ? data : undefined;
  }
}

function callItem(call: ToolCallPart, id: string, more: Item | undefined): Item {
  const name = wireName(call.name);
  if (more?.["type"] === "custom_tool_call") {
    const input = fields(call.args)?.["input"];
    return { call_id: id, name, input: typeof input === "string" ? input : "", ...more };
  }
  return { type: "function_call", call_id: id, name, arguments: argumentsOf(call), ...more };
}

/** Plain text stays a string: servers that copy this API know that best. */
const contentOf = (parts: readonly ContentPart[]): unknown =>
  parts.every((p) => p.type === "text") ? textOf(parts) : parts.map(inputPart);

function inputPart(part: ContentPart): Item {
  switch (part.type) {
    case "text":
      return { type: "input_text", text: part.text };
    case "image":
      return { type: "input_image", image_url: sourceOf(part), detail: "auto" };
    case "file":
      return part.data === undefined
        ? { type: "input_file", file_url: part.url ?? "" }
        : { type: "input_file", filename: part.name ?? "file", file_data: sourceOf(part) };
    case "audio":
      return {
        type: "input_audio",
        input_audio: { data: part.data ?? part.url ?? "", format: audioFormat(part.mediaType) },
      };
    default:
      return part satisfies never;
  }
}

/** Our messages as Chat Completions messages. */
import {
  textOf,
  type AssistantMessage,
  type ContentPart,
  type Message,
  type ToolCallPart,
} from "../../core/message.ts";
import type { ToolMessage, UserMessage } from "../../core/message.ts";
import { parsesAsObject } from "./json-object.ts";
import { reasoningFields } from "./reasoning.ts";
import { wireName } from "./tool-names.ts";

/** One message of a request body. */
export type WireMessage = { role: "system" | "user" | "assistant" | "tool"; [field: string]: unknown };

type ToolWire = { results: readonly WireMessage[]; media: readonly unknown[] };

/**
 * Maps messages, each only once in its life: a history costs nothing per turn but the array. Equal messages give equal
 * bytes, and more messages give a longer list with the same beginning. The caller keeps calls and results paired.
 */
export class ChatMessages {
  readonly #hostname: string;
  readonly #wire = new WeakMap<Message, WireMessage>();
  readonly #results = new WeakMap<Message, ToolWire>();
  readonly #ids = new WeakMap<AssistantMessage, ReadonlyMap<string, string>>();

  /** `hostname`: whose reasoning may be sent back. */
  constructor(hostname: string) {
    this.#hostname = hostname;
  }

  /** The messages of a request; empty instructions are left out. */
  map(instructions: string, messages: readonly Message[]): WireMessage[] {
    const wire: WireMessage[] = instructions ? [{ role: "system", content: instructions }] : [];
    let calls: AssistantMessage | undefined;
    // Tool messages hold text only: what else tools returned follows, when the last result of the exchange is in.
    let media: unknown[] = [];
    const flush = () => {
      if (media.length) wire.push({ role: "user", content: media });
      media = [];
    };
    for (const message of messages) {
      if (message.role === "tool") {
        const mapped = this.#toolMessage(message, calls);
        for (const result of mapped.results) wire.push(result);
        media.push(...mapped.media);
        continue;
      }
      flush();
      if (message.role === "assistant") calls = message;
      wire.push(this.#message(message));
    }
    flush();
    return wire;
  }

  #message(message: UserMessage | AssistantMessage): WireMessage {
    let wire = this.#wire.get(message);
    if (!wire) {
      wire =
        message.role === "user"
          ? { role: "user", content: userContent(message.parts) }
          : assistantMessage(message, this.#idsOf(message), this.#hostname);
      this.#wire.set(message, wire);
    }
    return wire;
  }

  #toolMessage(message: ToolMessage, calls: AssistantMessage | undefined): ToolWire {
    let wire = this.#results.get(message);
    if (!wire) {
      wire = toolMessage(message, calls ? this.#idsOf(calls) : new Map());
      this.#results.set(message, wire);
    }
    return wire;
  }

  #idsOf(message: AssistantMessage): ReadonlyMap<string, string> {
    let ids = this.#ids.get(message);
    if (!ids) {
      ids = wireIds(message);
      this.#ids.set(message, ids);
    }
    return ids;
  }
}

/** Call id → the provider's own id of it, or ours where it gave none or gave it twice in one answer. */
export function wireIds(message: AssistantMessage): Map<string, string> {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  for (const part of message.parts) {
    if (part.type !== "tool-call") continue;
    const id = part.wireId && !taken.has(part.wireId) ? part.wireId : part.callId;
    taken.add(id);
    ids.set(part.callId, id);
  }
  return ids;
}

function assistantMessage(message: AssistantMessage, ids: ReadonlyMap<string, string>, hostname: string): WireMessage {
  const calls = message.parts.filter((p) => p.type === "tool-call");
  const text = textOf(message.parts);
  const { thinking, ...reasoning } = reasoningFields(message.parts, hostname);
  const content = thinking ? [...thinking, ...(text ? [{ type: "text", text }] : [])] : text;
  return {
    role: "assistant",
    content: content === "" && calls.length ? null : content,
    ...reasoning,
    ...(calls.length && {
      tool_calls: calls.map((call) => ({
        id: ids.get(call.callId),
        type: "function",
        function: { name: wireName(call.name), arguments: argumentsOf(call) },
      })),
    }),
  };
}

/**
 * Argument text. Providers and chat templates parse it in every later request, so text that is no JSON object goes back
 * as `{}`: else one bad call would make the session unusable. The call's result tells the model what it wrote.
 */
export function argumentsOf({ args, raw }: ToolCallPart): string {
  if (typeof args === "object" && args !== null && !Array.isArray(args)) return JSON.stringify(args);
  return raw !== undefined && parsesAsObject(raw) ? raw : "{}";
}

function toolMessage(message: ToolMessage, ids: ReadonlyMap<string, string>): ToolWire {
  const media: unknown[] = [];
  const results = message.parts.map((part): WireMessage => {
    const id = ids.get(part.callId) ?? part.callId;
    const files = part.output.filter((p) => p.type !== "text");
    const note = files.length ? `[${files.length} attached in the next message]` : "";
    const content = [textOf(part.output), note].filter(Boolean).join("\n");
    if (files.length)
      media.push({ type: "text", text: `Attached by ${part.name} (${id}):` }, ...files.map(contentPart));
    return { role: "tool", tool_call_id: id, content };
  });
  return { results, media };
}

/** Plain text stays a string: many servers know nothing else. */
const userContent = (parts: readonly ContentPart[]): unknown =>
  parts.every((p) => p.type === "text") ? textOf(parts) : parts.map(contentPart);

/** An address goes where the bytes would: some providers fetch it there, others say that they do not. */
function contentPart(part: ContentPart): unknown {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      return { type: "image_url", image_url: { url: sourceOf(part) } };
    case "file":
      return { type: "file", file: { filename: part.name ?? "file", file_data: sourceOf(part) } };
    case "audio":
      return {
        type: "input_audio",
        input_audio: { data: part.data ?? part.url ?? "", format: audioFormat(part.mediaType) },
      };
    default:
      return part satisfies never;
  }
}

/** The bytes as an address, or the address. */
export const sourceOf = (part: { mediaType: string; data?: string | undefined; url?: string | undefined }): string =>
  part.data === undefined ? (part.url ?? "") : `data:${part.mediaType};base64,${part.data}`;

/** The last word of an audio media type, as the API spells it. */
export const audioFormat = (mediaType: string): string => {
  const subtype = mediaType.replace(/^audio\/(x-)?/, "").replace(/;.*$/, "");
  return subtype === "mpeg" ? "mp3" : subtype === "wave" ? "wav" : subtype;
};

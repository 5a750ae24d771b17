/**
 * Reasoning of chat providers: read from whatever field it comes in, kept with its message, sent back in the same field.
 *
 * A thinking part's opaque data is `{ field, host, value? }`. For text fields the value *is* the part's text; for
 * `reasoning_details` it is the list of items.
 */
import type { AssistantPart, Json, Opaque } from "../../core/message.ts";
import { fields, type Fields } from "./chat-usage.ts";

/** The adapter's name in opaque data. */
export const PROVIDER = "openai-chat";

/** `content`: thinking items inside a content list. */
export type ReasoningField = "reasoning_content" | "reasoning" | "reasoning_details" | "content";

/** What a delta says of reasoning. */
export type ReasoningDelta = { field: ReasoningField; text: string; details: readonly Fields[] };

/** The reasoning of one delta, if it has any. */
export function readReasoning(delta: Fields): ReasoningDelta | undefined {
  const listed: unknown[] = Array.isArray(delta["reasoning_details"]) ? delta["reasoning_details"] : [];
  const details = listed.map(fields).filter((item) => item !== undefined);
  for (const field of ["reasoning_content", "reasoning"] as const) {
    const text = delta[field];
    // Details say the same again, with the signatures: then they are what goes back.
    if (typeof text === "string" && text !== "")
      return { field: details.length ? "reasoning_details" : field, text, details };
  }
  if (details.length)
    return {
      field: "reasoning_details",
      text: details.map((d) => words(d["text"] ?? d["summary"])).join(""),
      details,
    };
  const text = thinkingOf(delta["content"]);
  return text ? { field: "content", text, details } : undefined;
}

/** The opaque data of a part. */
export const reasoningOpaque = (field: ReasoningField, host: string, value?: readonly Fields[]): Opaque => ({
  provider: PROVIDER,
  data: { field, host, ...(value && { value: value as Json }) },
});

/** Adds streamed items to those so far: a piece of the last item joins it, as the provider would have sent it whole. */
export function mergeDetails(items: { [key: string]: unknown }[], more: readonly Fields[]): void {
  for (const item of more) {
    const last = items.at(-1);
    if (!last || !continues(last, item)) {
      items.push({ ...item });
      continue;
    }
    for (const [key, value] of Object.entries(item)) {
      const grows = (key === "text" || key === "summary" || key === "data") && typeof last[key] === "string";
      if (grows && typeof value === "string") last[key] = `${last[key]}${value}`;
      else if (value !== null && value !== undefined) last[key] = value;
    }
  }
}

/** Items of one kind and place are pieces of one; an encrypted item always comes whole. */
const continues = (last: Fields, item: Fields): boolean =>
  last["type"] === item["type"] &&
  last["index"] === item["index"] &&
  last["type"] !== "reasoning.encrypted" &&
  (item["id"] === undefined || item["id"] === null || last["id"] === null || last["id"] === item["id"]);

/**
 * The fields that take a message's reasoning back, byte for byte, and `thinking` items for its content list. Reasoning of
 * another provider or host is left out: unknown fields are refused by some.
 */
export function reasoningFields(
  parts: readonly AssistantPart[],
  hostname: string,
): { thinking?: unknown[]; [field: string]: unknown } {
  const back: { thinking?: unknown[]; [field: string]: unknown } = {};
  for (const part of parts) {
    if (part.type !== "thinking" || part.opaque?.provider !== PROVIDER) continue;
    const data = fields(part.opaque.data);
    if (!data || (data["host"] !== undefined && data["host"] !== hostname)) continue;
    const field = data["field"];
    if (field === "reasoning_details" && Array.isArray(data["value"]))
      back[field] = [...((back[field] as unknown[] | undefined) ?? []), ...data["value"]];
    else if (field === "reasoning_content" || field === "reasoning") back[field] = `${words(back[field])}${part.text}`;
    else if (field === "content")
      (back.thinking ??= []).push({ type: "thinking", thinking: [{ type: "text", text: part.text }] });
  }
  return back;
}

/** The visible text of a delta's content, which is a string or a list of items. */
export function contentText(content: unknown): string {
  if (!Array.isArray(content)) return words(content);
  return content.map((item) => (fields(item)?.["type"] === "thinking" ? "" : words(fields(item)?.["text"]))).join("");
}

function thinkingOf(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return content.map((item) => contentText(fields(item)?.["thinking"])).join("");
}

const words = (value: unknown): string => (typeof value === "string" ? value : "");

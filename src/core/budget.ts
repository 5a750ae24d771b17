/** How many tokens something costs, estimated without a tokenizer. */
import type { Message, Part } from "./message.ts";

/** Tokens charged for an image, a file or a sound, whatever its size: providers scale media down to about this. */
export const MEDIA_TOKENS = 1_000;
/** Role, separators and ids of one message. */
const MESSAGE_TOKENS = 4;

/**
 * Estimated tokens of a text. Latin letters cost a quarter of a token each, Chinese, Japanese and Korean characters
 * about two thirds (measured on o200k), anything else in between a half.
 */
export function estimateText(text: string): number {
  let quarters = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    quarters += code < 0x80 ? 1 : code >= 0x2e80 ? 2.7 : 2;
  }
  return Math.ceil(quarters / 4);
}

/** Estimated tokens of some parts, media at a fixed price. */
export function estimateParts(parts: readonly Part[]): number {
  let sum = 0;
  for (const part of parts) sum += estimatePart(part);
  return sum;
}

function estimatePart(part: Part): number {
  switch (part.type) {
    case "text":
    case "thinking":
      return estimateText(part.text);
    case "image":
    case "file":
    case "audio":
      return MEDIA_TOKENS;
    case "tool-call":
      return estimateText(part.name) + estimateText(part.raw ?? JSON.stringify(part.args ?? {})) + MESSAGE_TOKENS;
    case "tool-result":
      return estimateParts(part.output) + MESSAGE_TOKENS;
    default:
      return part satisfies never;
  }
}

/** Estimated tokens of whole messages. */
export function estimateMessages(messages: readonly Message[]): number {
  let sum = 0;
  for (const message of messages) sum += MESSAGE_TOKENS + estimateParts(message.parts);
  return sum;
}

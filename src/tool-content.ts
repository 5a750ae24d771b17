/** From what a tool returns to what a model reads. */
import { readContent, type ContentInput } from "./tool-parts.ts";
import { text, type ContentPart } from "./core/message.ts";

/** Shared by every copy of this package in a process. */
const PARTS = Symbol.for("rcra.content");

/** A result of several parts, as {@link content} makes it. */
export type Content = { readonly [PARTS]: ContentPart[] };

/**
 * Marks an array of parts as the result itself, rather than a value to be shown as JSON: for images, audio, files, or
 * several texts.
 * @throws AgentError `invalid_options` for something that is not a part, and for media that is not what it says, with its
 * position
 */
export const content = (parts: readonly ContentInput[]): Content => ({ [PARTS]: readContent(parts, "content()") });

/**
 * Any value as parts: a text as it is, nothing as an empty text, {@link content} as its parts, everything else as JSON.
 * What JSON cannot hold becomes readable text. Never throws, whatever the value does.
 */
export function toContent(value: unknown): ContentPart[] {
  if (typeof value === "string") return [text(value)];
  if (value === undefined) return [text("")];
  try {
    if (typeof value === "object" && value !== null && PARTS in value) return [...(value as Content)[PARTS]];
    return [text(readable(value))];
  } catch {
    return [text("[a value that cannot be shown]")];
  }
}

function readable(value: unknown): string {
  if (typeof value === "bigint" || typeof value === "symbol" || typeof value === "function") return String(value);
  if (value instanceof Error) return String(value);
  try {
    return JSON.stringify(value, plainly) ?? "";
  } catch {
    return JSON.stringify(value, withoutCycles()) ?? "";
  }
}

/** What JSON would lose or refuse, as something it can hold. */
function plainly(this: unknown, key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Map) return [...value];
  if (value instanceof Set) return [...value];
  if (value instanceof Error) return String(value);
  // Before its own `toJSON` made a list of numbers of it.
  const original: unknown = (this as Record<string, unknown>)[key];
  return ArrayBuffer.isView(original) ? `[${original.byteLength} bytes]` : value;
}

/** As {@link plainly}; an object inside itself, or one whose `toJSON` throws elsewhere, is named instead of followed. */
function withoutCycles() {
  const above: unknown[] = [];
  return function (this: unknown, key: string, value: unknown): unknown {
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    const plain = plainly.call(this, key, value);
    if (typeof plain !== "object" || plain === null) return plain;
    if (above.includes(plain)) return "[circular]";
    above.push(plain);
    return plain;
  };
}

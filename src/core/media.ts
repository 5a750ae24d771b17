/** Images, files and sounds among the parts of a message. */
import type { ContentPart, Message } from "./message.ts";

export type MediaPart = Exclude<ContentPart, { type: "text" }>;

export const isMedia = (part: { type: string }): part is MediaPart =>
  part.type === "image" || part.type === "file" || part.type === "audio";

/** How the base64 of a picture begins, by its kind. */
const beginnings: { readonly [mediaType: string]: (data: string) => boolean } = {
  "image/png": (data) => data.startsWith("iVBORw0KGgo"),
  "image/jpeg": (data) => data.startsWith("/9j/"),
  "image/gif": (data) => data.startsWith("R0lGOD"),
  // "RIFF", four bytes of length, "WEBP": of the last word the part that fills whole base64 groups.
  "image/webp": (data) => data.startsWith("UklGR") && data.slice(12, 16) === "RUJQ",
};

/** What is wrong with a part's bytes, in a sentence; undefined when nothing is. Says the truth about pictures that are none. */
export function mediaFault(part: MediaPart): string | undefined {
  const { mediaType, data, url, stored } = part;
  if ([data, url, stored].filter((source) => source !== undefined).length !== 1)
    return "expected one of data (base64) and url";
  if (!/^[a-z]+\/[a-z0-9.+-]+/i.test(mediaType)) return `expected a media type such as image/png, not "${mediaType}"`;
  if (part.type === "image" && !mediaType.startsWith("image/")) return `an image cannot be of type ${mediaType}`;
  if (part.type === "audio" && !mediaType.startsWith("audio/")) return `a sound cannot be of type ${mediaType}`;
  if (url !== undefined)
    return /^(https?|data|gs|file):/i.test(url) ? undefined : "expected an address such as https://…";
  if (data === undefined) return undefined;
  if (data === "") return "there are no bytes in it";
  if (data.startsWith("data:")) return "expected the base64 alone, without `data:…;base64,` before it";
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return "the data is not base64";
  const begins = beginnings[mediaType];
  if (!begins || begins(data)) return undefined;
  const kind = Object.keys(beginnings).find((name) => beginnings[name]!(data));
  return kind ? `the bytes are those of ${kind}, not ${mediaType}` : `the bytes are not those of ${mediaType}`;
}

/** How many bytes base64 text stands for. */
export const bytesOf = (base64: string): number =>
  (base64.length * 3) / 4 - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);

/** A part whose bytes are in a file of the session. */
export type StoredPart = MediaPart & { stored: NonNullable<MediaPart["stored"]> };
const isStored = (part: ContentPart): part is StoredPart => isMedia(part) && part.stored !== undefined;

/** The parts of a message that name files of the session. */
export const storedIn = (message: Message): StoredPart[] =>
  message.role === "user"
    ? message.parts.filter(isStored)
    : message.role === "tool"
      ? message.parts.flatMap((result) => result.output.filter(isStored))
      : [];

/** A message with each of its content parts replaced; the same message when none was. */
export function mapContent(message: Message, map: (part: ContentPart) => ContentPart): Message {
  if (message.role === "assistant") return message;
  if (message.role === "user") {
    const parts = message.parts.map(map);
    return parts.some((p, i) => p !== message.parts[i]) ? { ...message, parts } : message;
  }
  const results = message.parts.map((result) => {
    const output = result.output.map(map);
    return output.some((p, i) => p !== result.output[i]) ? { ...result, output } : result;
  });
  return results.some((r, i) => r !== message.parts[i]) ? { ...message, parts: results } : message;
}

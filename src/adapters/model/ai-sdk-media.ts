/** Images, files and sound as each version of the specification spells them. */
import type { ContentPart } from "../../core/message.ts";
import type { SpecVersion, WirePart } from "./ai-sdk-spec.ts";

/** A part that is not text. */
export type MediaPart = Exclude<ContentPart, { type: "text" }>;

type Source = { data: string } | { url: URL };

/** Inline bytes, also those that an address holds itself, or where to fetch them. @throws TypeError for no address */
function sourceOf(part: MediaPart): Source {
  if (part.data !== undefined) return { data: part.data };
  const inline = /^data:[^,]*;base64,(.*)$/s.exec(part.url ?? "");
  return inline ? { data: inline[1]! } : { url: new URL(part.url ?? "") };
}

const dataOf = (source: Source, version: SpecVersion): unknown =>
  version === "v4"
    ? "data" in source
      ? { type: "data", data: source.data }
      : { type: "url", url: source.url }
    : "data" in source
      ? source.data
      : source.url;

const named = (part: MediaPart) => (part.type === "file" && part.name !== undefined ? { filename: part.name } : {});

/** A file part of a user message. */
export const filePart = (part: MediaPart, version: SpecVersion): WirePart => ({
  type: "file",
  mediaType: part.mediaType,
  ...named(part),
  data: dataOf(sourceOf(part), version),
});

/** A part of a tool's result; `undefined` where this version has none (an address in v2). */
export function resultPart(part: MediaPart, version: SpecVersion): WirePart | undefined {
  if (version === "v4") return filePart(part, version);
  const source = sourceOf(part);
  const { mediaType } = part;
  if (version === "v2") return "data" in source ? { type: "media", data: source.data, mediaType } : undefined;
  const kind = part.type === "image" ? "image" : "file";
  return "data" in source
    ? { type: `${kind}-data`, data: source.data, mediaType, ...(kind === "file" && named(part)) }
    : { type: `${kind}-url`, url: source.url.href };
}

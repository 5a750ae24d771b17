/**
 * What a provider wants back, kept with the part it came with. The opaque data is
 * `{ options?, part? }`: metadata that goes back as the options of the same part, or a whole part that we have no kind
 * for (calls the provider ran itself, files it made), carried by an empty thinking part in its place.
 */
import type { Json, Opaque } from "../../core/message.ts";
import { fields } from "./chat-usage.ts";
import type { ProviderOptions, SpecVersion, WirePart } from "./ai-sdk-spec.ts";

/** The adapter's name in opaque data: one for each provider, so that nothing reaches another one. */
export const opaqueName = (provider: string): string => `ai-sdk:${provider}`;

/** A copy that is JSON through and through, as a journal would hold it; `undefined` for nothing. */
export const plain = (value: unknown): Json | undefined => {
  const text = JSON.stringify(value);
  return text === undefined ? undefined : (JSON.parse(text) as Json);
};

/** Whether metadata says anything. */
export function metadataOf(value: unknown): Json | undefined {
  const metadata = fields(value);
  return metadata && Object.keys(metadata).length ? plain(metadata) : undefined;
}

/** Options that go back with a part: those of its own provider only. */
export function optionsOf(opaque: Opaque | undefined, name: string): { providerOptions?: ProviderOptions } {
  const options = ownData(opaque, name)?.["options"];
  return options === undefined ? {} : { providerOptions: options as ProviderOptions };
}

/** The data of opaque items of this provider. */
export const ownData = (opaque: Opaque | undefined, name: string) =>
  opaque?.provider === name ? (fields(opaque.data) ?? {}) : undefined;

/** A stream part that we have no kind for, as it is kept. `undefined` for those that nobody wants back. */
export function keptPart(part: WirePart): Json | undefined {
  const { type, providerMetadata } = part;
  const options = metadataOf(providerMetadata);
  const kept = (more: object) => plain({ type, ...more, ...(options !== undefined && { providerOptions: options }) });
  switch (type) {
    case "tool-call":
      return kept({
        toolCallId: part["toolCallId"],
        toolName: part["toolName"],
        input: inputOf(part["input"]),
        providerExecuted: true,
      });
    case "tool-result":
      if (part["preliminary"] === true) return undefined;
      return kept({
        toolCallId: part["toolCallId"],
        toolName: part["toolName"],
        output: { type: part["isError"] === true ? "error-json" : "json", value: part["result"] ?? null },
      });
    case "file":
    case "reasoning-file": {
      const data = base64Of(part["data"]);
      return data === undefined ? undefined : kept({ mediaType: part["mediaType"], data });
    }
    case "custom":
      // The envelope of an answer (its id, its first usage) is no part of it.
      return String(part["kind"]).endsWith(".message_start") ? undefined : kept({ kind: part["kind"] });
    default:
      return undefined;
  }
}

/** A kept part as a part of a prompt. */
export function restoredPart(kept: unknown, version: SpecVersion): WirePart | undefined {
  const part = fields(kept) as WirePart | undefined;
  if (!part) return undefined;
  if ((part.type === "custom" || part.type === "reasoning-file") && version !== "v4") return undefined;
  const isFile = part.type === "file" || part.type === "reasoning-file";
  return isFile && version === "v4" ? { ...part, data: { type: "data", data: part["data"] } } : part;
}

function inputOf(input: unknown): unknown {
  if (typeof input !== "string") return input;
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

/** Bytes of a generated file: bare until v3, in a tagged object since. An address is not kept. */
function base64Of(data: unknown): string | undefined {
  const bytes = fields(data)?.["type"] === "data" ? (data as { data: unknown }).data : data;
  if (bytes instanceof Uint8Array) return Buffer.from(bytes).toString("base64");
  return typeof bytes === "string" ? bytes : undefined;
}

/** What people hand in as parts: checked, bytes turned into base64. */
import { z } from "zod";
import { AgentError } from "./core/errors.ts";
import { isMedia, mediaFault } from "./core/media.ts";
import { contentPart, type ContentPart } from "./core/message.ts";

type WithBytes<P> = P extends { data?: unknown } ? Omit<P, "data"> & { data?: string | Uint8Array | undefined } : P;

/** A part as a caller may write it: `data` of images, files and sounds may be bytes instead of base64. */
export type ContentInput = WithBytes<ContentPart>;

/**
 * Parts, ready for a message.
 * @throws AgentError `invalid_options` for what is no part, and for media that is not what it says; `where` names the place
 */
export function readContent(parts: readonly ContentInput[], where: string): ContentPart[] {
  if (!Array.isArray(parts)) throw wrong(where, "expected an array of parts");
  return parts.map((part, i) => {
    const read = contentPart.safeParse(withBase64(part));
    if (!read.success) throw wrong(`${where}[${i}]`, "expected a text, image, file or audio part", read.error);
    const fault = isMedia(read.data) ? mediaFault(read.data) : undefined;
    if (fault !== undefined) throw wrong(`${where}[${i}]`, fault);
    return read.data;
  });
}

const withBase64 = (part: unknown): unknown =>
  typeof part === "object" && part !== null && "data" in part && part.data instanceof Uint8Array
    ? { ...part, data: Buffer.from(part.data.buffer, part.data.byteOffset, part.data.byteLength).toString("base64") }
    : part;

const wrong = (where: string, why: string, cause?: z.ZodError): AgentError =>
  new AgentError("invalid_options", `${where}: ${why}`, { cause });

/** Files that go with a prompt: pictures, documents, sounds. */
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { plural } from "../core/plural.ts";
import type { ContentInput } from "../tool-parts.ts";
import { kindOf, type Kind } from "./file-kind.ts";
import { Problem } from "./problem.ts";

export type AttachmentFlags = { image?: string[]; file?: string[] };

/** Bytes of one file; servers refuse larger requests. */
const MAX_BYTES = 20 * 1024 * 1024;

/** The kinds of picture that models read. */
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** The files that the flags name, as parts of a prompt. @throws Problem naming the first that cannot be sent, and why */
export function readAttachments({ image = [], file = [] }: AttachmentFlags): ContentInput[] {
  return [...image.map(pictureOf), ...file.map(fileOf)];
}

function pictureOf(path: string): ContentInput {
  const data = read("--image", path);
  const kind = kindOf(data);
  if (PICTURES.includes(kind.mediaType)) return { type: "image", mediaType: kind.mediaType, data };
  const instead = asPart(kind, path, data) ? " It can go with --file." : "";
  throw new Problem(`--image ${path} is ${kind.what}, not a PNG, JPEG, GIF or WebP picture.${instead}`);
}

function fileOf(path: string): ContentInput {
  const data = read("--file", path);
  const kind = kindOf(data);
  const part = asPart(kind, path, data);
  if (part) return part;
  throw new Problem(`--file ${path} is ${kind.what}; what can be sent is PDF, text, pictures, WAV and MP3.`);
}

/** Text goes as text, under its name: that is what every model reads. */
function asPart({ mediaType }: Kind, path: string, data: Uint8Array): ContentInput | undefined {
  if (PICTURES.includes(mediaType)) return { type: "image", mediaType, data };
  const name = basename(path);
  if (mediaType === "text/plain") {
    const text = new TextDecoder().decode(data);
    return { type: "text", text: `\n\n${name}:\n${text}` };
  }
  if (mediaType === "application/pdf") return { type: "file", name, mediaType, data };
  if (mediaType === "audio/wav" || mediaType === "audio/mpeg") return { type: "audio", mediaType, data };
  return undefined;
}

function read(flag: string, path: string): Uint8Array {
  let size: number;
  try {
    const fd = openSync(path, "r");
    try {
      const stat = fstatSync(fd);
      if (stat.isDirectory()) throw new Problem(`${flag} ${path} is a folder. Name a file in it.`);
      size = stat.size;
      if (size <= MAX_BYTES) {
        const data = readFileSync(fd);
        size = data.length;
        if (size === 0) throw new Problem(`${flag} ${path} is empty.`);
        if (size <= MAX_BYTES) return data;
      }
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Problem(
      `${flag} ${path} ${code === "ENOENT" ? "does not exist" : `cannot be read (${code ?? message})`}.`,
    );
  }
  throw new Problem(
    `${flag} ${path} has ${plural(Math.ceil(size / 2 ** 20), "MiB", "MiB")}; at most 20 MiB can be sent.`,
  );
}

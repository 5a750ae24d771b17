/** What a session is called on disk, and which names are allowed to become file names at all. */
import { join } from "node:path";
import { AgentError } from "../../core/errors.ts";

const SESSION_ID = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;
const SEGMENT = /^(.+)_(\d{3,})\.jsonl$/;
const DATE_FOLDER = /^\d{4,6}-\d{2}-\d{2}$/;

/** Whether a text can be a session id: letters, digits, `.`, `_`, `-`; no leading dot; at most 128 characters. */
export const isSessionId = (id: string): boolean => SESSION_ID.test(id);

/** @throws AgentError `invalid_options` for a text that cannot be a session id. */
export function requireSessionId(id: string): void {
  if (isSessionId(id)) return;
  throw new AgentError(
    "invalid_options",
    `${JSON.stringify(id.slice(0, 140))} cannot be a session id: use 1 to 128 letters, digits, "_", "-" and ".", not beginning with "."`,
  );
}

/** `_001`, `_002`, …: the number of a segment as its file has it. */
export const segmentName = (id: string, segment: number): string => `${id}_${String(segment).padStart(3, "0")}.jsonl`;

/** Reads a file name back; `undefined` when it is not that of a segment. */
export function parseSegmentName(name: string): { id: string; segment: number } | undefined {
  const match = SEGMENT.exec(name);
  if (!match || !isSessionId(match[1]!)) return undefined;
  const segment = Number(match[2]);
  return segmentName(match[1]!, segment) === name ? { id: match[1]!, segment } : undefined;
}

/** The folder of a day, by UTC. */
export const dateFolder = (at: number): string => new Date(at).toISOString().slice(0, 10).replace("+", "");

export const isDateFolder = (name: string): boolean => DATE_FOLDER.test(name);

/** Where everything of one session is, given the folder of its day. */
export const sessionPaths = (folder: string, id: string) => ({
  folder,
  segment: (n: number) => join(folder, segmentName(id, n)),
  /** Lease and side files. */
  state: join(folder, `${id}.state`),
  signals: join(folder, `${id}.signals`),
  files: join(folder, `${id}.files`),
});
export type SessionPaths = ReturnType<typeof sessionPaths>;

/** A short, stable name for any text. */
export const hashName = (value: string | Uint8Array): string =>
  process.getBuiltinModule("node:crypto").hash("sha256", value).slice(0, 32);

/**
 * A harmless file name made from any text: no separators, no control characters, no leading dots or dashes, at most 100
 * characters, its extension kept.
 */
export function safeFileName(name: string): string {
  const plain = name
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}._ -]+/gu, "_")
    .replace(/^[. -]+|[. ]+$/g, "");
  if (plain === "") return "file";
  if (plain.length <= 100) return plain;
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(plain)?.[0] ?? "";
  return (
    Array.from(plain.slice(0, 100 - extension.length))
      .filter(isWhole)
      .join("") + extension
  );
}

/** Puts a mark between a file name and its extension: `log.txt` → `log-1f3a.txt`. */
export function markedFileName(name: string, mark: string): string {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? `${name.slice(0, dot)}-${mark}${name.slice(dot)}` : `${name}-${mark}`;
}

/** Cutting by length can leave half of a surrogate pair at the end. */
const isWhole = (character: string): boolean => !/^[\uD800-\uDFFF]$/.test(character);

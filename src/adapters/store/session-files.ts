/** Files of a session beside its journal: what is too large for a record. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "../../ports.ts";
import { hashName, markedFileName, safeFileName } from "./file-names.ts";
import { errno } from "./io-failure.ts";
import { makeFolder, putWhole } from "./whole-files.ts";

/**
 * Writes a file and returns its path. An existing one is never overwritten: the same content is the same file, other
 * content gets a name with its hash in it.
 */
export function putSessionFile(folder: string, name: string, content: string | Uint8Array, sync: boolean): string {
  makeFolder(folder);
  const plain = safeFileName(name);
  const path = join(folder, plain);
  if (putWhole(path, content, "create", sync) || hasContent(path, content)) return path;
  const other = join(folder, markedFileName(plain, hashName(content)));
  putWhole(other, content, "create", sync);
  return other;
}

/** The content kept under a name; without a folder there is none. @throws StoreError `NotFound` */
export function getSessionFile(folder: string | undefined, id: string, name: string): Uint8Array {
  try {
    if (folder !== undefined) return readFileSync(join(folder, safeFileName(name)));
  } catch (error) {
    if (errno(error) !== "ENOENT") throw error;
  }
  throw new StoreError("NotFound", `session ${id} has no file ${JSON.stringify(name.slice(0, 140))}`);
}

const hasContent = (path: string, content: string | Uint8Array): boolean =>
  readFileSync(path).equals(typeof content === "string" ? Buffer.from(content) : content);

/** File operations that happen whole or not at all. */
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { errno } from "./io-failure.ts";

/** Conversations are nobody else's business. */
export const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;

/** Makes a folder and those above it. */
export const makeFolder = (path: string): void => {
  mkdirSync(path, { recursive: true, mode: FOLDER_MODE });
};

/** Writes all of it: a single `write` may take only a part when the disk is nearly full. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
}

const processToken = `${process.pid}-${Math.random().toString(36).slice(2, 14)}`;
let temporaries = 0;

/** A name beside a path that no other process and no earlier call uses. */
export const temporaryName = (path: string): string => `${path}.${processToken}-${temporaries++}.tmp`;

/**
 * Puts a file in place whole or not at all. `create` leaves an existing one alone and answers `false`; `replace` is
 * always `true`. With `sync` it survives a power cut.
 */
export function putWhole(
  path: string,
  content: string | Uint8Array,
  mode: "create" | "replace",
  sync: boolean,
): boolean {
  const temporary = temporaryName(path);
  let placed = false;
  try {
    const fd = openSync(temporary, "wx", FILE_MODE);
    try {
      writeAll(fd, typeof content === "string" ? Buffer.from(content) : content);
      if (sync) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    if (mode === "replace") renameSync(temporary, path);
    else linkSync(temporary, path);
    placed = true;
  } catch (error) {
    if (errno(error) !== "EEXIST" || mode === "replace") throw error;
  } finally {
    if (!placed || mode === "create") remove(temporary);
  }
  if (placed && sync) syncFolder(dirname(path));
  return placed;
}

/** Removes a file; one that is not there is no mistake. */
export function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errno(error) !== "ENOENT") throw error;
  }
}

/** Makes names in a folder durable. Where folders cannot be opened, the file system does it by itself. */
export function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

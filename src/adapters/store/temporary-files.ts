/** A private temporary folder for files of sessions that live in memory: made when first needed, gone with the process. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getSessionFile, putSessionFile } from "./session-files.ts";

const folders = new Set<string>();
let listening = false;

/** Removes what a process leaves behind, also when nobody closed the store. */
function removeAtExit(folder: string): void {
  if (!listening)
    process.once("exit", () => {
      for (const each of folders) rmSync(each, { recursive: true, force: true });
    });
  listening = true;
  folders.add(folder);
}

/** Files of one store; `put` returns the path. */
export function temporaryFiles() {
  let root: string | undefined;
  return {
    put(session: string, name: string, content: string | Uint8Array): string {
      if (root === undefined) {
        root = mkdtempSync(join(tmpdir(), "rcra-"));
        removeAtExit(root);
      }
      return putSessionFile(join(root, session), name, content, false);
    },
    get(session: string, name: string): Uint8Array {
      return getSessionFile(root === undefined ? undefined : join(root, session), session, name);
    },
    remove(session: string): void {
      if (root !== undefined) rmSync(join(root, session), { recursive: true, force: true });
    },
    close(): void {
      if (root === undefined) return;
      rmSync(root, { recursive: true, force: true });
      folders.delete(root);
      root = undefined;
    },
  };
}

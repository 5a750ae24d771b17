/** `write_file`: a whole file, in place at once or not at all. */
import { chmod, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { lazily } from "../../core/lazy.ts";
import { OMISSION } from "../../core/marker.ts";
import type { ToolContext } from "../../ports.ts";
import { codeOf, openFile, placeIn, readable, type Place } from "./workspace-paths.ts";

const input = lazily(() =>
  z.object({
    path: z.string().min(1).describe("Path of the file, relative to the workspace; folders are made as needed"),
    content: z.string().describe("The whole content of the file"),
  }),
);
type Args = z.output<typeof input>;

/** Options of the tool, with the workspace of the session or a fixed one. */
export const writeFileTool = (root?: string) => ({
  description:
    "Writes a whole text file of the workspace, replacing what was there. Read a file before you replace it.",
  input,
  /** Two calls for one file, by whatever names, run one after the other. */
  lockKey: (args: Args, session: { workspace: string | undefined }) => [
    placeIn(root ?? session.workspace, args.path).real,
  ],
  execute: async (args: Args, { signal, session }: ToolContext) => {
    const place = placeIn(root ?? session.workspace, args.path);
    const markers = [...args.content.matchAll(OMISSION)].map(([marker]) => marker);
    const before = await existing(place, markers.length > 0);
    requireOwnWords(markers, before?.text ?? "");
    try {
      await mkdir(dirname(place.real), { recursive: true });
      // Links may have come into being since: what counts is where it leads now.
      const now = placeIn(root ?? session.workspace, args.path);
      if (now.real !== place.real) throw new Error(`${place.shown} leads somewhere else now.`);
      await replace(place.real, args.content, before?.mode, signal);
    } catch (error) {
      throw readable(place.shown, error);
    }
    const done = before ? "replaced" : "created";
    return `${done} ${place.shown} (${Buffer.byteLength(args.content)} bytes)`;
  },
});

/** The file that is there now, with its text where that is asked for; a folder or a device is refused. */
async function existing(place: Place, withText: boolean): Promise<{ text: string; mode: number } | undefined> {
  try {
    const { file, mode } = await openFile(place);
    try {
      return { text: withText ? await file.readFile("utf8") : "", mode };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof Error && codeOf(error.cause) === "ENOENT") return undefined;
    throw error;
  }
}

/** A model that copies a shortened result would destroy the file: the marker may stay in a file, but not come in. */
function requireOwnWords(markers: readonly string[], before: string): void {
  for (const marker of markers)
    if (!before.includes(marker))
      throw new Error(
        `Not written: the content has "${marker}" in it, which stands for text that you have not seen. Read the file again and write all of it.`,
      );
}

/** Beside the target first, then in its place; the mode of what was there is kept. */
async function replace(path: string, content: string, mode: number | undefined, signal: AbortSignal): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path).slice(0, 100)}.${crypto.randomUUID()}.tmp`);
  try {
    const file = await open(temporary, "wx");
    try {
      await file.writeFile(content);
    } finally {
      await file.close();
    }
    if (mode !== undefined) await chmod(temporary, mode & 0o7777);
    signal.throwIfAborted();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** `list_files`: what files there are, with their sizes. */
import { z } from "zod";
import { lazily } from "../../core/lazy.ts";
import type { ToolContext } from "../../ports.ts";
import { placeIn } from "./workspace-paths.ts";
import { walk } from "./workspace-walk.ts";

const MOST_FILES = 1_000;

const input = lazily(() =>
  z.object({
    path: z.string().min(1).optional().describe("Folder to list, relative to the workspace; all of it by default"),
    glob: z.string().min(1).optional().describe('Only matching files, such as "*.ts" or "src/**/*.md"'),
  }),
);

/** Options of the tool, with the workspace of the session or a fixed one. */
export const listFilesTool = (root?: string) => ({
  description:
    "Lists the files of the workspace with their sizes in bytes, sorted by path. Passes over node_modules, dist, .git and .rcra.",
  input,
  readOnly: true,
  onUnknown: "retry" as const,
  execute: async (args: z.output<typeof input>, { signal, session }: ToolContext) => {
    const place = placeIn(root ?? session.workspace, args.path ?? ".");
    const lines: string[] = [];
    for await (const { shown, size } of walk(place, args.glob)) {
      signal.throwIfAborted();
      if (lines.length === MOST_FILES) {
        lines.push(`[there are more than ${MOST_FILES} files: name a folder or a glob]`);
        break;
      }
      lines.push(`${shown}\t${size}`);
    }
    return lines.length > 0 ? lines.join("\n") : "[no files]";
  },
});

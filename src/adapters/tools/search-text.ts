/** `search_text`: lines that match a pattern. */
import { z } from "zod";
import { lazily } from "../../core/lazy.ts";
import type { ToolContext } from "../../ports.ts";
import { MatchThread, type Match } from "./match-thread.ts";
import { isBinary, openFile, placeIn, type Place } from "./workspace-paths.ts";
import { walk, type FoundFile } from "./workspace-walk.ts";

const MOST_MATCHES = 200;
const LONGEST_SEARCH_MS = 10_000;
const LARGEST_FILE_BYTES = 20_000_000;
const SHOWN_CHARACTERS = 300;

const input = lazily(() =>
  z.object({
    pattern: z.string().min(1).max(1_000).describe("JavaScript regular expression, matched line by line"),
    path: z.string().min(1).optional().describe("File or folder to search, relative to the workspace"),
    glob: z.string().min(1).optional().describe('Only in matching files, such as "*.ts"'),
  }),
);

/** Options of the tool, with the workspace of the session or a fixed one. */
export const searchTextTool = (root?: string, options: { timeoutMs?: number } = {}) => ({
  description:
    "Searches the text files of the workspace for a regular expression and returns the matching lines as path:line: text. Passes over node_modules, dist, .git and .rcra.",
  input,
  readOnly: true,
  onUnknown: "retry" as const,
  execute: async (args: z.output<typeof input>, { signal, session }: ToolContext) => {
    const place = placeIn(root ?? session.workspace, args.path ?? ".");
    signal.throwIfAborted();
    const timeoutMs = options.timeoutMs ?? LONGEST_SEARCH_MS;
    const thread = new MatchThread(args.pattern);
    const stop = () => thread.stop();
    const timer = setTimeout(stop, timeoutMs);
    signal.addEventListener("abort", stop);
    try {
      const lines = await search(thread, place, args.glob);
      signal.throwIfAborted();
      if (thread.stopped)
        lines.push(
          `[stopped after ${timeoutMs} ms: the pattern or the files are too much; narrow the path or simplify the pattern]`,
        );
      return lines.length > 0 ? lines.join("\n") : "[no matches]";
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      thread.stop();
    }
  },
});

/** What was found until all was searched, enough was found, or the thread was stopped. */
async function search(thread: MatchThread, place: Place, glob: string | undefined): Promise<string[]> {
  const lines: string[] = [];
  let tooLarge = 0;
  for await (const file of walk(place, glob)) {
    if (thread.stopped) return lines;
    if (file.size > LARGEST_FILE_BYTES) {
      tooLarge += 1;
      continue;
    }
    const text = await textOf(place, file);
    const found = text === "" ? [] : await thread.find(text, MOST_MATCHES - lines.length);
    if (found === undefined) return lines;
    for (const match of found) lines.push(`${file.shown}:${match[0]}: ${around(text, match)}`);
    if (lines.length < MOST_MATCHES) continue;
    lines.push(`[there may be more than ${MOST_MATCHES} matches: narrow the search]`);
    break;
  }
  if (tooLarge > 0) lines.push(`[${tooLarge} files larger than ${LARGEST_FILE_BYTES} bytes were passed over]`);
  return lines;
}

/** The text of a file; nothing when it is not text or cannot be read. */
async function textOf(place: Place, { real, shown }: FoundFile): Promise<string> {
  try {
    const { file } = await openFile({ ...place, real, shown });
    try {
      const bytes = await file.readFile();
      return isBinary(bytes) ? "" : bytes.toString("utf8");
    } finally {
      await file.close();
    }
  } catch {
    return "";
  }
}

/** A long line is shown around its match. */
function around(text: string, [, begin, end, index]: Match): string {
  const line = text.slice(begin, end);
  if (line.length <= SHOWN_CHARACTERS) return line;
  const start = Math.max(0, Math.min(index - SHOWN_CHARACTERS / 3, line.length - SHOWN_CHARACTERS));
  const part = line.slice(start, start + SHOWN_CHARACTERS);
  return `${start > 0 ? "…" : ""}${part}${start + SHOWN_CHARACTERS < line.length ? "…" : ""}`;
}

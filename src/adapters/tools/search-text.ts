/** `search_text`: lines that match a pattern, found in a thread of their own, so that no pattern can stop the process. */
import { Worker } from "node:worker_threads";
import { z } from "zod";
import type { ToolContext } from "../../ports.ts";
import type { SearchMessage, SearchOrder } from "./search-worker.ts";
import { placeIn } from "./workspace-paths.ts";

const MOST_MATCHES = 200;
const LONGEST_SEARCH_MS = 10_000;

const input = z.object({
  pattern: z.string().min(1).max(1_000).describe("JavaScript regular expression, matched line by line"),
  path: z.string().min(1).optional().describe("File or folder to search, relative to the workspace"),
  glob: z.string().min(1).optional().describe('Only in matching files, such as "*.ts"'),
});

/** Options of the tool, with the workspace of the session or a fixed one. */
export const searchTextTool = (root?: string, options: { timeoutMs?: number } = {}) => ({
  description:
    "Searches the text files of the workspace for a regular expression and returns the matching lines as path:line: text. Passes over node_modules, .git and .rcra.",
  input,
  readOnly: true,
  execute: async (args: z.output<typeof input>, { signal, session }: ToolContext) => {
    const place = placeIn(root ?? session.workspace, args.path ?? ".");
    const order = { place, pattern: args.pattern, glob: args.glob, most: MOST_MATCHES };
    const { lines, notes } = await search(order, options.timeoutMs ?? LONGEST_SEARCH_MS, signal);
    const found = lines.length > 0 ? lines : ["[no matches]"];
    return [...found, ...notes.map((note) => `[${note}]`)].join("\n");
  },
});

/** Runs the search and stops it hard when its time is over; what was found until then counts. */
function search(order: SearchOrder, timeoutMs: number, signal: AbortSignal) {
  signal.throwIfAborted();
  return new Promise<{ lines: string[]; notes: string[] }>((resolve, reject) => {
    const worker = new Worker(workerFile(), {
      workerData: order,
      env: {},
      execArgv: ["--disable-warning=ExperimentalWarning"],
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    const lines: string[] = [];
    const finish = (end: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancelled);
      void worker.terminate();
      end();
    };
    const cancelled = () => finish(() => reject(new Error("The search was stopped.")));
    const timer = setTimeout(() => {
      const note = `stopped after ${timeoutMs} ms: the pattern or the files are too much; narrow the path or simplify the pattern`;
      finish(() => resolve({ lines, notes: [note] }));
    }, timeoutMs);
    signal.addEventListener("abort", cancelled);
    worker.on("message", (message: SearchMessage) => {
      if ("lines" in message) lines.push(...message.lines);
      else if ("error" in message) finish(() => reject(new Error(message.error)));
      else finish(() => resolve({ lines, notes: message.notes }));
    });
    worker.on("error", (error) => finish(() => reject(error)));
  });
}

/** The worker is the file beside this one, as source or as built. */
function workerFile(): URL {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./search-worker.${extension}`, import.meta.url);
}

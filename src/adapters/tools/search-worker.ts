/** The thread that `search_text` searches in. Tells what it finds file by file, so that nothing found is lost with it. */
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { isBinary, openFile, type Place } from "./workspace-paths.ts";
import { walk, type FoundFile } from "./workspace-walk.ts";

/** What to search for, and the most matches to find. */
export type SearchOrder = { place: Place; pattern: string; glob: string | undefined; most: number };
/** Matching lines; or the end, with what else there is to say; or why it cannot be done. */
export type SearchMessage = { lines: string[] } | { notes: string[] } | { error: string };

const LARGEST_FILE_BYTES = 20_000_000;
/** What of a line is looked at, and what of it is shown. */
const LONGEST_LINE = 10_000;
const SHOWN_CHARACTERS = 300;

/** Searches, saying what it finds. */
async function search(order: SearchOrder, say: (message: SearchMessage) => void): Promise<void> {
  const pattern = compile(order.pattern);
  let left = order.most;
  let tooLarge = 0;
  for await (const file of walk(order.place, order.glob)) {
    if (file.size > LARGEST_FILE_BYTES) {
      tooLarge += 1;
      continue;
    }
    const lines = matchesIn(await textOf(order.place, file), file.shown, pattern, left);
    if (lines.length > 0) say({ lines });
    left -= lines.length;
    if (left === 0) break;
  }
  const notes: string[] = [];
  if (left === 0) notes.push(`there may be more than ${order.most} matches: narrow the search`);
  if (tooLarge > 0) notes.push(`${tooLarge} files larger than ${LARGEST_FILE_BYTES} bytes were passed over`);
  say({ notes });
}

/** Unicode mode where the pattern allows it. */
function compile(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return new RegExp(pattern);
  }
}

async function textOf(place: Place, { real, shown }: FoundFile): Promise<string> {
  try {
    // Links were judged on the way here, and lead to what they led to then.
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

function matchesIn(text: string, shown: string, pattern: RegExp, most: number): string[] {
  const found: string[] = [];
  let line = 1;
  for (let start = 0; start < text.length && found.length < most; line++) {
    const end = text.indexOf("\n", start);
    const whole = text.slice(start, end < 0 ? text.length : end).replace(/\r$/, "");
    const match = pattern.exec(whole.slice(0, LONGEST_LINE));
    if (match) found.push(`${shown}:${line}: ${around(whole, match.index)}`);
    start = end < 0 ? text.length : end + 1;
  }
  return found;
}

/** A long line is shown around its match. */
function around(line: string, index: number): string {
  if (line.length <= SHOWN_CHARACTERS) return line;
  const start = Math.max(0, Math.min(index - SHOWN_CHARACTERS / 3, line.length - SHOWN_CHARACTERS));
  const part = line.slice(start, start + SHOWN_CHARACTERS);
  return `${start > 0 ? "…" : ""}${part}${start + SHOWN_CHARACTERS < line.length ? "…" : ""}`;
}

if (!isMainThread && parentPort) {
  const port = parentPort;
  await search(workerData as SearchOrder, (message) => port.postMessage(message)).catch((error: unknown) =>
    port.postMessage({ error: error instanceof Error ? error.message : String(error) } satisfies SearchMessage),
  );
}

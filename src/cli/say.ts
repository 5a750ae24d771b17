/** Notes to the person at the terminal: on stderr, so that stdout holds nothing but the output. */
import { scrub } from "../adapters/model/secrets.ts";
import { bottomLine } from "./bottom-line.ts";
import { printable } from "./terminal.ts";

/** Writes one line to stderr. What looks like a key, and the key itself, never gets there. */
export function say(line: string): void {
  const text = `rcra: ${withoutKey(printable(line))}\n`;
  bottomLine.yieldTo(text);
  process.stderr.write(text);
}

/** Only lines that hold something like a key are rewritten: the rest may be commands that must stay as they are. */
function withoutKey(line: string): string {
  const key = process.env["OPENAI_API_KEY"]?.trim();
  const shows = key !== undefined && key.length >= 4 && line.includes(key);
  return shows ? scrub(line, [key]) : line;
}

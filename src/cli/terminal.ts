/** What a terminal is shown: colour only where a person looks at it, and nothing that would steer it. */
import { styleText } from "node:util";

const NAMES = ["dim", "bold", "red", "green", "yellow", "cyan"] as const;
export type Style = { [K in (typeof NAMES)[number]]: (text: string) => string };

/**
 * Styles for a stream: plain text unless it is a terminal that has colours. `NO_COLOR` takes them away, `FORCE_COLOR`
 * asks for them wherever the output goes; `wanted` is the word of a flag and rules over both when it is false.
 */
export function styleFor(stream: NodeJS.WritableStream, wanted = true): Style {
  const on = wanted && styleText("bold", "x", { stream }) !== "x";
  const entries = NAMES.map((name) => [
    name,
    (text: string) => (on ? styleText(name, text, { validateStream: false }) : text),
  ]);
  return Object.fromEntries(entries) as Style;
}

/** Control characters but newline and tab, and the marks that turn the direction of writing. */
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text that cannot steer a terminal or hide what it says: such characters are shown, not sent. */
export const printable = (text: string): string =>
  text.replaceAll("\r\n", "\n").replace(STEERING, (c) => {
    const hex = c.charCodeAt(0).toString(16);
    return hex.length > 2 ? `\\u${hex.padStart(4, "0")}` : `\\x${hex.padStart(2, "0")}`;
  });

/** One line of at most `width` characters. */
export function oneLine(text: string, width = 100): string {
  const line = printable(text).replace(/\s+/g, " ").trim();
  return line.length > width ? `${whole(line.slice(0, width - 1))}…` : line;
}

/** All of a text up to `most` characters; of a longer one both ends, and how much is missing between them. */
export function bothEnds(text: string, most: number): string {
  const shown = printable(text);
  if (shown.length <= most) return shown;
  const head = whole(shown.slice(0, Math.floor(most * 0.7)));
  const tail = shown.slice(-Math.floor(most * 0.3));
  return `${head} [… ${shown.length - head.length - tail.length} characters not shown …] ${tail}`;
}

/** Without the first half of a character that was cut in two. */
const whole = (text: string): string => text.replace(/[\ud800-\udbff]$/, "");

/** A word as a shell takes it. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

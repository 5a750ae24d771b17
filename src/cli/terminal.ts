/** What a terminal is shown: colour only where a person looks at it, and nothing that would steer it. */
const code = (open: number, close: number) => (text: string, on: boolean) =>
  on ? `\u001b[${open}m${text}\u001b[${close}m` : text;
const styles = {
  dim: code(2, 22),
  bold: code(1, 22),
  red: code(31, 39),
  green: code(32, 39),
  yellow: code(33, 39),
  cyan: code(36, 39),
};
export type Style = { [K in keyof typeof styles]: (text: string) => string };

/** Styles for a stream: plain text unless it is a terminal and `NO_COLOR` is unset or empty. */
export function styleFor(stream: { isTTY?: boolean }, wanted = true): Style {
  const on = wanted && stream.isTTY === true && !process.env["NO_COLOR"];
  const entries = Object.entries(styles).map(([name, paint]) => [name, (text: string) => paint(text, on)]);
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

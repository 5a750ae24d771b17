/** Colour, only where a person looks at it. */
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

/** Styles for a stream: plain text unless it is a terminal and `NO_COLOR` is unset. */
export function styleFor(stream: { isTTY?: boolean }, wanted = true): Style {
  const on = wanted && stream.isTTY === true && !process.env["NO_COLOR"];
  const entries = Object.entries(styles).map(([name, paint]) => [name, (text: string) => paint(text, on)]);
  return Object.fromEntries(entries) as Style;
}

/** Text that cannot steer a terminal: control characters other than newline and tab are shown, not sent. */
export const printable = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- these are what must not reach a terminal
  text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g,
    (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );

/** One line of at most `width` characters. */
export function oneLine(text: string, width = 100): string {
  const line = printable(text).replace(/\s+/g, " ").trim();
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
}

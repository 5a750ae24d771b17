/** The last line of a terminal: drawn in place, and taken away before anything else is written there. */
import { stripVTControlCharacters } from "node:util";
import { oneLine } from "./terminal.ts";

type Terminal = { write(text: string): unknown; isTTY?: boolean; columns?: number };

const START = "\r\u001b[K";

/** One line that others may write over. On anything but a terminal it is never there. */
export class BottomLine {
  readonly #out: Terminal;
  #drawn: string | null = null;
  #midLine = false;
  #holders = 0;

  constructor(out: Terminal) {
    this.#out = out;
  }

  /** Shows a text, cut to the width of the terminal; not while somebody holds the line, or text has not ended its own. */
  draw(text: string, paint: (text: string) => string = (line) => line): void {
    if (!this.#out.isTTY || this.#holders > 0 || this.#midLine) return;
    const line = oneLine(text, Math.max(10, (this.#out.columns || 80) - 1));
    if (line === this.#drawn) return;
    this.#drawn = line;
    this.#out.write(`${START}${paint(line)}`);
  }

  /** Takes it away, if it is there. */
  clear(): void {
    if (this.#drawn === null) return;
    this.#drawn = null;
    this.#out.write(START);
  }

  /** Makes room for a text that is about to be written to the same terminal. */
  yieldTo(text: string): void {
    this.clear();
    const seen = stripVTControlCharacters(text);
    if (seen !== "") this.#midLine = !seen.endsWith("\n");
  }

  /** Keeps the line away until the returned function is called. */
  hold(): () => void {
    this.clear();
    this.#holders++;
    let held = true;
    return () => {
      if (held) this.#holders--;
      held = false;
    };
  }
}

/** That of this process: on stderr, so that it is there when stdout goes to a file. */
export const bottomLine = new BottomLine(process.stderr);
process.on("exit", () => bottomLine.clear());

/** Standard output, for as long as somebody reads it. */
import { bottomLine } from "./bottom-line.ts";
import { say } from "./say.ts";

const closing = new AbortController();

/** Aborts when stdout can take no more: its reader has left (`| head`), or the disk behind it is full. */
export const outputClosed: AbortSignal = closing.signal;

/** Writes to stdout; once that is closed, to nowhere. */
export function print(text: string): void {
  if (closing.signal.aborted) return;
  if (process.stdout.isTTY) bottomLine.yieldTo(text);
  process.stdout.write(text);
}

/** From here on a closed stdout or stderr is no crash. Called once, before anything is written. */
export function guardOutput(): void {
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (closing.signal.aborted) return;
    closing.abort();
    if (error.code === "EPIPE") return;
    say(`the output could not be written (${error.code ?? error.message}).`);
    process.exitCode = 1;
  });
}

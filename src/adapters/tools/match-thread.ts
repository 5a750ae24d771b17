/** Matching a pattern in a thread of its own, where even one that would never end can be stopped. */
import type { Worker } from "node:worker_threads";

/** A line that matches: its number, where it begins and ends in the text, and where in it the match begins. */
export type Match = [line: number, start: number, end: number, index: number];

/** Characters of a line that are looked at. */
const LONGEST_LINE = 10_000;

/**
 * What the thread does. It is text, so that it needs no file of its own beside a bundle. Unicode mode where the pattern
 * allows it.
 */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
let pattern;
try { pattern = new RegExp(workerData, "u"); } catch { pattern = new RegExp(workerData); }
parentPort.on("message", ({ text, most }) => {
  const found = [];
  let line = 1;
  for (let start = 0; start < text.length && found.length < most; line++) {
    const end = text.indexOf("\\n", start) < 0 ? text.length : text.indexOf("\\n", start);
    const last = text[end - 1] === "\\r" && end > start ? end - 1 : end;
    const match = pattern.exec(text.slice(start, Math.min(last, start + ${LONGEST_LINE})));
    if (match) found.push([line, start, last, match.index]);
    start = end + 1;
  }
  parentPort.postMessage(found);
});
`;

/** A thread that matches texts one at a time until it is stopped. */
export class MatchThread {
  readonly #worker: Worker;
  #answer: ((found: Match[] | undefined) => void) | undefined;
  #stopped = false;

  /** @throws SyntaxError for a pattern that is none */
  constructor(pattern: string) {
    new RegExp(pattern);
    const { Worker: Thread } = process.getBuiltinModule("node:worker_threads");
    this.#worker = new Thread(PROGRAM, {
      eval: true,
      workerData: pattern,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    this.#worker.on("message", (found: Match[]) => this.#reply(found));
    this.#worker.on("error", () => this.stop());
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** The first matching lines of a text; `undefined` when the thread is stopped before it has them. */
  find(text: string, most: number): Promise<Match[] | undefined> {
    return new Promise((resolve) => {
      if (this.#stopped) return resolve(undefined);
      this.#answer = resolve;
      this.#worker.postMessage({ text, most });
    });
  }

  /** Ends it at once, whatever it is doing. */
  stop(): void {
    this.#stopped = true;
    void this.#worker.terminate();
    this.#reply(undefined);
  }

  #reply(found: Match[] | undefined): void {
    this.#answer?.(found);
    this.#answer = undefined;
  }
}

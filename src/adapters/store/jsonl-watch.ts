/** Following a journal as it grows, also when another process writes it. */
import { watch, type FSWatcher } from "node:fs";
import type { JournalRecord } from "../../core/event.ts";
import type { Clock } from "../../ports.ts";
import { errno } from "./io-failure.ts";
import { advance, cursorAfter } from "./jsonl-read.ts";
import type { SessionPaths } from "./file-names.ts";

/** How long a change can stay unseen where the file system does not report it. */
const POLL_MS = 500;

/** Rings when something may have changed. A ring that comes before anybody listens is not lost. */
export class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Resolves at the next ring, at once when it has rung since the last time. */
  async heard(): Promise<void> {
    if (!this.#rung) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = undefined;
    this.#rung = false;
  }
}

/**
 * Records after a position, then those to come: each exactly once, whichever segment or process they come from. Ends when
 * the signal aborts, `ended` says so, or the session is deleted. `bell` is rung by appends of this process; those of others are noticed
 * through the file system, at the latest after {@link POLL_MS}.
 */
export async function* follow(
  paths: SessionPaths,
  id: string,
  options: { after: number; signal: AbortSignal; ended: () => boolean; bell: Bell; clock: Clock },
): AsyncGenerator<readonly JournalRecord[], void> {
  const { after, signal, ended, bell, clock } = options;
  const ring = () => bell.ring();
  const noticing = notice(paths, id, ring);
  let stopTimer = () => {};
  signal.addEventListener("abort", ring);
  try {
    const cursor = await cursorAfter(paths, id, after);
    while (!ended()) {
      for await (const records of advance(cursor, paths)) {
        yield records;
        if (ended()) return;
      }
      stopTimer = clock.setTimer(POLL_MS, ring);
      await bell.heard();
      stopTimer();
    }
  } catch (error) {
    // The first thing a deletion takes away is what is being read.
    if (errno(error) !== "ENOENT") throw error;
  } finally {
    stopTimer();
    signal.removeEventListener("abort", ring);
    noticing?.close();
  }
}

/** Asks the file system to tell; where it cannot, polling has to do. */
function notice(paths: SessionPaths, id: string, ring: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(paths.folder, (_event, name) => {
      if (name === null || name.startsWith(`${id}_`)) ring();
    });
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

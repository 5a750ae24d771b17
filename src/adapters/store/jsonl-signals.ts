/**
 * Signals on disk: one file per key, placed whole. A consumed signal stays behind as an empty file, so the same key is a
 * duplicate for ever, and "pending", "consumed" and "unknown" are one directory entry that cannot be in two states.
 */
import { readFileSync, readdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { Signal } from "../../ports.ts";
import { hashName } from "./file-names.ts";
import { errno } from "./io-failure.ts";
import { makeFolder, putWhole } from "./whole-files.ts";

/** Orders signals of one process that arrive in the same millisecond. */
let arrivals = 0;

const fileOf = (folder: string, key: string): string => join(folder, `${hashName(key)}.json`);

/** Leaves a signal; durable when it returns. Needs no lease. */
export function leaveSignal(folder: string, signal: Signal, sync: boolean): "accepted" | "duplicate" {
  makeFolder(folder);
  const content = JSON.stringify({ ...signal, arrival: arrivals++ });
  return putWhole(fileOf(folder, signal.key), content, "create", sync) ? "accepted" : "duplicate";
}

/**
 * Signals that wait, oldest first. Files in `settled` are known to be consumed and are not opened; those found empty are
 * added to it.
 */
export function waitingSignals(folder: string, settled: Set<string>): Signal[] {
  const found: (Signal & { arrival: number })[] = [];
  for (const name of namesIn(folder)) {
    if (!name.endsWith(".json") || settled.has(name)) continue;
    const text = readFileSync(join(folder, name), "utf8");
    if (text === "") settled.add(name);
    else found.push(JSON.parse(text) as Signal & { arrival: number });
  }
  found.sort((a, b) => a.at - b.at || a.arrival - b.arrival);
  return found.map(({ key, type, payload, at }) => ({ key, type, payload, at }));
}

/** Marks signals as consumed. Repeating it, and keys that never came, are no mistakes. */
export function settleSignals(folder: string, keys: readonly string[]): void {
  for (const key of keys)
    try {
      truncateSync(fileOf(folder, key), 0);
    } catch (error) {
      if (errno(error) !== "ENOENT") throw error;
    }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errno(error) === "ENOENT") return [];
    throw error;
  }
}

/** Finding a record's place in a segment without reading what comes before it. */
import { open, type FileHandle } from "node:fs/promises";
import { quickSeq } from "./jsonl-line.ts";

/** Below this, reading on is as quick as searching. */
const NEAR_BYTES = 64 * 1024;

/** The beginning of a line, and the `seq` that stands there. */
export type Place = { offset: number; seq: number };

/**
 * The last place found at or before the record that follows `after`; `undefined` when the segment begins behind it or
 * does not say. Halves the distance: lines stand in the order of their `seq`, each begins with it.
 */
export async function placeBefore(path: string, after: number): Promise<Place | undefined> {
  const file = await open(path, "r");
  try {
    const first = await placeBehind(file, -1);
    if (first === undefined || first.seq > after + 1) return undefined;
    let low = first;
    for (let high = (await file.stat()).size; high - low.offset > NEAR_BYTES;) {
      const middle = Math.floor((low.offset + high) / 2);
      const found = await placeBehind(file, middle);
      if (found === undefined) return low;
      if (found.offset < high && found.seq <= after + 1) low = found;
      else high = middle;
    }
    return low;
  } finally {
    await file.close();
  }
}

/** The first line that begins behind an offset; `-1` is before the first line. */
async function placeBehind(file: FileHandle, offset: number): Promise<Place | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(NEAR_BYTES), 0, NEAR_BYTES, Math.max(0, offset));
  const start = offset < 0 ? 0 : buffer.indexOf(10) + 1;
  if (offset >= 0 && start === 0) return undefined;
  const seq = quickSeq(buffer, start, bytesRead);
  return seq === undefined ? undefined : { offset: Math.max(0, offset) + start, seq };
}

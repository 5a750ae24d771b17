/** Long journals in slices, so that folding one never holds up the event loop for long. */
import type { JournalRecord } from "../core/event.ts";

/** Records between two breaths: about 10 ms of folding. */
const SLICE = 250;

/** Chunks of at most that many records; whatever else is ready happens in between. */
export async function* slicesOf(
  journal: AsyncIterable<readonly JournalRecord[]> | Iterable<JournalRecord>,
): AsyncGenerator<readonly JournalRecord[], void> {
  let sinceBreath = 0;
  for await (const chunk of Symbol.asyncIterator in journal ? journal : [[...journal]])
    for (let i = 0; i < chunk.length;) {
      const slice = chunk.slice(i, i + SLICE - sinceBreath);
      yield slice;
      i += slice.length;
      sinceBreath += slice.length;
      if (sinceBreath < SLICE) continue;
      sinceBreath = 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
}

/** Reading a journal from a file that somebody has, in a store's folder or out of it. */
import { open } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import type { JournalRecord } from "../../core/event.ts";
import { StoreError } from "../../ports.ts";
import { parseSegmentName, sessionPaths } from "./file-names.ts";
import { errno } from "./io-failure.ts";
import { describeContent } from "./jsonl-line.ts";
import { readAll, startOfJournal } from "./jsonl-read.ts";

/**
 * The records of a journal file, in chunks. Of a session with several segments any of them names the whole; the file of a
 * copy may be called anything. Nothing is written, nobody's lease matters, an end that was cut is left out.
 * @throws StoreError `NotFound`; `JournalCorrupt` for what is no journal, saying what it is, and for a broken line;
 * `SchemaVersion`
 */
export async function* readJournal(path: string): AsyncGenerator<readonly JournalRecord[], void> {
  const file = resolve(path);
  const segment = parseSegmentName(basename(file));
  const paths = sessionPaths(dirname(file), segment?.id ?? "copy");
  const whole = segment ? paths : { ...paths, segment: (n: number) => (n === 1 ? file : `${file}.${n}`) };
  await assertContent(file);
  let isEmpty = true;
  for await (const records of readAll(startOfJournal(), whole, segment?.id ?? "copy")) {
    if (isEmpty && records[0]?.seq !== 1)
      throw new StoreError("JournalCorrupt", `${file} begins with record ${records[0]?.seq}; a journal begins with 1`, {
        details: { file, line: 1, lastGoodSeq: 0 },
      });
    isEmpty = false;
    yield records;
  }
  if (isEmpty) throw noJournal(file, "it holds no whole record");
}

async function assertContent(file: string): Promise<void> {
  try {
    const handle = await open(file, "r");
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(256), 0, 256, 0);
      if (bytesRead === 0) throw noJournal(file, "it is empty");
      const begin = buffer.subarray(0, bytesRead);
      if (begin[0] !== 0x7b) throw noJournal(file, `it is ${describeContent(begin)}`);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof StoreError) throw error;
    if (errno(error) === "ENOENT") throw new StoreError("NotFound", `there is no file ${file}`, { cause: error });
    if (errno(error) === "EISDIR") throw noJournal(file, "it is a folder; name the .jsonl file in it");
    throw new StoreError("StoreUnavailable", `${file} cannot be read: ${errno(error) ?? String(error)}`, {
      cause: error,
    });
  }
}

const noJournal = (file: string, why: string): StoreError =>
  new StoreError("JournalCorrupt", `${file} is no journal: ${why}`, { details: { file, line: 1, lastGoodSeq: 0 } });

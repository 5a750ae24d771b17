/** Where a command takes a journal from: a file that somebody has, or a session of the store. */
import { existsSync } from "node:fs";
import { readJournal } from "../adapters/store/journal-file.ts";
import type { JournalRecord } from "../core/event.ts";
import { findSession, openStore, type StoreFlags } from "./workbench.ts";

export type JournalSource = {
  name: string;
  records: AsyncIterable<readonly JournalRecord[]>;
  total: number | undefined;
};

/** A path wins over a session's id; what looks like a path is one. @throws Problem when there is neither */
export async function journalSource(what: string, flags: StoreFlags): Promise<JournalSource> {
  if (/[/\\]|\.jsonl$/.test(what) || existsSync(what))
    return { name: what, records: readJournal(what), total: undefined };
  const store = openStore(flags);
  const info = await findSession(store, what);
  return { name: info.id, records: store.read(info.id), total: info.head };
}

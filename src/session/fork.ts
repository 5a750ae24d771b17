/** Forking: a new session whose journal begins with another's. */
import { storedIn } from "../core/media.ts";
import { AgentError } from "../core/errors.ts";
import type { JournalRecord } from "../core/event.ts";
import type { Message } from "../core/message.ts";
import type { Store } from "../ports.ts";
import { checkRecord } from "./check-record.ts";
import { SessionFold } from "./fold.ts";

type Fork = {
  store: Store;
  from: string;
  id: string;
  at: number | undefined;
  owner: string;
  agent: string;
  now: number;
};

/** Records of one append while copying. */
const CHUNK = 1_000;

/**
 * Copies the records up to `at`, and what the machine announced right then: a journal ends where the machine came to rest.
 * Decisions, answers and results after it are not in the copy, so what was open is open again. Reads without a lease, as
 * far as it must, so that a journal can be forked before a line that is broken. Files that records name are copied too.
 * @throws AgentError `invalid_options` for a place that the journal does not have; StoreError
 */
export async function forkJournal({ store, from, id, at, owner, agent, now }: Fork): Promise<void> {
  if (at !== undefined && (!Number.isInteger(at) || at < 1))
    throw new AgentError(
      "invalid_options",
      `forkSession: at: expected the number of a record (1 or more), not ${String(at)}`,
    );
  const records = await prefixOf(store, from, at);
  const last = records.at(-1)?.seq ?? 0;
  if (at !== undefined && last < at)
    throw new AgentError("invalid_options", `forkSession: at: session ${from} has ${last} records, there is no ${at}`);
  const [first, ...rest] = records;
  if (first?.type !== "session.opened")
    throw new AgentError("journal_corrupt", `Session ${from} does not begin with session.opened.`);
  const fold = foldOf(records);
  await store.create(id, { at: now, agent });
  await copyFiles(store, from, id, fold.transcript.messages());
  const copied: JournalRecord[] = [{ ...first, id, forkedFrom: { id: from, seq: last } }, ...rest];
  let lease = await store.acquire(id, owner, "if-free");
  for (let i = 0; i < copied.length; i += CHUNK) lease = await store.append(lease, copied.slice(i, i + CHUNK));
  await store.release(lease, { status: fold.context.run ? "suspended" : "idle" });
}

function foldOf(records: readonly JournalRecord[]): SessionFold {
  const fold = new SessionFold();
  for (const record of records) fold.append(record);
  fold.stop();
  return fold;
}

async function prefixOf(store: Store, id: string, at: number | undefined): Promise<JournalRecord[]> {
  const records: JournalRecord[] = [];
  for await (const chunk of store.read(id))
    for (const record of chunk) {
      // Behind the place itself only what was announced because of it belongs to it.
      if (at !== undefined && record.seq > at && record.dir === "in") return records;
      records.push(checkRecord(record));
    }
  return records;
}

async function copyFiles(store: Store, from: string, to: string, messages: readonly Message[]): Promise<void> {
  const names = new Set(messages.flatMap((message) => storedIn(message).map((part) => part.stored.file)));
  for (const name of names) {
    const content = await Promise.resolve(store.getFile(from, name)).catch(() => undefined);
    // A file that is gone is gone for both.
    if (content !== undefined) await store.putFile(to, name, content);
  }
}

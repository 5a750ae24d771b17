/** Records are parsed when a journal is read: the store knows lines, not what they mean. */
import { AgentError } from "../core/errors.ts";
import { envelope, inputEvents, noteEvents, outputEvents, type JournalRecord } from "../core/event.ts";

const byDirection = { in: inputEvents, out: outputEvents, note: noteEvents };

/** @throws AgentError `journal_corrupt` with the place and what was expected there */
export function checkRecord(record: JournalRecord): JournalRecord {
  const place = envelope.safeParse(record);
  const schemas: { [type: string]: typeof envelope | undefined } = byDirection[record.dir] as never;
  const body = schemas?.[record.type]?.safeParse(record);
  if (place.success && body?.success) return record;
  const issue = (place.error ?? body?.error)?.issues[0];
  const what = issue
    ? `${issue.path.join(".")}: ${issue.message}`
    : `there is no ${record.dir} record "${record.type}"`;
  throw new AgentError("journal_corrupt", `Record ${record.seq} of the journal is damaged: ${what}`);
}

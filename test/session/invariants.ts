/** What holds of every session, whatever happened to it. Each check throws with a sentence. */
import { expect } from "vitest";
import { callsOf, type Message } from "../../src/core/message.ts";
import { inputEvents, noteEvents, outputEvents, type JournalRecord, type SessionEvent } from "../../src/core/event.ts";
import { pairingFault } from "../../src/core/pairing.ts";
import { Transcript } from "../../src/core/transcript.ts";
import { SessionFold } from "../../src/session/fold.ts";
import { replay } from "../../src/session/replay.ts";
import type { Session } from "../../src/session/session.ts";
import type { ModelRequest } from "../../src/ports.ts";

/** A journal by itself: dense, one ending per run, one result per call, a valid history at every record. */
export function checkJournal(records: readonly JournalRecord[]): void {
  expect(records.map((r) => r.seq)).toEqual(records.map((_, i) => i + 1));
  for (const record of records) checkRecord(record);
  checkRuns(records);
  checkExchanges(records);
  checkPrefixes(records);
  whereInputsAre(records);
}

/** Every input is in exactly one place: in the inbox, in the transcript, or gone. Answers with those in the inbox. */
export function whereInputsAre(records: readonly JournalRecord[]): string[] {
  const waiting = new Set<string>();
  const leave = (ids: readonly string[], how: string) => {
    for (const id of ids) if (!waiting.delete(id)) throw new Error(`input ${id} is ${how}, but it does not wait`);
  };
  for (const r of records)
    if (r.type === "input.received") waiting.add(r.id);
    else if (r.type === "history.imported") waiting.add(`history.${r.seq}`);
    else if (r.type === "stop.reviewed") for (const f of r.feedback) waiting.add(f.id);
    else if (r.type === "inputs.reviewed")
      for (const v of r.verdicts)
        for (const i of (v.refused === undefined && waiting.has(v.id) ? (v.info ?? []) : []).keys())
          waiting.add(`${v.id}.info${i}`);
    else if (r.type === "turn.started" || r.type === "inputs.taken") leave(r.inputs, "taken");
    else if (r.type === "input.refused") leave([r.id], "refused");
    else if (r.type === "run.ended") leave(r.withdrawn ?? [], "withdrawn");
    else if (r.type === "input.withdrawn") for (const id of r.ids) waiting.delete(id);
  return [...waiting];
}

/** A record says what the vocabulary says it may, no more and no less, and survives being written as JSON. */
function checkRecord(record: JournalRecord): void {
  const { v, seq, at, dir, runId: _run, turn: _turn, attempt: _attempt, type, ...fields } = record as any;
  const where = `${type} at ${seq}`;
  const schema = ({ in: inputEvents, out: outputEvents, note: noteEvents } as any)[dir][type];
  expect(schema, `${where} is a known ${dir} record`).toBeDefined();
  const parsed = schema.safeParse(record);
  expect(parsed.error?.issues ?? [], where).toEqual([]);
  expect(
    Object.keys(fields).filter((key) => !(key in parsed.data)),
    where,
  ).toEqual([]);
  expect(JSON.parse(JSON.stringify(fields)), where).toEqual(fields);
  expect([v, typeof at], where).toEqual([1, "number"]);
}

function checkRuns(records: readonly JournalRecord[]): void {
  const seen = new Set<string>();
  let open: string | undefined;
  for (const r of records)
    if (r.type === "run.started") {
      expect(open, `run ${r.runId} starts while another is open`).toBeUndefined();
      expect(seen, `run ${r.runId} starts twice`).not.toContain(r.runId);
      seen.add((open = r.runId));
    } else if (r.type === "run.ended") {
      expect(r.runId, "the run that ends is the open one").toBe(open);
      open = undefined;
    }
}

function checkExchanges(records: readonly JournalRecord[]): void {
  const started = new Set<string>();
  const results = new Set<string>();
  const answers = new Set<number>();
  for (const r of records) {
    if (r.type === "tool.started") started.add(r.callId);
    if (r.type !== "exchange.committed") continue;
    const answer = records[r.message - 1];
    expect(answer?.type, "a commit names its answer").toBe("model.completed");
    if (answer?.type !== "model.completed") continue;
    expect(answers, "an answer is committed once").not.toContain(answer.seq);
    answers.add(answer.seq);
    const calls = callsOf(answer.message.parts).map((c) => c.callId);
    expect(
      r.results.map((one) => one.callId),
      "one result per call, in call order",
    ).toEqual(calls);
    for (const one of r.results) {
      expect(results, `call ${one.callId} has one result`).not.toContain(one.callId);
      results.add(one.callId);
    }
  }
  const isOpen = records.findLast((r) => r.type === "run.started" || r.type === "run.ended")?.type === "run.started";
  if (!isOpen) expect([...started].filter((id) => !results.has(id))).toEqual([]);
}

/** A reader who stops at any record has a history that a provider accepts. */
function checkPrefixes(records: readonly JournalRecord[]): void {
  const transcript = new Transcript();
  let length = 0;
  for (const record of records) {
    transcript.append(record);
    if (transcript.entries.length === length) continue;
    length = transcript.entries.length;
    expect(pairingFault(transcript.messages())).toBeUndefined();
    expect(pairingFault(transcript.view)).toBeUndefined();
  }
}

/** The machine decides again what it decided. */
export async function checkReplay(records: readonly JournalRecord[]): Promise<void> {
  const { divergences } = await replay(JSON.parse(JSON.stringify(records)) as JournalRecord[]);
  expect(divergences).toEqual([]);
}

/** The fold of a journal is the live session: transcript, view, machine. */
export function checkFold(records: readonly JournalRecord[], session: Session): void {
  const fold = new SessionFold();
  for (const record of JSON.parse(JSON.stringify(records)) as JournalRecord[]) fold.append(record);
  expect(fold.transcript.messages()).toEqual(session.messages());
  expect(fold.transcript.view).toEqual(session.view());
  expect(fold.ledger.usage).toEqual(session.usage());
  expect(Object.entries(fold.ledger.memory)).toEqual(session.memory.entries());
  const live = session.actor.getSnapshot();
  if (live) {
    expect(live.context.inbox.map((i) => i.id)).toEqual(whereInputsAre(records));
    expect(fold.context).toEqual(live.context);
    expect(fold.state).toEqual(live.value);
  }
  fold.stop();
}

/** What the model saw: valid histories; each is the beginning of the next, unless a compaction came between. */
export function checkRequests(requests: readonly ModelRequest[], compacted: boolean): void {
  for (const { messages } of requests) expect(pairingFault(messages)).toBeUndefined();
  if (compacted) return;
  const turns = requests.filter((r) => r.purpose === "turn");
  for (const [i, later] of turns.entries()) {
    const before = turns[i - 1];
    if (!before || before.sessionId !== later.sessionId) continue;
    expect(later.messages.slice(0, before.messages.length)).toEqual(before.messages as Message[]);
  }
}

/** What a reader from the beginning was shown: every record once, in order. */
export function checkShown(events: readonly SessionEvent[]): void {
  const seqs = events.flatMap((e) => ("seq" in e ? [e.seq] : []));
  expect(seqs, "records without gap or repeat").toEqual(seqs.map((_, i) => i + 1));
}

/** What a reader who was never behind was shown between the records: phases in pairs, deltas of parts that had begun. */
export function checkPartials(events: readonly SessionEvent[], atRest: boolean): void {
  let phase: string | undefined;
  const parts = new Set<string>();
  for (const e of events)
    if (e.type === "phase.started") {
      expect(phase, `${e.phase} starts within another phase`).toBeUndefined();
      phase = e.phase;
    } else if (e.type === "phase.ended") {
      expect(e.phase).toBe(phase);
      phase = undefined;
    } else if (e.type === "part.started") parts.add(e.partId);
    else if (e.type === "part.delta" && !parts.has(e.partId)) throw new Error(`a delta of ${e.partId} before its part`);
  if (atRest) expect(phase, "the last phase ended").toBeUndefined();
}

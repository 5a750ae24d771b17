/** Replay: the recorded inputs go to the machine with its effects off, and what it announces is held against the journal. */
import { difference, type Difference } from "../core/difference.ts";
import type { JournalRecord, OutputEvent, RunStatus } from "../core/event.ts";
import { messageOf } from "../effects/effect.ts";
import { SessionFold } from "./fold.ts";
import { slicesOf } from "./slices.ts";

/** An announcement that is not the recorded one. A side is null when there is none there. */
export type Divergence = {
  /** The record at which it shows. */
  seq: number;
  expected: JournalRecord | null;
  actual: OutputEvent | null;
  /** The first field that differs, or why the machine could not go on. */
  where: Difference | string;
};

export type ReplayReport = {
  session: string | undefined;
  records: number;
  /** How many records of each type there are. */
  events: { [type: string]: number };
  /** How often the machine came to rest in each state after an input. */
  states: { [path: string]: number };
  runs: { runId: string; status: RunStatus | "open"; turns: number; from: number; to: number }[];
  /** In the order of the journal; empty when the machine decides today as it did then. */
  divergences: Divergence[];
  /** Announcements after the last record: the journal ends in the middle of a write. */
  unwritten: number;
};

/**
 * Replays a journal: no model, no tools, no clock. Linear, and never holds up the event loop for long. Stops at the first
 * divergence, or with `all` goes on and lists up to that many: how a journal of another version would differ.
 * @throws AgentError, StoreError what reading the journal throws
 */
export async function replay(
  journal: AsyncIterable<readonly JournalRecord[]> | Iterable<JournalRecord>,
  options: { all?: number; onProgress?: (records: number) => void } = {},
): Promise<ReplayReport> {
  const run = new Replay(options.all ?? 1);
  try {
    for await (const slice of slicesOf(journal)) {
      for (const record of slice) {
        run.take(record);
        if (run.isOver) return run.report;
      }
      options.onProgress?.(run.report.records);
    }
    run.end();
    return run.report;
  } finally {
    run.stop();
  }
}

class Replay {
  readonly report: ReplayReport = {
    session: undefined,
    records: 0,
    events: {},
    states: {},
    runs: [],
    divergences: [],
    unwritten: 0,
  };
  readonly #fold = new SessionFold();
  readonly #limit: number;
  /** What the machine announced and the journal has not confirmed yet, in order. */
  #announced: OutputEvent[] = [];

  constructor(limit: number) {
    this.#limit = limit;
    this.#fold.onAnnounce = (event) => this.#announced.push(event);
  }

  get isOver(): boolean {
    return this.report.divergences.length >= this.#limit;
  }

  take(record: JournalRecord): void {
    const { report } = this;
    report.records++;
    report.events[record.type] = (report.events[record.type] ?? 0) + 1;
    if (record.type === "session.opened") report.session = record.id;
    if (record.dir === "out") this.#compare(record);
    else if (record.dir === "in") this.#expectNothing(record);
    if (this.isOver) return;
    try {
      this.#fold.append(record);
    } catch (error) {
      this.#diverge({ seq: record.seq, expected: record, actual: null, where: messageOf(error) });
    }
    this.#note(record);
  }

  #compare(record: JournalRecord): void {
    const actual = this.#announced.shift() ?? null;
    const where = difference(bodyOf(record, actual), actual);
    if (where) this.#diverge({ seq: record.seq, expected: record, actual, where });
  }

  /** An input comes: everything announced before must have been in the journal by then. */
  #expectNothing(record: JournalRecord): void {
    const [actual] = this.#announced;
    this.#announced = [];
    if (!actual) return;
    // A process that died wrote no more; who resumed the session began with what was there.
    if (record.type === "session.resumed") return;
    this.#diverge({ seq: record.seq, expected: null, actual, where: `${actual.type} is not in the journal` });
  }

  #diverge(divergence: Divergence): void {
    this.report.divergences.push(divergence);
  }

  #note(record: JournalRecord): void {
    const { runs, states } = this.report;
    if (record.type === "run.started")
      runs.push({ runId: record.runId, status: "open", turns: 0, from: record.seq, to: record.seq });
    const run = runs.at(-1);
    if (run?.status === "open") run.to = record.seq;
    if (record.type === "run.ended" && run) [run.status, run.turns] = [record.status, record.turns];
    if (record.dir !== "in") return;
    const state = pathOf(this.#fold.state);
    states[state] = (states[state] ?? 0) + 1;
  }

  end(): void {
    this.report.unwritten = this.#announced.length;
  }

  stop(): void {
    this.#fold.stop();
  }
}

/** Fields that the journal adds; some events have fields of the same name, which then belong to them. */
const PLACE = ["v", "seq", "at", "dir", "origin", "runId", "turn", "attempt"];

function bodyOf(record: JournalRecord, actual: OutputEvent | null): unknown {
  const body: { [key: string]: unknown } = { ...record };
  for (const key of PLACE) if (!actual || !(key in actual)) delete body[key];
  return body;
}

const pathOf = (value: unknown): string =>
  typeof value === "object" && value !== null
    ? Object.entries(value)
        .map(([phase, inner]) => `${phase}.${pathOf(inner)}`)
        .join()
    : String(value);

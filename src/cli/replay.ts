/** `rcra replay`: the machine decides again what a journal says it decided, and the command tells where it would not. */
import { checkRecord } from "../session/check-record.ts";
import type { JournalRecord } from "../core/event.ts";
import { replay, type Divergence, type ReplayReport } from "../session/replay.ts";
import { EXIT } from "./exit-codes.ts";
import { journalSource } from "./journal-source.ts";
import { print } from "./output.ts";
import { oneLine, styleFor, type Style } from "./terminal.ts";
import type { StoreFlags } from "./workbench.ts";

export type ReplayFlags = StoreFlags & { json?: boolean; color?: boolean; all?: boolean };

/** Divergences that `--all` lists at most. */
const MOST = 100;
/** Journals of fewer records are over before a bar could be seen. */
const LONG = 20_000;

/** Exit code 0 when the machine decides the same, 1 when it does not or the journal cannot be read. */
export async function replayCommand(what: string, flags: ReplayFlags): Promise<number> {
  const { name, records, total } = await journalSource(what, flags);
  const progress = new Progress(total);
  const report = await replay(checked(records), { all: flags.all ? MOST : 1, onProgress: (n) => progress.show(n) });
  progress.clear();
  if (flags.json) print(`${JSON.stringify(report)}\n`);
  else for (const line of linesOf(name, report, styleFor(process.stdout, flags.color))) print(`${line}\n`);
  return report.divergences.length ? EXIT.failed : EXIT.completed;
}

async function* checked(chunks: AsyncIterable<readonly JournalRecord[]>) {
  for await (const chunk of chunks) {
    for (const record of chunk) checkRecord(record);
    yield chunk;
  }
}

function* linesOf(name: string, report: ReplayReport, style: Style): Generator<string> {
  const { bold, dim, green, red } = style;
  yield `${bold(report.session ?? name)} ${dim(`· ${count(report.records, "record")}`)}`;
  yield* table("events", report.events, style);
  yield* table("states", report.states, style);
  for (const { runId, status, turns, from, to } of report.runs)
    yield `${runId} ${status} ${dim(`· ${count(turns, "turn")} · records ${from}–${to}`)}`;
  if (report.unwritten)
    yield dim(`The journal ends in the middle of a write: ${count(report.unwritten, "announcement")} not in it.`);
  for (const divergence of report.divergences) yield* linesAbout(divergence, style);
  yield report.divergences.length
    ? red(`✗ ${count(report.divergences.length, "divergence")}: the machine would not decide what is recorded`)
    : green("✓ the machine decides what is recorded");
}

function* table(title: string, counts: { [name: string]: number }, { dim }: Style): Generator<string> {
  const rows = Object.entries(counts).sort(([, a], [, b]) => b - a);
  if (rows.length) yield dim(`${title}  ${rows.map(([name, n]) => `${name} ${n}`).join(" · ")}`);
}

function* linesAbout({ seq, expected, actual, where }: Divergence, { red, dim }: Style): Generator<string> {
  const why = typeof where === "string" ? where : `${where.path || "the whole of it"} differs`;
  yield red(`record ${seq}: ${why}`);
  if (typeof where !== "string") {
    yield `  recorded  ${oneLine(JSON.stringify(where.expected) ?? "nothing", 200)}`;
    yield `  replayed  ${oneLine(JSON.stringify(where.actual) ?? "nothing", 200)}`;
  }
  yield dim(`  recorded  ${oneLine(JSON.stringify(expected), 300)}`);
  yield dim(`  replayed  ${oneLine(JSON.stringify(actual), 300)}`);
}

const count = (n: number, what: string): string => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

/** A bar on a terminal's stderr, for journals that take their time. */
class Progress {
  readonly #total: number | undefined;
  #shown = false;

  constructor(total: number | undefined) {
    this.#total = total;
  }

  show(records: number): void {
    if (!process.stderr.isTTY || (this.#total ?? records) < LONG) return;
    this.#shown = true;
    const width = 30;
    const done = this.#total ? Math.min(width, Math.round((records / this.#total) * width)) : 0;
    const bar = this.#total ? `${"█".repeat(done)}${"░".repeat(width - done)} ` : "";
    process.stderr.write(`\r${bar}${records.toLocaleString("en")} records`);
  }

  clear(): void {
    if (this.#shown) process.stderr.write("\r\u001b[K");
  }
}

/** Results for people: a table with ratios, the budgets, and what else was seen. */
import { budgets } from "./budgets.ts";
import { COLUMNS, type Column, type MeasuredRow, type Results } from "./measure.ts";
import type { RowName } from "./rows/row.ts";
import { rounded } from "./statistics.ts";

const TITLES: { [C in Column]: string } = {
  usPerTurn: "µs/turn",
  growth: "growth",
  par50Ms: "50 tools ms",
  usPerDelta: "µs/delta",
  heapKBPerSession: "KB/session",
  snapshotMs: "snapshot ms",
  importMs: "import ms",
};

/** A ratio already, so that a ratio of it says nothing. */
const plain: ReadonlySet<Column> = new Set(["growth"]);

function table(rows: readonly MeasuredRow[], against: RowName): string {
  const base = rows.find((r) => r.name === against)!;
  const cell = (row: MeasuredRow, column: Column) => {
    const value = String(rounded(row[column]));
    return row === base || plain.has(column) ? value : `${value} (${rounded(row[column] / base[column])}×)`;
  };
  const lines = [
    ["", ...COLUMNS.map((c) => TITLES[c])],
    ...rows.map((r) => [r.name, ...COLUMNS.map((c) => cell(r, c))]),
  ];
  const widths = lines[0]!.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)));
  const pad = (text: string, i: number) => (i === 0 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!));
  return lines.map((line) => line.map(pad).join("  ")).join("\n");
}

function budgetLines(results: Results): string {
  const all = budgets(results);
  const width = Math.max(...all.map((b) => b.what.length));
  return all
    .map(
      ({ met, what, found, allowed }) =>
        `${met ? "met    " : "NOT MET"}  ${what.padEnd(width)}  ${found}  (${allowed})`,
    )
    .join("\n");
}

function notes({ all }: Results): string {
  const of = (name: string) =>
    [...all]
      .filter(([, numbers]) => numbers[name] !== undefined)
      .map(([row, numbers]) => `${row} ${rounded(numbers[name]!)}`)
      .join(", ");
  return [
    `µs per turn at turn 100: ${of("usAt100")}; at turn 1,000: ${of("usAt1000")}`,
    `µs per turn while somebody iterates the run: ${of("watchedUsPerTurn")}`,
    `50 tools with toolConcurrency 50, ms: ${of("par50At50Ms")} (the column: the default of 8)`,
    `deltas handed out of 10,000 (a reader that is behind gets them joined): ${of("handed")}`,
    `KB per session once each has had a run of two turns: ${of("heapKBAfterRun")} (the column: made and idle)`,
    `KB of JSON of the snapshot: ${of("snapshotKB")}`,
    "import ms: of nothing for hand-written, of xstate + immer + zod for bare-xstate, of the package for the others",
  ].join("\n");
}

/** The whole report; `against` names the row that ratios are made with. */
export const report = (results: Results, against: RowName): string =>
  [
    `25th percentiles of interleaved rounds, Node ${process.versions.node}; in brackets: times ${against}`,
    table(results.rows, against),
    budgetLines(results),
    notes(results),
  ].join("\n\n");

/** The same for programs. */
export const json = ({ rows }: Results): string =>
  JSON.stringify({
    rows: rows.map(({ name, ...columns }) => ({
      name,
      ...Object.fromEntries(Object.entries(columns).map(([column, value]) => [column, rounded(value)])),
    })),
  });

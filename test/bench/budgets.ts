/** What the package promises to cost, and whether it keeps it. */
import type { MeasuredRow, Results } from "./measure.ts";
import type { RowName } from "./rows/row.ts";
import { rounded } from "./statistics.ts";

export type Budget = { what: string; met: boolean; found: string; allowed: string };

const limit = (what: string, found: number, unit: string, most: number): Budget => ({
  what,
  met: found <= most,
  found: `${rounded(found)} ${unit}`,
  allowed: `≤ ${most} ${unit}`,
});

/** Every budget, for the rows it is about. */
export function budgets({ rows, loaded }: Results): Budget[] {
  const row = (name: RowName): MeasuredRow => rows.find((r) => r.name === name)!;
  const bare = row("bare-xstate");
  const turn = (name: RowName, us: number, times: number): Budget[] => [
    limit(`${name}: a turn`, row(name).usPerTurn, "µs", us),
    limit(`${name}: a turn against bare-xstate`, row(name).usPerTurn / bare.usPerTurn, "×", times),
  ];
  const both = (what: string, of: (r: MeasuredRow) => number, unit: string, most: number): Budget[] =>
    (["rcra", "rcra-jsonl"] as const).map((name) => limit(`${name}: ${what}`, of(row(name)), unit, most));
  return [
    ...turn("rcra", 100, 5),
    ...turn("rcra-jsonl", 250, 7),
    ...both("turn 1,000 against turn 100", (r) => r.growth, "×", 1.3),
    limit("rcra: 50 parallel tools", row("rcra").par50Ms, "ms", 2),
    limit("rcra: a delta", row("rcra").usPerDelta, "µs", 2),
    limit("rcra: an idle session", row("rcra").heapKBPerSession, "KB", 15),
    limit("rcra: snapshot of 1,000 turns", row("rcra").snapshotMs, "ms", 10),
    limit("import against xstate + immer + zod", row("rcra").importMs / bare.importMs, "×", 1.4),
    {
      what: "importing the package does not load openai",
      met: !loaded.includes("openai"),
      found: loaded.join(", "),
      allowed: "no openai",
    },
  ];
}

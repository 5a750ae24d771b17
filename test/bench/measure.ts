/** Takes every measurement and puts the rows together. */
import { Fleet } from "./fleet.ts";
import { buildPackage, measureImports, packagesLoaded } from "./imports.ts";
import { ROW_NAMES, type RowName } from "./rows/row.ts";
import { repetitions, type Numbers, type ScenarioName } from "./scenarios.ts";

/** The columns of a row, in the order in which they are shown. */
export const COLUMNS = [
  "usPerTurn",
  "growth",
  "par50Ms",
  "usPerDelta",
  "heapKBPerSession",
  "snapshotMs",
  "importMs",
] as const;
export type Column = (typeof COLUMNS)[number];
export type MeasuredRow = { name: RowName } & { [C in Column]: number };

/** Everything that was found. `all` has the numbers behind the rows too, and those that are no column. */
export type Results = { rows: MeasuredRow[]; all: Map<RowName, Numbers>; loaded: string[] };

const OWN: readonly RowName[] = ["rcra", "rcra-jsonl"];
/** Scenarios that say something about the package only. */
const ownOnly: ReadonlySet<ScenarioName> = new Set(["watchedTurn", "parallelUnlimited"]);

/** Measures all rows. `tell` hears what is under way. */
export async function measure(quick: boolean, tell: (what: string) => void): Promise<Results> {
  const all = new Map<RowName, Numbers>(ROW_NAMES.map((row) => [row, {}]));
  const fleet = new Fleet(ROW_NAMES, quick);
  try {
    for (const scenario of Object.keys(repetitions) as ScenarioName[]) {
      tell(scenario);
      const found = await fleet.measure(scenario, ownOnly.has(scenario) ? OWN : ROW_NAMES);
      for (const [row, numbers] of found) Object.assign(all.get(row)!, numbers);
    }
  } finally {
    fleet.close();
  }
  tell("imports");
  const index = buildPackage();
  for (const [row, importMs] of await measureImports(index, quick)) Object.assign(all.get(row)!, { importMs });
  return { rows: ROW_NAMES.map((name) => rowOf(name, all.get(name)!)), all, loaded: await packagesLoaded(index) };
}

function rowOf(name: RowName, numbers: Numbers): MeasuredRow {
  const withGrowth: Numbers = { ...numbers, growth: numbers["usAt1000"]! / numbers["usAt100"]! };
  return { name, ...Object.fromEntries(COLUMNS.map((column) => [column, withGrowth[column]])) } as MeasuredRow;
}

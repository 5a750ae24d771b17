/** A process that measures one row, a round at a time, whenever it is told to. */
import { loadRow, type RowName } from "./rows/row.ts";
import { scenarios, type Numbers, type ScenarioName } from "./scenarios.ts";

/** What a worker is told: play this scenario so many times, the last one counts. */
export type Order = { scenario: ScenarioName; times: number };
export type Report = { numbers: Numbers } | { error: string };

const row = await loadRow(process.argv[2] as RowName);

async function obey({ scenario, times }: Order): Promise<Report> {
  try {
    let numbers: Numbers = {};
    for (let i = 0; i < times; i++) numbers = await scenarios[scenario](row);
    return { numbers };
  } catch (error) {
    return { error: String(error) };
  }
}

process.on("message", (order: Order) => void obey(order).then((report) => process.send!(report)));
process.on("disconnect", () => process.exit());

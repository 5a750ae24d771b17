/** One process per row, so that no row compiles, collects or deoptimizes for another; they take turns. */
import { fork, type ChildProcess } from "node:child_process";
import type { RowName } from "./rows/row.ts";
import { repetitions, type Numbers, type ScenarioName } from "./scenarios.ts";
import { quartile } from "./statistics.ts";
import type { Order, Report } from "./worker.ts";

export class Fleet {
  readonly #workers: ReadonlyMap<RowName, ChildProcess>;
  readonly #quick: boolean;

  constructor(rows: readonly RowName[], quick: boolean) {
    const worker = new URL("./worker.ts", import.meta.url);
    const options = { execArgv: ["--expose-gc"], env: { ...process.env, NODE_ENV: "production" } };
    this.#workers = new Map(rows.map((row) => [row, fork(worker, [row], options)]));
    this.#quick = quick;
  }

  /** Measures a scenario on some rows, round by round, each round on every row: 25th percentiles by row. */
  async measure(scenario: ScenarioName, rows: readonly RowName[]): Promise<Map<RowName, Numbers>> {
    const { warmUp, rounds } = repetitions[scenario];
    const pick = ([full, quick]: [number, number]) => (this.#quick ? quick : full);
    const found = new Map(rows.map((row) => [row, [] as Numbers[]]));
    for (const row of rows) await this.#order(row, { scenario, times: pick(warmUp) });
    for (let round = 0; round < pick(rounds); round++)
      for (let i = 0; i < rows.length; i++) {
        const row = rows[(round + i) % rows.length]!;
        found.get(row)!.push(await this.#order(row, { scenario, times: 1 }));
      }
    return new Map([...found].map(([row, numbers]) => [row, quartiles(numbers)]));
  }

  #order(row: RowName, order: Order): Promise<Numbers> {
    const worker = this.#workers.get(row)!;
    const about = (what: string) => new Error(`${row}, ${order.scenario}: ${what}`);
    return new Promise((resolve, reject) => {
      const gone = (code: number | null) => reject(about(`its process ended with ${code}`));
      worker.once("exit", gone);
      worker.once("message", (report: Report) => {
        worker.off("exit", gone);
        if ("error" in report) reject(about(report.error));
        else resolve(report.numbers);
      });
      worker.send(order);
    });
  }

  /** Ends every worker. */
  close(): void {
    for (const worker of this.#workers.values()) if (worker.connected) worker.disconnect();
  }
}

function quartiles(rounds: readonly Numbers[]): Numbers {
  const names = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, quartile(rounds.map((numbers) => numbers[name]!))]));
}

/** `npm run bench`: what a loop costs when model and tools cost nothing. */
import { parseArgs } from "node:util";
import { measure } from "./measure.ts";
import { json, report } from "./report.ts";
import { ROW_NAMES, type RowName } from "./rows/row.ts";

const HELP = `npm run bench -- [options]

Runs the same scripted conversation, with a model and a tool that need no time, through four loops:
hand-written, bare-xstate, rcra (memory store) and rcra-jsonl (journal on disk).

  --quick          fewer rounds: about a quarter of the time, noisier
  --json           one JSON object on stdout, {"rows": [{"name", …}]}, and nothing else there
  --against ROW    the row that ratios are made with (default: bare-xstate)
  --help           this text

Columns: µs per turn (200 turns of one tool call) · growth, turn 1,000 against turn 100 · ms for a turn of 50
parallel tools and its answer · µs per delta of 10,000, all of them read · KB of heap per idle session, of 1,000 ·
ms for a snapshot of 1,000 turns as JSON · ms to import, in a fresh process.

Exit codes: 0 measured, whether or not budgets are met · 1 a row failed · 2 usage`;

type Options = { quick: boolean; json: boolean; help: boolean; against: RowName };

/** @throws Error with a sentence for whoever typed it */
function optionsOf(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
      against: { type: "string", default: "bare-xstate" },
    },
  });
  const against = ROW_NAMES.find((name) => name === values.against);
  if (!against)
    throw new Error(`--against ${values.against}: there is no such row; the rows are ${ROW_NAMES.join(", ")}`);
  return { ...values, against };
}

async function main(args: string[]): Promise<number> {
  let options: Options;
  try {
    options = optionsOf(args);
  } catch (error) {
    console.error(`bench: ${error instanceof Error ? error.message : String(error)}\nTry --help.`);
    return 2;
  }
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  try {
    const results = await measure(options.quick, (what) => console.error(`measuring ${what} …`));
    console.log(options.json ? json(results) : report(results, options.against));
    return 0;
  } catch (error) {
    console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

process.exitCode = await main(process.argv.slice(2));

/** Follows a run to its end: shows it, obeys Ctrl-C, and says how to go on. */
import { explain, type Run, type RunResult } from "../session/run.ts";
import type { Session } from "../session/session.ts";
import { exitCodeOf } from "./exit-codes.ts";
import { Renderer, usageLine } from "./render.ts";
import { oneLine, styleFor } from "./terminal.ts";

export type FollowOptions = { json?: boolean; partials?: boolean; quiet?: boolean; color?: boolean; store?: string };

/** Resolves with the exit code. `from` is the first record that `--json` prints. */
export async function follow(session: Session, run: Run, from: number, options: FollowOptions): Promise<number> {
  const release = obeySignals(run);
  try {
    if (options.json) await printRecords(session, run, from, options.partials === true);
    else if (!options.quiet) await render(run, options);
    const result = await run.result;
    if (options.quiet && !options.json) process.stdout.write(`${result.text}\n`);
    sayHowToGoOn(session.id, result, options);
    return exitCodeOf(result);
  } finally {
    release();
  }
}

/** The first signal cancels, the second leaves at once. */
function obeySignals(run: Run): () => void {
  let asked = false;
  const stop = () => {
    if (asked) process.exit(130);
    asked = true;
    process.stderr.write("\nrcra: cancelling; once more to leave at once\n");
    run.cancel("interrupted from the terminal");
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return () => {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
  };
}

async function render(run: Run, options: FollowOptions): Promise<void> {
  const renderer = new Renderer(process.stdout, styleFor(process.stdout, options.color));
  for await (const event of run) renderer.show(event);
  const result = await run.result;
  renderer.line(styleFor(process.stdout, options.color).dim(`· ${usageLine(result.usage)}, ${result.turns} turn(s)`));
}

/** One record a line, densely numbered, and nothing else. */
async function printRecords(session: Session, run: Run, from: number, partials: boolean): Promise<void> {
  const over = new AbortController();
  const events = session.events({ from, partials, signal: over.signal });
  const refused = run.result.catch(() => over.abort());
  for await (const event of events) {
    process.stdout.write(`${JSON.stringify(event)}\n`);
    if ((event.type === "run.ended" || event.type === "run.suspended") && event.runId === run.id) break;
  }
  await refused;
}

function sayHowToGoOn(id: string, result: RunResult, options: FollowOptions): void {
  const say = (line: string) => process.stderr.write(`rcra: ${line}\n`);
  const store = options.store === undefined ? "" : ` --store ${options.store}`;
  if (result.status !== "completed") say(explain(result));
  if (result.status === "suspended")
    for (const p of result.pending ?? []) {
      say(`  ${p.name} ${oneLine(JSON.stringify(p.args), 120)}`);
      say(`    rcra decide ${id} ${p.callId} --allow${store}    (or --deny)`);
    }
  else if (result.status !== "completed" && result.status !== "blocked")
    say(`go on with: rcra run --resume ${id}${store}`);
  if (result.undelivered.length)
    say(`${result.undelivered.length} input(s) wait for the next run; do not send them again.`);
}

/** Follows a run to its end: shows it, obeys Ctrl-C, and says how to go on. */
import type { SessionEvent } from "../core/event.ts";
import { plural } from "../core/plural.ts";
import type { Run, RunResult } from "../session/run.ts";
import type { Session } from "../session/session.ts";
import type { Store } from "../ports.ts";
import { bottomLine } from "./bottom-line.ts";
import { EXIT, exitCodeOf } from "./exit-codes.ts";
import { GoingOn, type Repeated } from "./going-on.ts";
import { outputClosed, print } from "./output.ts";
import { endingLine, Renderer } from "./render.ts";
import { say } from "./say.ts";
import { StatusLine } from "./status-line.ts";
import { styleFor } from "./terminal.ts";

export type ShowFlags = { json?: boolean; partials?: boolean; quiet?: boolean; color?: boolean; outputSchema?: string };
export type Followed = {
  session: Session;
  run: Run;
  store: Store;
  /** `seq` of the first record that `--json` prints. */
  from: number;
  /** Calls that ask are decided by others, while the run stays open here. */
  waits: boolean;
  repeated: Repeated;
};

/** Resolves with the exit code. @throws AgentError when the run could not begin */
export async function follow(followed: Followed, flags: ShowFlags): Promise<number> {
  const { session, run, store, waits } = followed;
  const advice = new GoingOn(session.id, followed.repeated);
  const release = obeySignals(run);
  const status = statusLine(session, flags);
  let head = 0;
  const see = (event: SessionEvent) => {
    if ("seq" in event) head = event.seq;
    advice.see(event);
    if (waits && event.type === "approval.requested") {
      say(`waiting here for ${plural(event.requests.length, "decision")} from another terminal:`);
      advice.decide(event.requests);
    }
    status?.see(event);
  };
  try {
    if (flags.json) await printRecords(followed, flags.partials === true, see);
    else if (flags.quiet) for await (const event of run) see(event);
    else await render(run, flags, see, advice);
    const result = await run.result;
    status?.end();
    if (flags.quiet) printAnswer(result);
    else if (flags.json && (flags.outputSchema !== undefined || result.object !== undefined)) printResult(result);
    advice.end(result);
    return (await isWritten(store, session.id, head)) ? exitCodeOf(result) : EXIT.failed;
  } finally {
    status?.end();
    release();
  }
}

/** Only for somebody who looks at a terminal that can draw in place. */
function statusLine(session: Session, { quiet, color }: ShowFlags): StatusLine | undefined {
  if (quiet || !process.stderr.isTTY || process.env["TERM"] === "dumb") return undefined;
  return new StatusLine(bottomLine, session, styleFor(process.stderr, color).dim);
}

/** The answer alone. An object is laid out where a person looks at it, and one line for programs. */
function printAnswer({ text, object }: RunResult): void {
  if (object !== undefined) print(`${JSON.stringify(object, null, process.stdout.isTTY ? 2 : 0)}\n`);
  else if (text !== "") print(`${text}\n`);
}

/** What a run with an output schema came to: the last line of `--json`, which is no record and has no seq. */
function printResult({ runId, status, object }: RunResult): void {
  print(`${JSON.stringify({ type: "result", runId, status, object })}\n`);
}

/** Ctrl-C, a supervisor that wants the process gone, and a terminal that closes. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The first signal, or an output that nobody reads any more, cancels; the second signal leaves at once. */
function obeySignals(run: Run): () => void {
  let asked = false;
  const stop = () => {
    if (asked) process.exit(EXIT.cancelled);
    asked = true;
    bottomLine.clear();
    process.stderr.write("\n");
    say("cancelling; once more to leave at once");
    run.cancel("interrupted from the terminal");
  };
  const unread = () => run.cancel("nobody reads the output");
  for (const signal of SIGNALS) process.on(signal, stop);
  outputClosed.addEventListener("abort", unread);
  return () => {
    for (const signal of SIGNALS) process.off(signal, stop);
    outputClosed.removeEventListener("abort", unread);
  };
}

type See = (event: SessionEvent) => void;

async function render(run: Run, { color }: ShowFlags, see: See, advice: GoingOn): Promise<void> {
  const style = styleFor(process.stdout, color);
  const renderer = new Renderer({ write: print }, style);
  for await (const event of run) {
    renderer.show(event);
    see(event);
  }
  const result: RunResult = await run.result;
  renderer.line(endingLine(result, style));
  if (result.status === "completed") renderer.line(style.dim(`· go on with: ${advice.resume} "…"`));
}

/** One record a line, densely numbered, and nothing else but the partials that were asked for. */
async function printRecords(followed: Followed, partials: boolean, see: See): Promise<void> {
  for await (const event of partials ? withPartials(followed) : recordsOf(followed)) {
    print(`${JSON.stringify(event)}\n`);
    see(event);
  }
}

/** The records from the first new one to the end of the run. */
async function* recordsOf({ session, run, from }: Followed): AsyncGenerator<SessionEvent, void, void> {
  const over = new AbortController();
  run.result.catch(() => over.abort());
  for await (const event of session.events({ from, signal: over.signal })) {
    yield event;
    if ((event.type === "run.ended" || event.type === "run.suspended") && event.runId === run.id) return;
  }
}

/** The run's own events miss no partial; records from before it began are read back. */
async function* withPartials({ session, run, store, from }: Followed): AsyncGenerator<SessionEvent, void, void> {
  let next = from;
  for await (const event of run) {
    if ("seq" in event) {
      if (event.seq > next)
        for await (const chunk of store.read(session.id, { after: next - 1 }))
          yield* chunk.filter((record) => record.seq < event.seq);
      next = event.seq + 1;
    }
    yield event;
  }
}

/** A store that fails at the very end has no run left to fail: here is where it is noticed. */
async function isWritten(store: Store, id: string, head: number): Promise<boolean> {
  const written = (await store.info(id))?.head ?? 0;
  if (written >= head) return true;
  say(
    `the journal lacks the last ${plural(head - written, "record")}, which could not be written; going on begins where it ` +
      "ends. First make room for the store, or see that it can be written.",
  );
  return false;
}

/** `rcra show`: what was said and done in a session, and how its runs ended. */
import type { JournalRecord } from "../core/event.ts";
import { textOf, type Message } from "../core/message.ts";
import { plural } from "../core/plural.ts";
import { asked, requestOf } from "../core/batch.ts";
import type { Draft } from "../core/draft.ts";
import { SessionFold } from "../session/fold.ts";
import type { Store } from "../ports.ts";
import { EXIT } from "./exit-codes.ts";
import { GoingOn, type Repeated } from "./going-on.ts";
import { print } from "./output.ts";
import { reportProblem } from "./problem.ts";
import { resultLine, usageLine } from "./render.ts";
import { oneLine, printable, styleFor, type Style } from "./terminal.ts";
import { findSession, openStore, type StoreFlags } from "./workbench.ts";

type Read = { records: JournalRecord[]; problem?: unknown };

/** Shows one session. What stands before a broken line is shown, too; the exit code is 1 then. */
export async function showCommand(
  id: string,
  flags: StoreFlags & { json?: boolean; color?: boolean },
  repeated: Repeated,
): Promise<number> {
  const store = openStore(flags);
  const info = await findSession(store, id);
  const { records, problem } = await readAll(store, info.id);
  if (flags.json) for (const record of records) print(`${JSON.stringify(record)}\n`);
  else {
    const style = styleFor(process.stdout, flags.color);
    print(`${style.bold(info.id)} ${style.dim(`· ${info.status} · ${plural(records.length, "record")}`)}\n`);
    if (records.length) tell(records, info.status === "running", style, new GoingOn(info.id, repeated));
  }
  return problem === undefined ? EXIT.completed : reportProblem(problem);
}

async function readAll(store: Store, id: string): Promise<Read> {
  const records: JournalRecord[] = [];
  try {
    for await (const chunk of store.read(id)) records.push(...chunk);
    return { records };
  } catch (problem) {
    return { records, problem };
  }
}

function tell(records: readonly JournalRecord[], running: boolean, style: Style, advice: GoingOn): void {
  const { dim, yellow } = style;
  const say = (line: string) => print(`${line}\n`);
  const fold = new SessionFold();
  for (const record of records) fold.append(record);
  const { workspace } = fold.ledger.opened ?? {};
  if (workspace !== undefined) say(dim(workspace));
  for (const message of fold.transcript.messages()) for (const line of linesOf(message, style)) say(line);
  for (const line of openLines(fold.context.draft, records, style)) say(line);
  say("");
  const pending = asked(fold.context.draft?.calls ?? []).map(requestOf);
  for (const { name, args, callId } of pending)
    say(yellow(`needs approval: ${callId} ${printable(name)} ${oneLine(JSON.stringify(args), 120)}`));
  for (const record of records) if (record.type === "run.ended") say(dim(`· ${endOf(record)}`));
  if (fold.context.run && running) say(yellow("· a process is running it"));
  else if (fold.context.run && !pending.length) say(yellow(`· a run is open: ${advice.resume}`));
  say(dim(`· ${usageLine(fold.ledger.usage.total)}`));
  fold.stop();
  if (pending.length) advice.decide(pending);
}

function linesOf(message: Message, style: Style): string[] {
  const { bold, cyan, dim } = style;
  switch (message.role) {
    case "user":
      return [`\n${bold(message.kind === "prompt" ? "user" : message.kind)}  ${printable(textOf(message.parts))}`];
    case "assistant":
      return message.parts.flatMap((part) => {
        if (part.type === "text") return part.text === "" ? [] : [`\n${bold("assistant")}  ${printable(part.text)}`];
        if (part.type === "thinking")
          return part.text === "" ? [] : [`\n${dim(`thinking  ${oneLine(part.text, 200)}`)}`];
        return [`${cyan(`→ ${printable(part.name)}`)} ${dim(oneLine(part.raw ?? JSON.stringify(part.args), 140))}`];
      });
    case "tool":
      return message.parts.map((part) => resultLine(part.name, part.status, textOf(part.output), style));
    default:
      return message satisfies never;
  }
}

/** The turn that is not committed yet: what the model said, the calls that have settled, and those that run. */
function* openLines(draft: Draft | null | undefined, records: readonly JournalRecord[], style: Style) {
  if (!draft) return;
  const bySeq = (seq: number) => records.find((r) => r.seq === seq);
  const answer = bySeq(draft.answer);
  if (answer?.type === "model.completed") yield* linesOf(answer.message, style);
  for (const { name, stage, result } of draft.calls) {
    const settled = result && bySeq(result.seq);
    const output = settled?.type === "tool.settled" ? textOf(settled.output) : (result?.text ?? "");
    if (result) yield resultLine(name, result.status, output, style);
    else if (stage === "running") yield style.yellow(`… ${printable(name)} was started and has not settled`);
  }
}

const endOf = (run: Extract<JournalRecord, { type: "run.ended" }>): string => {
  const why = run.error ? `: ${oneLine(run.error.message, 200)}` : run.reason ? `: ${oneLine(run.reason, 200)}` : "";
  return `${run.runId} ${run.status} after ${plural(run.turns, "turn")}${why}`;
};

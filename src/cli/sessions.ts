/** `rcra sessions` and `rcra show`: what is in the store. */
import { textOf } from "../core/message.ts";
import { usageLine } from "./render.ts";
import { oneLine, printable, styleFor } from "./terminal.ts";
import { openWorkbench, type CommonOptions } from "./workbench.ts";

export async function sessionsCommand(
  flags: CommonOptions & { json?: boolean; limit?: number; color?: boolean },
): Promise<number> {
  const bench = await openWorkbench(flags, {}, false);
  const sessions = await bench.agent.listSessions({ limit: flags.limit ?? 50 });
  if (flags.json) {
    for (const s of sessions) process.stdout.write(`${JSON.stringify(s)}\n`);
    return 0;
  }
  const { dim, bold } = styleFor(process.stdout, flags.color);
  if (!sessions.length) process.stdout.write(`No sessions in ${flags.store}.\n`);
  for (const s of sessions) {
    const when = new Date(s.updatedAt).toISOString().replace("T", " ").slice(0, 16);
    process.stdout.write(
      `${bold(s.id)}  ${dim(when)}  ${s.status.padEnd(11)} ${s.title ? oneLine(s.title, 50) : dim(`${s.head} records`)}\n`,
    );
  }
  return 0;
}

export async function showCommand(
  id: string,
  flags: CommonOptions & { json?: boolean; color?: boolean },
): Promise<number> {
  const bench = await openWorkbench(flags, {}, false);
  const { id: whole } = await bench.find(id);
  const { records, messages, pending, usage, info } = await bench.agent.read(whole);
  if (flags.json) {
    for (const record of records) process.stdout.write(`${JSON.stringify(record)}\n`);
    return 0;
  }
  const { dim, bold, cyan, yellow } = styleFor(process.stdout, flags.color);
  const say = (line: string) => process.stdout.write(`${line}\n`);
  say(`${bold(whole)} ${dim(`${info?.status ?? ""} · ${records.length} records`)}`);
  for (const m of messages) {
    if (m.role === "user") say(`\n${bold(m.kind === "prompt" ? "user" : m.kind)}  ${printable(textOf(m.parts))}`);
    if (m.role === "assistant")
      for (const p of m.parts) {
        if (p.type === "text") say(`\n${bold("assistant")}  ${printable(p.text)}`);
        if (p.type === "tool-call") say(cyan(`→ ${p.name} ${oneLine(p.raw ?? JSON.stringify(p.args), 140)}`));
      }
    if (m.role === "tool")
      for (const r of m.parts) say(dim(`← ${r.name} ${r.status}: ${oneLine(textOf(r.output), 120)}`));
  }
  for (const p of pending)
    say(yellow(`\nneeds approval: ${p.name} ${oneLine(JSON.stringify(p.args), 120)}  (${p.callId})`));
  const ends = records.flatMap((r) =>
    r.type === "run.ended" ? [`${r.runId} ${r.status}${r.error ? `: ${r.error.message}` : ""}`] : [],
  );
  say(dim(`\n${ends.join("\n")}\n${usageLine(usage.total)}`));
  return 0;
}

/** `rcra run`: one run of a new or resumed session. */
import type { RunOptions } from "../session/options.ts";
import type { SessionInfo, Store } from "../ports.ts";
import { approvalOptions, type ApprovalFlags } from "./approvals.ts";
import { follow, type ShowFlags } from "./follow.ts";
import type { Repeated } from "./going-on.ts";
import { print } from "./output.ts";
import { Problem } from "./problem.ts";
import { say } from "./say.ts";
import { styleFor } from "./terminal.ts";
import {
  checkWorkspace,
  findSession,
  openStore,
  openWorkbench,
  workspaceOf,
  type AgentFlags,
  type StoreFlags,
} from "./workbench.ts";

export type RunFlags = AgentFlags & StoreFlags & ApprovalFlags & ShowFlags;
type OwnFlags = { resume?: string; maxTurns?: number; workspace?: string };

/** Resolves with the exit code. @throws Problem for what is wrong with the command line */
export async function runCommand(
  words: readonly string[],
  flags: RunFlags & OwnFlags,
  repeated: Repeated,
): Promise<number> {
  const prompt = words.length ? words.join(" ") : await promptFromInput(flags);
  if (prompt === undefined && flags.resume === undefined)
    throw new Problem('What should it do? rcra run "…", or pipe the prompt in; --resume ID goes on with a session.');
  const approvals = approvalOptions(flags);
  const store = openStore(flags);
  const known = flags.resume === undefined ? undefined : await findSession(store, flags.resume);
  const workspace = known ? await keptWorkspace(store, known, flags) : checkWorkspace(flags.workspace ?? ".");
  const bench = await openWorkbench(flags, store, approvals);
  try {
    const session = known ? await bench.agent.resumeSession(known.id) : await bench.agent.createSession({ workspace });
    if (!flags.json && !flags.quiet) {
      const { dim, bold } = styleFor(process.stdout, flags.color);
      print(`${dim("session")} ${bold(session.id)} ${dim(`· ${bench.modelName} · ${workspace ?? "no workspace"}`)}\n`);
    }
    const options: RunOptions = flags.maxTurns === undefined ? {} : { maxTurns: flags.maxTurns };
    const run = prompt === undefined ? session.continue(options) : session.run(prompt, options);
    const waits = approvals.approvals === "wait";
    return await follow({ session, run, store, from: (known?.head ?? 0) + 1, waits, repeated }, flags);
  } finally {
    await bench.close();
  }
}

/** A session keeps what it was made with: other wishes are heard, but not followed. */
async function keptWorkspace(store: Store, { id }: SessionInfo, flags: OwnFlags & AgentFlags) {
  const workspace = await workspaceOf(store, id);
  if (flags.workspace !== undefined && checkWorkspace(flags.workspace) !== workspace)
    say(`--workspace is not used: ${id} works in ${workspace ?? "no folder"}.`);
  if (flags.instructions !== undefined) say(`--instructions is not used: ${id} keeps those that it began with.`);
  return workspace;
}

async function promptFromInput(flags: OwnFlags): Promise<string | undefined> {
  if (process.stdin.isTTY || flags.resume !== undefined) return undefined;
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8").trim() || undefined;
}

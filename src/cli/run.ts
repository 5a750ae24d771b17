/** `rcra run`: one run of a new or resumed session. */
import type { RunOptions } from "../session/options.ts";
import { askOnTerminal } from "./approval-prompt.ts";
import { follow, type FollowOptions } from "./follow.ts";
import { Problem } from "./problem.ts";
import { styleFor } from "./terminal.ts";
import { checkWorkspace, openWorkbench, type CommonOptions } from "./workbench.ts";

export type ApprovalFlags = { yes?: boolean; deny?: boolean; approvals?: "deny" | "wait" | "suspend" };
export type RunFlags = CommonOptions &
  ApprovalFlags &
  FollowOptions & { resume?: string; maxTurns?: number; workspace?: string; storeGiven?: boolean };

/** Resolves with the exit code. @throws Problem for what is wrong with the command line */
export async function runCommand(words: readonly string[], flags: RunFlags): Promise<number> {
  const prompt = words.length ? words.join(" ") : await promptFromInput(flags);
  if (prompt === undefined && flags.resume === undefined)
    throw new Problem('What should it do? Say it: rcra run "…", or pipe it in; --resume ID goes on with a session.');
  const workspace = checkWorkspace(flags.workspace ?? ".");
  const bench = await openWorkbench(flags, approvalOptions(flags));
  try {
    const known = flags.resume === undefined ? undefined : await bench.find(flags.resume);
    const session = known ? await bench.agent.resumeSession(known.id) : await bench.agent.createSession({ workspace });
    if (!flags.json && !flags.quiet) {
      const { dim, bold } = styleFor(process.stdout, flags.color);
      process.stdout.write(`${dim("session")} ${bold(session.id)} ${dim(`· ${bench.modelName}`)}\n`);
    }
    const options: RunOptions = flags.maxTurns === undefined ? {} : { maxTurns: flags.maxTurns };
    const run = prompt === undefined ? session.continue(options) : session.run(prompt, options);
    return await follow(session, run, (known?.head ?? 0) + 1, storeOf(flags));
  } finally {
    await bench.close();
  }
}

/** Who approves, as the flags and the terminal say. */
export function approvalOptions(flags: ApprovalFlags): RunOptions {
  if (flags.yes && flags.deny) throw new Problem("--yes and --deny contradict each other.");
  const approvals = flags.approvals === undefined ? {} : { approvals: flags.approvals };
  if (flags.yes) return { approve: "allow" };
  if (flags.deny) return { approve: "deny" };
  const { stdin, stderr } = process;
  if (flags.approvals === undefined && stdin.isTTY && stderr.isTTY)
    return { approve: askOnTerminal({ input: stdin, output: stderr }) };
  return approvals;
}

/** Only a store that was named is repeated in what is suggested. */
export const storeOf = <T extends { store?: string; storeGiven?: boolean }>(flags: T): T => {
  const { store: _, ...rest } = flags;
  return flags.storeGiven ? flags : (rest as T);
};

async function promptFromInput(flags: RunFlags): Promise<string | undefined> {
  if (process.stdin.isTTY || flags.resume !== undefined) return undefined;
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8").trim() || undefined;
}

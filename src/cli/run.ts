/** `rcra run`: one run of a new or resumed session. */
import type { RunOptions } from "../session/options.ts";
import type { ModelSettings, SessionInfo, Store } from "../ports.ts";
import { approvalOptions, type ApprovalFlags } from "./approvals.ts";
import type { AttachmentFlags } from "./attachments.ts";
import { follow, type ShowFlags } from "./follow.ts";
import type { Repeated } from "./going-on.ts";
import { print } from "./output.ts";
import { readOutputSchema } from "./output-schema.ts";
import { promptOf } from "./prompt.ts";
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
type OwnFlags = AttachmentFlags & {
  resume?: string;
  maxTurns?: number;
  workspace?: string;
  thinking?: string;
  maxOutputTokens?: number;
  temperature?: number;
};

/** Resolves with the exit code. @throws Problem for what is wrong with the command line */
export async function runCommand(
  words: readonly string[],
  flags: RunFlags & OwnFlags,
  repeated: Repeated,
): Promise<number> {
  const approvals = approvalOptions(flags);
  const options = runOptions(flags);
  const store = openStore(flags);
  const known = flags.resume === undefined ? undefined : await findSession(store, flags.resume);
  const workspace = known ? await keptWorkspace(store, known, flags) : checkWorkspace(flags.workspace ?? ".");
  // Last, for this may wait for somebody.
  const prompt = await promptOf(words, flags);
  const bench = await openWorkbench(flags, store, approvals);
  try {
    const session = known ? await bench.agent.resumeSession(known.id) : await bench.agent.createSession({ workspace });
    if (!flags.json && !flags.quiet) {
      const { dim, bold } = styleFor(process.stdout, flags.color);
      print(`${dim("session")} ${bold(session.id)} ${dim(`· ${bench.modelName} · ${workspace ?? "no workspace"}`)}\n`);
    }
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

/** The options of this run that flags name. @throws Problem for an output schema that cannot be used */
function runOptions({
  maxTurns,
  outputSchema,
  thinking,
  maxOutputTokens,
  temperature,
}: OwnFlags & ShowFlags): RunOptions {
  const settings: ModelSettings = {};
  if (maxOutputTokens !== undefined) settings.maxOutputTokens = maxOutputTokens;
  if (temperature !== undefined) settings.temperature = temperature;
  const options: RunOptions = {};
  if (maxTurns !== undefined) options.maxTurns = maxTurns;
  if (outputSchema !== undefined) options.output = readOutputSchema(outputSchema);
  if (thinking !== undefined) options.thinkingLevel = thinking;
  if (Object.keys(settings).length) options.settings = settings;
  return options;
}

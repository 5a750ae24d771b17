/** `rcra decide`: answers approvals of a suspended session, and goes on with it here. */
import type { Decision } from "../core/call.ts";
import type { Json } from "../core/message.ts";
import { EXIT } from "./exit-codes.ts";
import { follow } from "./follow.ts";
import { Problem } from "./problem.ts";
import { approvalOptions, storeOf, type RunFlags } from "./run.ts";
import { openWorkbench } from "./workbench.ts";

export type DecideFlags = RunFlags & { allow?: boolean; reason?: string; respond?: string; args?: string };

/** Resolves with the exit code: of the run when it goes on, else 5 while calls are pending. */
export async function decideCommand(id: string, calls: readonly string[], flags: DecideFlags): Promise<number> {
  const decisions = calls.map((callId) => decisionOf(callId, flags));
  const further = approvalOptions({ approvals: flags.approvals ?? "suspend", ...(flags.yes ? { yes: true } : {}) });
  const bench = await openWorkbench(flags, further);
  try {
    const known = await bench.find(id);
    const session = await bench.agent.resumeSession(known.id);
    const result = await session.decide(decisions);
    const pending = session.pending().map((p) => `${p.name} (${p.callId})`);
    if (result.unknown.length)
      throw new Problem(
        `Not a call of this session: ${result.unknown.join(", ")}. Pending: ${pending.join(", ") || "none"}.`,
      );
    for (const callId of result.alreadyDecided)
      process.stderr.write(`rcra: ${callId} was decided before; nothing changed.\n`);
    if (pending.length) {
      process.stderr.write(`rcra: still pending: ${pending.join(", ")}\n`);
      return EXIT.suspended;
    }
    if (!result.accepted.length) return EXIT.completed;
    return await follow(session, session.continue(), known.head + 1, storeOf(flags));
  } finally {
    await bench.close();
  }
}

function decisionOf(callId: string, flags: DecideFlags): Decision {
  const chosen = [flags.allow, flags.deny, flags.respond !== undefined].filter(Boolean).length;
  if (chosen !== 1) throw new Problem("Say one of --allow, --deny or --respond TEXT.");
  const reason = flags.reason === undefined ? {} : { reason: flags.reason };
  if (flags.respond !== undefined) return { callId, decision: "respond", text: flags.respond, ...reason };
  if (flags.deny) return { callId, decision: "deny", ...reason };
  return { callId, decision: "allow", ...reason, ...(flags.args === undefined ? {} : { args: parseArgs(flags.args) }) };
}

function parseArgs(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new Problem('--args wants JSON, such as --args \'{"path":"notes.md"}\'.');
  }
}

/** `rcra decide`: answers approvals of a session, and goes on with a suspended one here. */
import type { Agent } from "../session/agent.ts";
import type { Decision } from "../core/call.ts";
import { AgentError } from "../core/errors.ts";
import type { Json } from "../core/message.ts";
import { plural, verb } from "../core/plural.ts";
import type { DecideResult, Session } from "../session/session.ts";
import type { SessionInfo, Store } from "../ports.ts";
import { approvalOptions } from "./approvals.ts";
import { EXIT } from "./exit-codes.ts";
import { follow } from "./follow.ts";
import { GoingOn, type Repeated } from "./going-on.ts";
import { print } from "./output.ts";
import { Problem } from "./problem.ts";
import type { RunFlags } from "./run.ts";
import { say } from "./say.ts";
import { findSession, openStore, openWorkbench, workspaceOf } from "./workbench.ts";

export type DecideFlags = RunFlags & { allow?: boolean; reason?: string; respond?: string; args?: string };

/**
 * Resolves with the exit code: of the run when it goes on here; 0 when somebody else goes on with it, or nothing was left
 * to decide; 5 while calls are pending.
 */
export async function decideCommand(
  id: string,
  calls: readonly string[],
  flags: DecideFlags,
  repeated: Repeated,
): Promise<number> {
  const decisions = decisionsOf(calls, flags);
  // `--deny` is about these calls, not about what asks later; that is parked again unless somebody is here to ask.
  const { deny: _, ...later } = flags;
  const further = { approvals: "suspend", ...approvalOptions(later) } as const;
  const store = openStore(flags);
  const known = await findSession(store, id);
  await workspaceOf(store, known.id);
  const bench = await openWorkbench(flags, store, further);
  try {
    const session = await bench.agent.resumeSession(known.id);
    await refuseUnknown(calls, session, bench.agent);
    const result = await session.decide(decisions);
    // Also when somebody else decided the last one, and could not go on before this process looked.
    if ((result.accepted.length || session.state === "suspended") && session.pending().length === 0) {
      const waits = further.approvals === "wait";
      const run = session.continue();
      const followed = { session, run, store, from: known.head + 1, waits, repeated };
      return await follow(followed, flags).catch(handedOver);
    }
    if (flags.json) await printNew(store, known);
    return report(result, session, repeated);
  } finally {
    await bench.close();
  }
}

/** Nothing is decided when one of the calls is not of this session: it would be a slip of the hand. */
async function refuseUnknown(calls: readonly string[], session: Session, agent: Agent): Promise<void> {
  const pending = session.pending();
  let unknown = calls.filter((call) => !pending.some((p) => p.callId === call));
  if (!unknown.length) return;
  const { records } = await agent.read(session.id);
  const reviewed = new Set(records.flatMap((r) => (r.type === "calls.reviewed" ? r.calls.map((c) => c.callId) : [])));
  unknown = unknown.filter((call) => !reviewed.has(call));
  if (!unknown.length) return;
  const open = pending.map((p) => `${p.callId} (${p.name})`).join(", ");
  throw new Problem(
    `${session.id} has no call ${unknown.join(", ")}. Waiting for a decision: ${open || "none"}.`,
    EXIT.failed,
  );
}

/** The decisions are in the journal: whoever holds the session now goes on with them. */
function handedOver(error: unknown): number {
  if (error instanceof AgentError && error.code === "busy") return sayHandedOver();
  throw error;
}

function sayHandedOver(): number {
  say("handed over to the process that runs this session.");
  return EXIT.completed;
}

/** Says what became of decisions after which the run does not go on here. */
function report({ accepted, alreadyDecided }: DecideResult, session: Session, repeated: Repeated): number {
  for (const callId of alreadyDecided) say(`${callId} was decided before; nothing changed.`);
  const pending = session.pending();
  const advice = new GoingOn(session.id, repeated);
  // A process that holds the session has the decision now; here it still looks open.
  if (pending.some((p) => accepted.includes(p.callId))) {
    return sayHandedOver();
  }
  if (pending.length) {
    say(`${plural(pending.length, "call")} still ${verb(pending.length, "waits", "wait")} for a decision:`);
    advice.decide(pending);
    return EXIT.suspended;
  }
  if (session.state === "suspended") say(`go on with: ${advice.resume}`);
  return EXIT.completed;
}

async function printNew(store: Store, known: SessionInfo): Promise<void> {
  for await (const chunk of store.read(known.id, { after: known.head }))
    for (const record of chunk) print(`${JSON.stringify(record)}\n`);
}

function decisionsOf(calls: readonly string[], flags: DecideFlags): Decision[] {
  const { allow, deny, respond, args, reason } = flags;
  const chosen = [allow, deny, respond !== undefined].filter(Boolean).length;
  if (chosen !== 1) throw new Problem("Say one of --allow, --deny or --respond TEXT.");
  if (args !== undefined && (!allow || calls.length > 1))
    throw new Problem("--args goes with --allow, for one call at a time.");
  const answer: Omit<Decision, "callId"> = { decision: allow ? "allow" : deny ? "deny" : "respond" };
  if (reason !== undefined) answer.reason = reason;
  if (respond !== undefined) answer.text = respond;
  if (args !== undefined) answer.args = parseArgs(args);
  return [...new Set(calls)].map((callId) => ({ callId, ...answer }));
}

function parseArgs(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new Problem('--args wants JSON, such as --args \'{"path":"notes.md"}\'.');
  }
}

/** Decisions from anywhere: by call id, some now and some later, in this process or another. */
import { asked } from "../core/batch.ts";
import { decision as decisionSchema, type Decision } from "../core/call.ts";
import { AgentError } from "../core/errors.ts";
import type { Json } from "../core/message.ts";
import { settleDecisions } from "../effects/ask-approval.ts";
import type { Engine } from "./engine.ts";

/** Call ids by what became of their decision. */
export type DecideResult = { accepted: string[]; unknown: string[]; alreadyDecided: string[] };

/** @throws AgentError `invalid_options` for what is not a list of decisions */
export function checkDecisions(decisions: unknown): Decision[] {
  const checked = decisionSchema.array().safeParse(decisions);
  if (checked.success) return checked.data;
  const issue = checked.error.issues[0];
  throw new AgentError(
    "invalid_options",
    `decide.${issue?.path.join(".") ?? ""}: ${issue?.message ?? "expected decisions"}`,
  );
}

/** Feeds decisions to the machine, which takes those that are still open. The caller holds the lease. */
export async function feedDecisions(engine: Engine, decisions: Decision[]): Promise<DecideResult> {
  const calls = engine.state.draft?.calls ?? [];
  const open = asked(calls);
  const result: DecideResult = { accepted: [], unknown: [], alreadyDecided: [] };
  for (const { callId } of decisions)
    if (open.some((call) => call.callId === callId)) result.accepted.push(callId);
    else if (calls.some((call) => call.callId === callId) || isCommitted(engine, callId))
      result.alreadyDecided.push(callId);
    else result.unknown.push(callId);
  const settled = await settleDecisions(engine, open, decisions, "user");
  if (settled.length) engine.send({ type: "approval.settled", decisions: settled });
  return result;
}

/** Leaves decisions for whoever holds the session elsewhere. */
export async function leaveDecisions(engine: Engine, decisions: Decision[]): Promise<DecideResult> {
  const key = `decide-${decisions.map((d) => `${d.callId}-${d.decision}`).join("-")}`;
  await engine.store.signal(engine.id, { key, type: "decide", payload: decisions as unknown as Json });
  return { accepted: decisions.map((d) => d.callId), unknown: [], alreadyDecided: [] };
}

const isCommitted = (engine: Engine, callId: string): boolean =>
  engine.transcript.entries.some((e) => e.kind === "exchange" && e.results?.parts.some((p) => p.callId === callId));

/** Asks for one batch of approvals, and turns answers into decisions the machine can act on. */
import type { Decision, SettledDecision } from "../core/call.ts";
import { decision as decisionSchema } from "../core/call.ts";
import { requestOf, type Call } from "../core/batch.ts";
import { effect, messageOf, type Job } from "./effect.ts";
import type { Approve, Host } from "./host.ts";
import { judgeEdited } from "./judge.ts";

/** How often a waiting run looks for decisions that others left in the store. */
const SIGNAL_POLL_MS = 500;

export const askApproval = effect<{ id: string; calls: readonly Call[] }>(
  async ({ calls }, job) => {
    const durable = job.host.journal.flush();
    if (durable !== true && !(await durable)) return;
    watchTime(calls, job);
    const { approve, unanswered } = job.host.run;
    if (approve === undefined && unanswered !== "deny") return listen(job);
    const answers = approve === undefined ? [] : await askHost(approve, calls, job);
    if (job.settled) return;
    const decisions = await settleDecisions(job.host, calls, answers, "approver");
    const left = calls.filter((call) => !decisions.some((d) => d.callId === call.callId));
    if (unanswered === "deny") decisions.push(...left.map((call) => denied(call, "No decision was made.")));
    job.report({ type: "approval.settled", decisions, answered: true });
    if (left.length && unanswered === "wait") listen(job);
  },
  (error, { calls }) => ({ type: "approval.settled", decisions: calls.map((call) => denied(call, messageOf(error))) }),
);

const denied = (call: Call, reason: string): SettledDecision => ({
  callId: call.callId,
  hash: call.hash,
  decision: "deny",
  by: "user",
  reason,
});

/** After `approvalMs` whatever is still undecided times out; decided calls do not care. */
function watchTime(calls: readonly Call[], job: Job): void {
  const { approvalMs } = job.host.limits;
  if (approvalMs <= 0) return;
  job.onLeave(
    job.host.clock.setTimer(approvalMs, () =>
      job.report({
        type: "approval.settled",
        decisions: calls.map((call) => ({ callId: call.callId, hash: call.hash, decision: "timeout", by: "approval" })),
      }),
    ),
  );
}

/** Nobody here answers: decisions come through `decide()`, or from another agent or process through the store. */
function listen(job: Job): void {
  const { clock } = job.host;
  let cancel = () => {};
  const again = () => {
    if (!job.settled) cancel = clock.setTimer(SIGNAL_POLL_MS, () => void job.host.takeSignals().finally(again));
  };
  job.onLeave(() => cancel());
  again();
}

/** The host's answer, whatever shape it has. A throw is a denial of all. */
async function askHost(approve: Approve, calls: readonly Call[], job: Job): Promise<Decision[]> {
  const all = (decision: "allow" | "deny", reason?: string): Decision[] =>
    calls.map((call) => ({ callId: call.callId, decision, ...(reason === undefined ? {} : { reason }) }));
  if (typeof approve === "string") return all(approve);
  try {
    const answer = await approve(calls.map(requestOf), { signal: job.signal });
    if (answer === "allow" || answer === "deny") return all(answer);
    return decisionSchema.array().parse(answer);
  } catch (error) {
    return all("deny", `The approver failed: ${messageOf(error)}`);
  }
}

/** Binds decisions to the calls they are about. Edited arguments are validated and reviewed first. */
export async function settleDecisions(
  host: Host,
  calls: readonly Call[],
  decisions: readonly Decision[],
  by: "approver" | "user",
): Promise<SettledDecision[]> {
  const settled: SettledDecision[] = [];
  for (const d of decisions) {
    const call = calls.find((c) => c.callId === d.callId);
    if (!call || settled.some((s) => s.callId === d.callId)) continue;
    const base: SettledDecision = { callId: d.callId, hash: call.hash, decision: d.decision, by };
    if (d.reason !== undefined) base.reason = d.reason;
    if (d.text !== undefined) base.text = d.text;
    if (d.remember !== undefined) base.remember = d.remember;
    settled.push(d.decision === "allow" && d.args !== undefined ? await withEdit(host, call, base, d.args) : base);
  }
  return settled;
}

async function withEdit(host: Host, call: Call, base: SettledDecision, args: unknown): Promise<SettledDecision> {
  const edited = await judgeEdited(host, call.callId, call.name, args as never, call.via);
  if (edited.verdict !== "deny") return { ...base, edited };
  return { ...base, decision: "deny", by: "policy", ...(edited.reason === undefined ? {} : { reason: edited.reason }) };
}

/** Adapts a per-call callback to a batch, one question after the other. */
export const oneByOne =
  (
    ask: (
      request: Parameters<Exclude<Approve, string>>[0][number],
      options: { signal: AbortSignal },
    ) => "allow" | "deny" | Omit<Decision, "callId"> | Promise<"allow" | "deny" | Omit<Decision, "callId">>,
  ): Approve =>
  async (requests, options) => {
    const decisions: Decision[] = [];
    for (const request of requests) {
      const answer = await ask(request, options);
      decisions.push({ callId: request.callId, ...(typeof answer === "string" ? { decision: answer } : answer) });
    }
    return decisions;
  };

/** The three ways to make the view smaller. Each asks the chain first and tells it afterwards. */
import type { InputOf } from "../core/event.ts";
import { planCut, planElision, SUMMARY_PROMPT, tokensAfter, type Cut } from "../core/compaction.ts";
import { readSummary } from "../core/marker.ts";
import { callsOf, text, type Message } from "../core/message.ts";
import type { Directive } from "../core/projection.ts";
import { addUsage, type Usage } from "../core/usage.ts";
import { effect, hookFailed, messageOf, type Job } from "./effect.ts";
import { readBlock } from "./hook-answers.ts";
import { sideRequest } from "./side-request.ts";

type Input = { id: string; level: number; window: number };
const failedWith = (message: string): InputOf<"compaction.failed"> => ({ type: "compaction.failed", message });
const failed = (error: unknown) => failedWith(messageOf(error));

export const elideResults = effect<{ id: string }>(async (_, job) => {
  const { entries, directives } = job.host.transcript;
  const retain = (name: string) => job.host.pinned.catalogue.get(name)?.retain === true;
  await compact(job, "elide", async () => ({ directive: planElision(entries, directives, retain) }));
}, failed);

export const discard = effect<Input>(async (input, job) => {
  await compact(job, "discard", async () => {
    const cut = planHere(job, input);
    return { directive: cut && { kind: "discard", ...cut } };
  });
}, failed);

export const summarize = effect<Input>(async (input, job) => {
  await compact(job, "summarize", async () => {
    const cut = planHere(job, input);
    if (!cut) return { directive: undefined };
    const { summary, usage } = await askForSummary(job);
    return { directive: { kind: "summarize", ...cut, text: summary }, usage };
  });
}, failed);

const planHere = (job: Job, { level, window }: Input): Cut | undefined => {
  const { entries, directives } = job.host.transcript;
  return planCut(entries, directives, window, level);
};

/** The frame of every compaction: durable before it begins, blockable by the chain, measured when it is done. */
async function compact(
  job: Job,
  kind: Directive["kind"],
  plan: () => Promise<{ directive: Directive | undefined; usage?: Usage | undefined }>,
): Promise<void> {
  const { host } = job;
  if (!(await host.journal.flush()) || job.settled) return;
  const before = { kind, tokens: 0 };
  for (const m of host.chain) {
    const answer = readBlock(await m.beforeCompact?.(before, host.hookContext(job.signal)));
    if (answer) return job.settle(failedWith(`${m.name} blocked it: ${answer.block}`));
  }
  const { directive, usage } = await plan();
  if (job.settled) return;
  const { entries, directives } = host.transcript;
  if (!directive && kind !== "elide") return job.settle(failedWith("There is nothing to compact."));
  const tokens = directive ? tokensAfter(entries, directives, directive) : 0;
  const event: InputOf<"compaction.completed"> = { type: "compaction.completed", tokens };
  if (directive) event.directive = directive;
  if (usage) event.usage = usage;
  job.settle(event);
  for (const m of host.chain)
    try {
      await m.afterCompact?.({ kind, tokens }, host.hookContext(job.signal));
    } catch (error) {
      hookFailed(host, m.name, "afterCompact", error);
    }
}

/** Asks until there is a usable text: a reply with tool calls, or with nothing in it, is asked for again. */
async function askForSummary(job: Job): Promise<{ summary: string; usage: Usage | undefined }> {
  const { host } = job;
  const prompt = host.compaction.prompt ?? SUMMARY_PROMPT;
  const ask = (words: string): Message => ({
    id: "summary-request",
    role: "user",
    kind: "prompt",
    parts: [text(words)],
  });
  let usage: Usage | undefined;
  let why = "";
  for (let attempt = 1; attempt <= host.limits.summaryAttempts && !job.settled; attempt++) {
    const reply = await sideRequest(host, {
      model: host.summaryModel,
      purpose: "summary",
      instructions: host.instructions,
      messages: [...host.transcript.view, ask(attempt === 1 ? prompt : `${prompt}\nAnswer with text only: ${why}`)],
      tools: host.pinned.catalogue.specs,
      signal: job.signal,
    });
    usage = reply.usage ? addUsage(usage ?? {}, reply.usage) : usage;
    const summary = readSummary(reply.text);
    if (!reply.failure && reply.finish === "stop" && callsOf(reply.parts).length === 0 && summary)
      return { summary, usage };
    why =
      reply.failure?.message ?? (reply.finish === "length" ? "the reply was cut." : "the last reply had no summary.");
  }
  throw new Error(`No usable summary after ${host.limits.summaryAttempts} attempts: ${why}`);
}

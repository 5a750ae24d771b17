/** The three ways to make the view smaller. Each asks the chain first and tells it afterwards. */
import { planCut, planElision, tokensAfter, type Material, type PlannedCut } from "../core/compaction.ts";
import type { InputOf } from "../core/event.ts";
import type { Room } from "../core/lap.ts";
import { isCut, type CutDirective, type Directive } from "../core/projection.ts";
import type { Usage } from "../core/usage.ts";
import { effect, hookFailed, messageOf, type Job } from "./effect.ts";
import { readBlock } from "./hook-answers.ts";
import type { Host } from "./host.ts";
import { readAgain } from "./reread.ts";
import { askForSummary, NoSummary } from "./summary.ts";

type Input = { id: string; room: Room };
/** Tokens of the message around working state and files. */
const FRAME = 20;

const failedWith = (message: string, usage?: Usage): InputOf<"compaction.failed"> =>
  usage ? { type: "compaction.failed", message, usage } : { type: "compaction.failed", message };
const failed = (error: unknown) => failedWith(messageOf(error), error instanceof NoSummary ? error.usage : undefined);

export const elideResults = effect<Input>(
  ({ room }, job) => compact(job, "elide", async () => ({ directive: planElision(materialOf(job.host), room) })),
  failed,
);

export const discard = effect<Input>(
  ({ room }, job) =>
    compact(job, "discard", async () => {
      const { directives } = job.host.transcript;
      // What an earlier summary told is not lost when there was only too much behind it.
      const text = room.many ? directives.findLast(isCut)?.text : undefined;
      const plan = planFull(job.host, room, "discard", text);
      if (!plan) return { directive: undefined };
      const directive: CutDirective = { kind: "discard", ...plan.cut };
      if (text !== undefined) directive.text = text;
      return { directive: await withContext(job, directive, plan) };
    }),
  failed,
);

export const summarize = effect<Input>(
  ({ room }, job) =>
    compact(job, "summarize", async () => {
      const plan = planFull(job.host, room, "summarize");
      if (!plan) return { directive: undefined };
      const { summary, usage } = await askForSummary(job, plan.summary);
      const directive: CutDirective = { kind: "summarize", ...plan.cut, text: summary };
      return { directive: job.settled ? undefined : await withContext(job, directive, plan), usage };
    }),
  failed,
);

function materialOf(host: Host): Material {
  const { entries, directives } = host.transcript;
  const retain = (name: string) => host.pinned.catalogue.get(name)?.retain === true;
  return { entries, directives, retain, count: host.count };
}

const planFull = (host: Host, room: Room, kind: CutDirective["kind"], text?: string): PlannedCut | undefined => {
  const beside = [host.transcript.work.render(), text ?? ""].filter(Boolean);
  const tokens = beside.reduce((sum, words) => sum + host.count(words) + FRAME, 0);
  return planCut(materialOf(host), room, kind, tokens);
};

/** The directive with what the model should not have to look for again. */
async function withContext(job: Job, directive: CutDirective, { spare }: PlannedCut): Promise<CutDirective> {
  const state = job.host.transcript.work.render();
  const files = await readAgain(job, directive, spare - FRAME);
  const whole = { ...directive };
  if (state !== "") whole.state = state;
  if (files.length) whole.files = files;
  return whole;
}

type Outcome = { directive: Directive | undefined; usage?: Usage | undefined };

/** The frame of every compaction: durable before it begins, blockable by the chain, measured when it is done. */
async function compact(job: Job, kind: Directive["kind"], plan: () => Promise<Outcome>): Promise<void> {
  const { host } = job;
  if (!(await host.journal.flush()) || job.settled) return;
  const { entries, directives } = host.transcript;
  const before = { kind, tokens: tokensAfter({ entries, directives, count: host.count }) };
  for (const m of host.chain) {
    const answer = readBlock(await m.beforeCompact?.(before, host.hookContext(job.signal)));
    if (answer) return job.settle(failedWith(`${m.name} blocked it: ${answer.block}`));
  }
  const { directive, usage } = await plan();
  if (job.settled) return;
  const tokens = directive ? tokensAfter({ entries, directives, count: host.count }, directive) : 0;
  const event: InputOf<"compaction.completed"> = { type: "compaction.completed", tokens };
  if (directive) event.directive = directive;
  if (usage) event.usage = usage;
  job.settle(event);
  if (!directive) return;
  for (const m of host.chain)
    try {
      await m.afterCompact?.({ kind, tokens }, host.hookContext(job.signal));
    } catch (error) {
      hookFailed(host, m.name, "afterCompact", error);
    }
}

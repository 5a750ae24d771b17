/** The small effects: preparing a request, reviewing inputs and endings, waiting. */
import type { InputOf } from "../core/event.ts";
import { text } from "../core/message.ts";
import { AgentError } from "../core/errors.ts";
import type { Catalogue } from "./catalogue.ts";
import { effect, isThenable, hookFailed, messageOf } from "./effect.ts";
import { readContribution, readFeedback, readInputOpinion } from "./hook-answers.ts";
import type { Host } from "./host.ts";
import { outputInstructions, readOutput, repairRequest } from "./structured.ts";

/** Pins the catalogue and collects what the chain contributes. A contribution that fails is left out. */
export const prepareRequest = effect<{ id: string }>(
  async (_, job) => {
    const { host } = job;
    const said: string[] = [];
    for (const m of host.chain) {
      if (!m.contribute) continue;
      try {
        const words = m.contribute(host.hookContext(job.signal));
        const contribution = readContribution(isThenable(words) ? await words : words);
        if (contribution) said.push(contribution);
      } catch (error) {
        hookFailed(host, m.name, "contribute", error);
      }
    }
    if (job.settled) return;
    const catalogue = catalogueNow(host);
    const contributions = said.join("\n\n");
    host.pinned = { catalogue, contributions };
    const fixed = [host.instructions, contributions, outputInstructions(host.run.output, host.run.model)];
    const tokens = fixed.reduce((sum, words) => sum + host.count(words), catalogue.tokens);
    const stable = !host.chain.some((m) => m.contribute || typeof m.tools === "function");
    job.settle({ type: "request.prepared", catalogue: catalogue.hash, tools: catalogue.names, tokens, stable });
  },
  () => ({ type: "request.prepared", catalogue: "", tools: [], tokens: 0 }),
);

/** A provider that fails costs its news: the tools of before are kept. */
function catalogueNow(host: Host): Catalogue {
  try {
    return host.catalogue();
  } catch (error) {
    const middleware = error instanceof AgentError ? (error.details as { middleware?: string })?.middleware : undefined;
    hookFailed(host, middleware ?? "unknown", "tools", error);
    return host.pinned.catalogue;
  }
}

/** `onInput` of the whole chain, for each new prompt. A rewrite is what the next one sees; a throw refuses. */
export const reviewInputs = effect<{ id: string; ids: readonly string[] }>(
  async ({ ids }, job) => {
    const verdicts: InputOf<"inputs.reviewed">["verdicts"] = [];
    for (const id of ids) {
      const original = job.host.transcript.waiting(id) ?? [];
      let parts = original;
      const info: string[] = [];
      let refused: string | undefined;
      for (const m of job.host.chain) {
        if (!m.onInput || refused !== undefined) continue;
        try {
          const said = readInputOpinion(await m.onInput({ id, parts }, job.host.hookContext(job.signal)));
          if (said && "refuse" in said) refused = said.refuse;
          else if (said) {
            parts = said.parts ?? parts;
            info.push(...(said.info ?? []));
          }
        } catch (error) {
          refused = `The input review of ${m.name} failed: ${messageOf(error)}`;
        }
      }
      const verdict: (typeof verdicts)[number] = { id };
      if (refused !== undefined) verdict.refused = refused;
      if (parts !== original) verdict.parts = job.host.media.keep([...parts]);
      if (info.length) verdict.info = info;
      verdicts.push(verdict);
    }
    job.settle({ type: "inputs.reviewed", verdicts });
  },
  (error, { ids }) => ({
    type: "inputs.reviewed",
    verdicts: ids.map((id) => ({ id, refused: messageOf(error) })),
  }),
);

/** The final answer is held against the run's output schema; then `onStop` of the whole chain looks at it. */
export const reviewStop = effect<{ id: string; mayRepair: boolean; maySendOn: boolean }>(
  async ({ mayRepair, maySendOn }, job) => {
    const { host } = job;
    const { answer } = host;
    const feedback: InputOf<"stop.reviewed">["feedback"] = [];
    const read = host.run.output && (await readOutput(host.run.output, answer));
    if (read && !read.ok) {
      if (mayRepair) feedback.push({ id: host.ids.next("repair"), parts: [text(repairRequest(read.error))] });
      return job.settle({ type: "stop.reviewed", feedback, invalid: read.error });
    }
    for (const m of host.chain) {
      if (!m.onStop || !maySendOn) continue;
      try {
        const said = readFeedback(await m.onStop({ text: answer }, host.hookContext(job.signal)));
        if (said) feedback.push({ id: host.ids.next("feedback"), parts: [text(said.feedback)] });
      } catch (error) {
        hookFailed(host, m.name, "onStop", error);
      }
    }
    job.settle({ type: "stop.reviewed", feedback });
  },
  () => ({ type: "stop.reviewed", feedback: [] }),
);

/** Waits. The exponential policy spreads retries by up to a quarter more. */
export const sleep = effect<{ id: string; timer: string; ms: number }>(
  ({ timer, ms }, job) => {
    const spread = timer === "backoff" && job.host.limits.backoff === "exponential" ? 1 + job.host.jitter() / 4 : 1;
    const over = () => job.settle({ type: "timer.elapsed", timer });
    if (ms > 0) job.onLeave(job.host.clock.setTimer(ms * spread, over));
    else queueMicrotask(over);
  },
  (_, { timer }) => ({ type: "timer.elapsed", timer }),
);

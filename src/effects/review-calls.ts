/** Judges the calls of an answer, in call order, against the pinned catalogue. */
import type { ReviewedCall } from "../core/call.ts";
import { callsOf } from "../core/message.ts";
import { effect, messageOf } from "./effect.ts";
import { invalid, judge } from "./judge.ts";

export const reviewCalls = effect<{ id: string; answer: number }>(
  (input, job) => {
    const { host } = job;
    const parts = callsOf(host.transcript.answer(input.answer)?.parts ?? []);
    const max = host.limits.maxToolCallsPerTurn;
    const judged = parts.map((part, i) =>
      i < max
        ? judge(host, part, () => job.signal)
        : invalid(part, `Not executed: an answer may hold at most ${max} tool calls. Send fewer at once.`),
    );
    const settle = (calls: ReviewedCall[]) => job.settle({ type: "calls.reviewed", calls });
    if (judged.some((call) => call instanceof Promise)) return Promise.all(judged).then(settle);
    settle(judged as ReviewedCall[]);
  },
  (error, input, { host }) => ({
    type: "calls.reviewed",
    calls: callsOf(host.transcript.answer(input.answer)?.parts ?? []).map((part) => ({
      ...invalid(part, `The review failed: ${messageOf(error)}`),
      verdict: "deny",
      by: "policy",
    })),
  }),
);

/** Judges the calls of an answer, in call order, against the pinned catalogue. */
import type { ReviewedCall } from "../core/call.ts";
import { callsOf } from "../core/message.ts";
import { effect, isThenable, messageOf } from "./effect.ts";
import { invalid, judge } from "./judge.ts";

export const reviewCalls = effect<{ id: string; answer: number }>(
  (input, job) => {
    const { host } = job;
    const parts = callsOf(host.transcript.answer(input.answer)?.parts ?? []);
    const max = host.limits.maxToolCallsPerTurn;
    const calls: ReviewedCall[] = [];
    // One after the other; only a review that takes its time makes the rest wait.
    const from = (i: number): void | Promise<void> => {
      for (; i < parts.length; i++) {
        const part = parts[i]!;
        const judged =
          i < max
            ? judge(host, part, () => job.signal)
            : invalid(part, `Not executed: an answer may hold at most ${max} tool calls. Send fewer at once.`);
        if (isThenable(judged))
          return judged.then((call) => {
            calls.push(call);
            return from(i + 1);
          });
        calls.push(judged);
      }
      job.settle({ type: "calls.reviewed", calls });
    };
    return from(0);
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

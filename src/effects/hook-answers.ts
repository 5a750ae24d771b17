/** What hooks may answer, parsed at the door: a wrong shape is that hook's failure, and never enters a record. */
import { z } from "zod";
import { verdict } from "../core/call.ts";
import { lazily } from "../core/lazy.ts";
import { contentPart } from "../core/message.ts";

const inputOpinion = lazily(() =>
  z
    .union([
      z.strictObject({ refuse: z.string() }),
      z.strictObject({ parts: z.array(contentPart).optional(), info: z.array(z.string()).optional() }),
    ])
    .nullish(),
);
const contribution = lazily(() => z.string().nullish());
const remark = lazily(() => z.strictObject({ note: z.string() }).nullish());
const feedback = lazily(() => z.strictObject({ feedback: z.string() }).nullish());
const block = lazily(() => z.strictObject({ block: z.string() }).nullish());
const opinion = lazily(() =>
  z
    .union([
      z.literal("abstain"),
      verdict,
      z.strictObject({
        verdict: verdict.optional(),
        reason: z.string().optional(),
        args: z.json().optional(),
        lift: z.boolean().optional(),
      }),
    ])
    .nullish(),
);

/** @throws Error that says what the hook answered instead */
function read<T>(schema: z.ZodType<T>, answer: unknown): T {
  const read = schema.safeParse(answer);
  if (read.success) return read.data;
  throw new Error(`its answer has the wrong shape: ${read.error.issues[0]?.message ?? "unknown"}`);
}

export const readInputOpinion = (answer: unknown) => (answer === undefined ? undefined : read(inputOpinion, answer));
export const readContribution = (answer: unknown) => (answer === undefined ? undefined : read(contribution, answer));
export const readRemark = (answer: unknown) => (answer === undefined ? undefined : read(remark, answer));
export const readBlock = (answer: unknown) => (answer === undefined ? undefined : read(block, answer));
export const readFeedback = (answer: unknown) => (answer === undefined ? undefined : read(feedback, answer));
/** An opinion in full; nothing for an abstention. */
export function readOpinion(answer: unknown) {
  const said = answer === undefined ? undefined : read(opinion, answer);
  if (said === undefined || said === null || said === "abstain") return undefined;
  return typeof said === "string" ? { verdict: said } : said;
}

/** Inputs that wait, by name: their text is in their records. First in, first out; a full inbox refuses, never evicts. */
import { estimateParts, MARKER_TOKENS, MESSAGE_TOKENS } from "./budget.ts";
import type { InputKind, InputOf, Taken } from "./event.ts";
import { text, type ContentPart } from "./message.ts";

export type WaitingInput = {
  id: string;
  kind: InputKind;
  tokens: number;
  /** Only this run may take it. */
  forRun?: string | undefined;
  /** `onInput` has seen it, or need not. */
  reviewed: boolean;
  /** The record of that review: it may have rewritten the input. */
  review?: number | undefined;
};
export type Inbox = readonly WaitingInput[];

/** What an input costs once it is a message. */
const sizeOf = (parts: readonly ContentPart[], isMarked: boolean): number =>
  MESSAGE_TOKENS + estimateParts(parts) + (isMarked ? MARKER_TOKENS : 0);

/** An input as it joins the inbox. Only prompts are reviewed. */
export const waiting = (e: InputOf<"input.received">, reviews: boolean): WaitingInput => ({
  id: e.id,
  kind: e.kind,
  tokens: sizeOf(e.parts, e.kind !== "prompt" || e.steering === true),
  forRun: e.forRun,
  reviewed: e.kind !== "prompt" || !reviews,
});

/** Why an input cannot join; nothing when it can. */
export function refusal(
  inbox: Inbox,
  e: { id: string; forRun?: string | undefined },
  limits: { inbox: number },
  runId: string | undefined,
): string | undefined {
  if (inbox.length >= limits.inbox) return "the inbox is full";
  if (e.forRun !== undefined && e.forRun !== runId) return "the run it belongs to is over";
  return undefined;
}

/** Whether a run may take an input into its next turn. */
export const mayTake = (input: WaitingInput, runId: string | undefined): boolean =>
  input.reviewed && (input.forRun === undefined || input.forRun === runId);

/** The inbox after `onInput` has spoken: refused prompts are gone, notices follow the prompt they are about. */
export function admit(
  inbox: Inbox,
  { verdicts, seq: review }: Taken<InputOf<"inputs.reviewed">>,
): { inbox: WaitingInput[]; refused: { id: string; reason: string }[] } {
  const left: WaitingInput[] = [];
  const refused: { id: string; reason: string }[] = [];
  for (const input of inbox) {
    const v = verdicts.find((one) => one.id === input.id);
    if (v?.refused !== undefined) {
      refused.push({ id: input.id, reason: v.refused });
      continue;
    }
    left.push(v ? { ...input, tokens: v.parts ? sizeOf(v.parts, true) : input.tokens, reviewed: true, review } : input);
    v?.info?.forEach((line, i) =>
      left.push({
        id: `${input.id}.info${i}`,
        kind: "info",
        tokens: sizeOf([text(line)], true),
        reviewed: true,
        review,
      }),
    );
  }
  return { inbox: left, refused };
}

export const tokensIn = (inbox: Inbox): number => inbox.reduce((sum, input) => sum + input.tokens, 0);
/** Tokens of what a run may take into its next turn. */
export const pendingIn = (inbox: Inbox, runId: string | undefined): number =>
  inbox.length === 0 ? 0 : tokensIn(inbox.filter((input) => mayTake(input, runId)));
/** The reviews that these inputs have passed, by record; nothing when there were none. */
export const reviewsOf = (inbox: Inbox): { reviews?: number[] } => {
  if (inbox.length === 0) return {};
  const reviews = [...new Set(inbox.flatMap((i) => i.review ?? []))];
  return reviews.length ? { reviews } : {};
};
/** Prompts that `onInput` has not seen yet. */
export const unreviewed = (inbox: Inbox): string[] => idsOf(inbox.filter((input) => !input.reviewed));

export const idsOf = (inbox: Inbox): string[] => inbox.map((input) => input.id);

/** What a stop review sends back, as an input that wakes. */
export const feedback = (f: { id: string; parts: ContentPart[] }): WaitingInput => ({
  id: f.id,
  kind: "defer",
  tokens: sizeOf(f.parts, true),
  reviewed: true,
});

/**
 * What becomes of the inbox when a run ends: inputs bound to it go, notices are `taken` into the transcript of a run that
 * completed, and the rest is `left` for the next run, unless the inbox is to be cleared. Names of what was `withdrawn`
 * and of what is `undelivered` either way.
 */
export function leftOver(
  inbox: Inbox,
  runId: string,
  completed: boolean,
  clear: boolean,
): { taken: Inbox; left: Inbox; withdrawn: string[]; undelivered: string[] } {
  const theirs = inbox.filter((i) => i.forRun === runId);
  const others = inbox.filter((i) => i.forRun !== runId);
  const taken = completed ? others.filter((i) => i.kind === "info") : [];
  const rest = others.filter((i) => !taken.includes(i));
  return {
    taken,
    left: clear ? [] : rest,
    withdrawn: idsOf(clear ? [...theirs, ...rest] : theirs),
    undelivered: idsOf(rest.filter((i) => i.kind !== "info")),
  };
}

/** Asks a model for the summary that takes the place of what came before. */
import { estimateMessages, type Count } from "../core/budget.ts";
import { readSummary, render } from "../core/marker.ts";
import { callsOf, text, type Message } from "../core/message.ts";
import { addUsage, type Usage } from "../core/usage.ts";
import type { Job } from "./effect.ts";
import { sideRequest, type SideReply } from "./side-request.ts";

/** What the model is asked for, unless `compaction.prompt` says otherwise. */
export const SUMMARY_PROMPT = `The conversation above is about to be replaced by a summary of it. Write that summary for \
yourself: what the user wants and every constraint they stated, what was done and found, files and names that matter, \
what is open, and the next step. Answer with the text only, between [summary] and [/summary]. Do not call any tool.`;

/** Tokens that a summary request leaves free for its answer. */
const ANSWER = 4_000;
/** Share of a request that was too long which the next one may have. */
const LESS = 0.5;

/** No attempt gave a usable text. `usage` is what all of them cost. */
export class NoSummary extends Error {
  readonly usage: Usage | undefined;
  constructor(message: string, usage: Usage | undefined) {
    super(message);
    this.usage = usage;
  }
}

/**
 * Asks until there is a usable text of at most `most` tokens: a reply that calls tools, is empty, cut or too long is
 * asked for again, within one budget. A request that is too long goes out again without its oldest exchanges.
 * @throws NoSummary
 */
export async function askForSummary(job: Job, most: number): Promise<{ summary: string; usage: Usage | undefined }> {
  const { host } = job;
  const { count, summaryModel: model } = host;
  const { catalogue: tools, contributions } = host.pinned;
  // As in a turn, for the prompt cache.
  const instructions = [host.instructions, contributions].filter(Boolean).join("\n\n");
  const window = Math.min(model.window ?? Infinity, host.compaction.window);
  let room = window - count(instructions) - tools.tokens - ANSWER;
  let usage: Usage | undefined;
  let why = "";
  for (let attempt = 1; attempt <= host.limits.summaryAttempts && !job.settled; attempt++) {
    const messages = withinRoom(host.transcript.view, room, count);
    const reply = await sideRequest(host, {
      model,
      purpose: "summary",
      instructions,
      messages: [...messages, request(host.compaction.prompt ?? SUMMARY_PROMPT, why)],
      tools: tools.specs,
      signal: job.signal,
    });
    usage = reply.usage ? addUsage(usage ?? {}, reply.usage) : usage;
    if (reply.failure?.class === "overflow") room = Math.min(room, estimateMessages(messages, count)) * LESS;
    const summary = readSummary(reply.text);
    const fault = faultOf(reply, summary, count, most);
    if (fault === undefined) return { summary, usage };
    why = fault;
  }
  throw new NoSummary(`No usable summary after ${host.limits.summaryAttempts} attempts: ${why}`, usage);
}

const request = (prompt: string, why: string): Message => ({
  id: "summary-request",
  role: "user",
  kind: "prompt",
  parts: [text(why === "" ? prompt : `${prompt}\nThe last reply could not be used: ${why} Answer with text only.`)],
});

/** Why a reply cannot be used, in a sentence; nothing when it can. */
function faultOf(reply: SideReply, summary: string, count: Count, most: number): string | undefined {
  if (reply.failure) return reply.failure.message;
  if (callsOf(reply.parts).length > 0) return "It called a tool.";
  if (reply.finish === "length") return "It was cut by the length limit; write less.";
  if (reply.finish !== "stop") return "It was not finished.";
  if (summary === "") return "There was no summary in it.";
  if (count(summary) > most) return `It was too long; write at most ${Math.floor(most / 2)} words.`;
  return undefined;
}

const LEFT_OUT = render({
  id: "left-out",
  role: "user",
  kind: "info",
  parts: [text("What came before this is too long to be shown here, and is left out.")],
});

/** The newest part of a view that fits, cut between exchanges and said to be one; a summary at its beginning stays. */
function withinRoom(view: readonly Message[], room: number, count: Count): readonly Message[] {
  let size = estimateMessages(view, count);
  if (size <= room) return view;
  const head = view[0]?.role === "user" && view[0].kind === "summary" ? 1 : 0;
  let from = head;
  while (from < view.length && size > room) {
    do size -= estimateMessages([view[from++]!], count);
    while (view[from]?.role === "tool");
  }
  return [...view.slice(0, head), LEFT_OUT, ...view.slice(from)];
}

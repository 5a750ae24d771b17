/** What the model is shown: a pure function of the transcript and the directives that say what to show less of. */
import { z } from "zod";
import { lazily } from "./lazy.ts";
import { render } from "./marker.ts";
import { text, type ContentPart, type Message, type ToolMessage, type UserMessage } from "./message.ts";
import type { Entry } from "./transcript.ts";

const ordinal = lazily(() => z.number().int().nonnegative());

/** A stored decision to show less. Entries are named by their ordinal in the transcript. */
export const directive = lazily(() =>
  z.discriminatedUnion("kind", [
    z.object({
      kind: z.literal("elide"),
      /** Calls whose results are shown as head and tail. */
      results: z.array(z.object({ entry: ordinal, callIds: z.array(z.string()) })),
    }),
    z.object({ kind: z.literal("summarize"), upTo: ordinal, kept: z.array(ordinal), text: z.string() }),
    z.object({ kind: z.literal("discard"), upTo: ordinal, kept: z.array(ordinal) }),
  ]),
);
export type Directive = z.infer<typeof directive>;

/** Code points kept of an elided text, before and after the gap; shorter texts than the sum stay whole. */
export const ELIDE = { above: 500, head: 350, tail: 100 } as const;

/** The view of a whole transcript. Deterministic; equal input gives equal output. */
export function project(entries: readonly Entry[], directives: readonly Directive[]): Message[] {
  const cut = directives.findLast((d) => d.kind !== "elide");
  const elided = new Set<string>();
  for (const d of directives)
    if (d.kind === "elide")
      for (const r of d.results) for (const callId of r.callIds) elided.add(`${r.entry}/${callId}`);
  const messages: Message[] = [];
  if (cut) pushHead(messages, entries, cut);
  for (let i = cut?.upTo ?? 0; i < entries.length; i++) {
    const entry = entries[i]!;
    pushEntry(messages, entry, (callId) => elided.has(`${i}/${callId}`));
  }
  return messages;
}

/** Adds what an entry looks like in a view. */
export function pushEntry(messages: Message[], entry: Entry, isElided?: (callId: string) => boolean): void {
  if (entry.kind === "user") {
    messages.push(render(entry.message));
    return;
  }
  messages.push(entry.message);
  if (!entry.results) return;
  messages.push(isElided ? elideResults(entry.results, isElided) : entry.results);
}

function pushHead(messages: Message[], entries: readonly Entry[], cut: Exclude<Directive, { kind: "elide" }>) {
  if (cut.kind === "summarize") messages.push(summaryMessage(cut.upTo, cut.text));
  for (const ordinal of cut.kept) {
    const entry = entries[ordinal];
    if (entry?.kind === "user") messages.push(render(entry.message));
  }
}

const summaryMessage = (upTo: number, summary: string): UserMessage =>
  render({ id: `summary-${upTo}`, role: "user", kind: "summary", parts: [text(summary)] });

function elideResults(message: ToolMessage, isElided: (callId: string) => boolean): ToolMessage {
  if (!message.parts.some((p) => isElided(p.callId))) return message;
  const parts = message.parts.map((p) => (isElided(p.callId) ? { ...p, output: p.output.map(elidePart) } : p));
  return { ...message, parts };
}

function elidePart(part: ContentPart): ContentPart {
  if (part.type !== "text") return text(`[${part.type} omitted]`);
  const points = Array.from(part.text);
  if (points.length <= ELIDE.above) return part;
  const gap = points.length - ELIDE.head - ELIDE.tail;
  const head = points.slice(0, ELIDE.head).join("");
  return text(`${head}\n[… ${gap} characters omitted …]\n${points.slice(-ELIDE.tail).join("")}`);
}

/** What the model is shown: a pure function of the transcript and the directives that say what to show less of. */
import { z } from "zod";
import { lazily } from "./lazy.ts";
import { omission, render } from "./marker.ts";
import { isMedia } from "./media.ts";
import { text, type ContentPart, type Message, type ToolMessage, type UserKind, type UserMessage } from "./message.ts";
import type { Entry } from "./transcript.ts";

const ordinal = lazily(() => z.number().int().nonnegative());
/** Calls whose results are shown as head and tail. */
const results = lazily(() => z.array(z.object({ entry: ordinal, callIds: z.array(z.string()) })));

/** A file that was read before a cut, as it was when it was read again for the view. */
const reread = lazily(() =>
  z.object({
    tool: z.string(),
    path: z.string(),
    /** SHA-256 of everything that the tool said. */
    hash: z.string(),
    text: z.string(),
  }),
);
export type Reread = z.infer<typeof reread>;

const cut = {
  /** Entries before this one are no longer shown, but for the prompts in `kept`. */
  upTo: ordinal,
  kept: lazily(() => z.array(ordinal)),
  /** Results behind the cut that are elided, too. */
  results: results.optional(),
  /** Task focus and open work, in words. */
  state: z.string().optional(),
  files: lazily(() => z.array(reread)).optional(),
};

/** A stored decision to show less. Entries are named by their ordinal in the transcript. */
export const directive = lazily(() =>
  z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("elide"), results }),
    z.object({ kind: z.literal("summarize"), ...cut, text: z.string() }),
    /** `text` is a summary of before, taken along. */
    z.object({ kind: z.literal("discard"), ...cut, text: z.string().optional() }),
  ]),
);
export type Directive = z.infer<typeof directive>;
/** A directive of a full compaction. */
export type CutDirective = Exclude<Directive, { kind: "elide" }>;

export const isCut = (d: Directive): d is CutDirective => d.kind !== "elide";

/** Code points kept of an elided text, before and after the gap; shorter texts stay whole. */
export const ELIDE = { above: 500, head: 350, tail: 100 } as const;

/** Call ids of elided results, by the entry they are in. */
export function elidedIn(directives: readonly Directive[]): ReadonlyMap<number, ReadonlySet<string>> {
  const elided = new Map<number, Set<string>>();
  for (const d of directives)
    for (const { entry, callIds } of d.results ?? []) {
      const known = elided.get(entry);
      if (known) for (const callId of callIds) known.add(callId);
      else elided.set(entry, new Set(callIds));
    }
  return elided;
}

/** The view of a whole transcript. Deterministic; equal input gives equal output. */
export function project(entries: readonly Entry[], directives: readonly Directive[]): Message[] {
  const last = directives.findLast(isCut);
  const elided = elidedIn(directives);
  const messages: Message[] = last ? headOf(entries, last) : [];
  for (let i = last?.upTo ?? 0; i < entries.length; i++) pushEntry(messages, entries[i]!, elided.get(i));
  return messages;
}

/** Adds what an entry looks like in a view. */
export function pushEntry(messages: Message[], entry: Entry, elided?: ReadonlySet<string>): void {
  if (entry.kind === "user") {
    messages.push(shown(entry.message));
    return;
  }
  messages.push(entry.message);
  if (entry.results) messages.push(elided ? withElided(entry.results, elided) : entry.results);
}

/** User messages as they are shown: the same object each time, so that what is made of it for a wire is made once. */
const rendered = new WeakMap<UserMessage, UserMessage>();
function shown(message: UserMessage): UserMessage {
  let view = rendered.get(message);
  if (!view) rendered.set(message, (view = render(message)));
  return view;
}

/** What a full compaction shows in the place of what came before. */
export function headOf(entries: readonly Entry[], d: CutDirective): UserMessage[] {
  const head: UserMessage[] = [];
  const say = (kind: UserKind, words: string) =>
    head.push(render({ id: `${kind}-${d.upTo}`, role: "user", kind, parts: [text(words)] }));
  if (d.text !== undefined) say("summary", d.text);
  for (const at of d.kept) {
    const entry = entries[at];
    if (entry?.kind === "user") head.push(shown(entry.message));
  }
  const files = (d.files ?? []).map((f) => `File ${f.path} (read again by ${f.tool}, sha256 ${f.hash}):\n${f.text}`);
  const restored = [d.state ?? "", ...files].filter(Boolean);
  if (restored.length) say("restored", restored.join("\n\n"));
  return head;
}

/** A message of results, some of them elided; the same object for the same calls as long as the original lives. */
const shortened = new WeakMap<ToolMessage, Map<string, ToolMessage>>();
export function withElided(message: ToolMessage, elided: ReadonlySet<string>): ToolMessage {
  const callIds = message.parts.map((p) => p.callId).filter((id) => elided.has(id));
  if (callIds.length === 0) return message;
  let versions = shortened.get(message);
  if (!versions) shortened.set(message, (versions = new Map()));
  const key = JSON.stringify(callIds);
  let version = versions.get(key);
  if (!version) {
    const parts = message.parts.map((p) => (elided.has(p.callId) ? { ...p, output: p.output.map(elidePart) } : p));
    versions.set(key, (version = { ...message, parts }));
  }
  return version;
}

/** Whether eliding a part makes it shorter. */
export const isLarge = (part: ContentPart): boolean =>
  isMedia(part) || (part.text.length > ELIDE.above && lengthOf(part.text) > ELIDE.above);

function elidePart(part: ContentPart): ContentPart {
  if (isMedia(part)) return text(`[${part.type} omitted]`);
  if (!isLarge(part)) return part;
  const points = Array.from(part.text);
  const head = points.slice(0, ELIDE.head).join("");
  return text(`${head}\n${omission(points.length - ELIDE.head - ELIDE.tail)}\n${points.slice(-ELIDE.tail).join("")}`);
}

/** Code points of a text. */
function lengthOf(value: string): number {
  let length = 0;
  for (const _ of value) length++;
  return length;
}

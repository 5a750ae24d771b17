/** Markers: how the runtime speaks to the model inside user messages, and why nobody else can. */
import { text, textOf, type ContentPart, type UserKind, type UserMessage } from "./message.ts";

const tags = {
  prompt: undefined,
  steering: "user_steering",
  defer: "background_result",
  info: "notice",
  retried: "turn_retried",
  aborted: "turn_aborted",
  continued: "answer_cut",
  summary: "context_summary",
  restored: "working_state",
} as const satisfies Record<UserKind, string | undefined>;

const names = [...Object.values(tags).filter((t) => t !== undefined), "summary"].join("|");
const forged = new RegExp(`\\[(?=\\s*/?\\s*(?:${names})\\s*\\])`, "gi");

/** Takes the opening bracket off every marker tag in a text, so that only the runtime's own tags read as tags. */
export const escapeMarkers = (value: string): string => (value.includes("[") ? value.replace(forged, "&#91;") : value);

/** A user message as the model reads it: markers of its kind around its text, forged ones in the text defused. */
export function render(message: UserMessage): UserMessage {
  const tag = tags[message.kind];
  const parts = message.parts.map((p) => (p.type === "text" ? text(escapeMarkers(p.text)) : p));
  if (!tag) return { ...message, parts };
  const media: ContentPart[] = parts.filter((p) => p.type !== "text");
  return { ...message, parts: [text(`[${tag}]\n${textOf(parts)}\n[/${tag}]`), ...media] };
}

/** The line in the middle of an elided text. */
export const omission = (characters: number): string => `[… ${characters} characters omitted …]`;

/** Such a line in a text; a model that copies one into a file means something else. */
export const OMISSION = /\[… \d+ characters omitted …\]/g;

/** The text between the summary tags of a reply; without tags, the whole reply. Both bracket styles are read. */
export function readSummary(reply: string): string {
  const match = /[[<]summary[\]>]([\s\S]*?)[[<]\/summary[\]>]/i.exec(reply);
  return (match?.[1]?.trim() || reply.replace(/[[<]\/?summary[\]>]/gi, "")).trim();
}

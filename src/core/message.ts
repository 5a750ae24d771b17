/** Messages and their parts: the vocabulary of a transcript, independent of any provider. */
import { z } from "zod";
import { lazily } from "./lazy.ts";

/** Any JSON value. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/**
 * What a provider wants back byte for byte: signatures, encrypted reasoning, the name of a reasoning field.
 * It lives and dies with its message; nobody but the adapter named in `provider` reads it.
 */
const opaque = lazily(() => z.object({ provider: z.string(), data: z.any() }));
export type Opaque = { provider: string; data: Json };

/**
 * Where bytes come from: inline base64, an address the provider fetches, or a file of the session, which a journal names
 * instead of holding the bytes. Model ports never see the last: it is read back for them.
 */
const source = {
  mediaType: z.string(),
  data: z.string().optional(),
  url: z.string().optional(),
  /** `file` carries the SHA-256 of the content in its name; `bytes` is its length. */
  stored: lazily(() => z.object({ file: z.string(), bytes: z.number() })).optional(),
};

const textPart = lazily(() => z.object({ type: z.literal("text"), text: z.string(), opaque: opaque.optional() }));
const imagePart = lazily(() => z.object({ type: z.literal("image"), ...source }));
const filePart = lazily(() => z.object({ type: z.literal("file"), name: z.string().optional(), ...source }));
const audioPart = lazily(() => z.object({ type: z.literal("audio"), ...source }));
const thinkingPart = lazily(() =>
  z.object({ type: z.literal("thinking"), text: z.string(), opaque: opaque.optional() }),
);
const toolCallPart = lazily(() =>
  z.object({
    type: z.literal("tool-call"),
    callId: z.string(),
    name: z.string(),
    /** Parsed arguments; absent when the text was not valid JSON (then `raw` has it). */
    args: z.any().optional(),
    raw: z.string().optional(),
    /** The id the provider used, when it is not `callId`. */
    wireId: z.string().optional(),
    opaque: opaque.optional(),
  }),
);

/** How a call ended. Every call has exactly one result with one of these. */
export const resultStatus = lazily(() =>
  z.enum(["ok", "failed", "denied", "timeout", "cancelled", "abandoned", "unknown", "truncated"]),
);
export type ResultStatus = z.infer<typeof resultStatus>;

export const contentPart = lazily(() => z.union([textPart, imagePart, filePart, audioPart]));
const toolResultPart = lazily(() =>
  z.object({
    type: z.literal("tool-result"),
    callId: z.string(),
    name: z.string(),
    status: resultStatus,
    output: z.array(contentPart),
  }),
);

export const assistantPart = lazily(() => z.union([textPart, thinkingPart, toolCallPart]));
export const part = lazily(() =>
  z.union([textPart, imagePart, filePart, audioPart, thinkingPart, toolCallPart, toolResultPart]),
);

export type TextPart = z.infer<typeof textPart>;
export type ImagePart = z.infer<typeof imagePart>;
export type FilePart = z.infer<typeof filePart>;
export type AudioPart = z.infer<typeof audioPart>;
export type ThinkingPart = { type: "thinking"; text: string; opaque?: Opaque | undefined };
export type ToolCallPart = {
  type: "tool-call";
  callId: string;
  name: string;
  args?: Json | undefined;
  raw?: string | undefined;
  wireId?: string | undefined;
  opaque?: Opaque | undefined;
};
export type ToolResultPart = z.infer<typeof toolResultPart>;
/** What users send and tools return. */
export type ContentPart = z.infer<typeof contentPart>;
/** What a model produces. */
export type AssistantPart = TextPart | ThinkingPart | ToolCallPart;
export type Part = ContentPart | ThinkingPart | ToolCallPart | ToolResultPart;

/**
 * Why a user message exists. `prompt` is the user's own text; every other kind is written by the runtime and wears a
 * `[marker]` in the view.
 */
export const userKind = lazily(() =>
  z.enum(["prompt", "steering", "defer", "info", "retried", "aborted", "continued", "summary", "restored"]),
);
export type UserKind = z.infer<typeof userKind>;

export type UserMessage = { id: string; role: "user"; kind: UserKind; parts: ContentPart[] };
export type AssistantMessage = { id: string; role: "assistant"; parts: AssistantPart[] };
export type ToolMessage = { id: string; role: "tool"; parts: ToolResultPart[] };
export type Message = UserMessage | AssistantMessage | ToolMessage;

export const assistantMessage = lazily(() =>
  z.object({
    id: z.string(),
    role: z.literal("assistant"),
    parts: z.array(assistantPart),
  }),
);
export const message = lazily(() =>
  z.union([
    z.object({ id: z.string(), role: z.literal("user"), kind: userKind, parts: z.array(contentPart) }),
    assistantMessage,
    z.object({ id: z.string(), role: z.literal("tool"), parts: z.array(toolResultPart) }),
  ]),
);

/** The tool calls of a message, in the order the model wrote them. */
export const callsOf = (parts: readonly Part[]): ToolCallPart[] =>
  parts.filter((p): p is ToolCallPart => p.type === "tool-call");

/** The visible text of some parts, joined without a separator; thinking is not visible text. */
export const textOf = (parts: readonly Part[]): string => {
  let text = "";
  for (const p of parts) if (p.type === "text") text += p.text;
  return text;
};

const json = lazily(() => z.json());
/** Whether a value is JSON through and through: what a record can hold. */
export function isJson(value: unknown): value is Json {
  try {
    return json.safeParse(value).success && JSON.stringify(value) !== undefined;
  } catch {
    // It goes round in circles.
    return false;
  }
}

/** One text part. */
export const text = (value: string): TextPart => ({ type: "text", text: value });

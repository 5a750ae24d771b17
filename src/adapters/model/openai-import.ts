/** Histories written for Chat Completions, read as ours. */
import { z } from "zod";
import { AgentError } from "../../core/errors.ts";
import {
  text,
  type AssistantPart,
  type ContentPart,
  type Json,
  type Message,
  type ToolCallPart,
  type ToolResultPart,
} from "../../core/message.ts";
import { fields, type Fields } from "./chat-usage.ts";
import { contentText, readReasoning, PROVIDER } from "./reasoning.ts";

/** A Chat Completions message, as far as it is read here. */
export type OpenAIMessage = { role: string; content?: unknown; [field: string]: unknown };

const schema = z.array(
  z.looseObject({
    role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
    content: z.union([z.string(), z.array(z.looseObject({ type: z.string() })), z.null()]).optional(),
    tool_calls: z
      .array(
        z.looseObject({
          id: z.string().optional(),
          function: z.looseObject({ name: z.string(), arguments: z.string().optional() }),
        }),
      )
      .nullish(),
    tool_call_id: z.string().optional(),
  }),
);
type Foreign = z.infer<typeof schema>[number];

/** The text of the result that a call without one gets. */
const NO_RESULT = "Outcome unknown: the imported history has no result of this call.";

/**
 * Reads Chat Completions messages. System messages are skipped (instructions belong to the agent). What comes out is
 * paired: every call has exactly one result, right after its message. A call without a result gets one that is
 * `unknown`; a result without a call, or a second one, is dropped. Ids of messages and repeated call ids are made from
 * their place, so the same input always gives the same messages.
 * @throws AgentError `invalid_options` with the path of what is no such message
 */
export function fromOpenAIMessages(messages: readonly OpenAIMessage[]): Message[] {
  const parsed = schema.safeParse(messages);
  if (!parsed.success) {
    const mistakes = parsed.error.issues.map((i) => `messages.${i.path.join(".")}: ${i.message}`);
    throw new AgentError("invalid_options", `fromOpenAIMessages: ${mistakes.join("; ")}`);
  }
  const ours: Message[] = [];
  const taken = new Set<string>();
  for (let i = 0; i < parsed.data.length; i++) {
    const message = parsed.data[i]!;
    const id = `imported-${i}`;
    if (message.role === "user") ours.push({ id, role: "user", kind: "prompt", parts: contentParts(message.content) });
    if (message.role !== "assistant") continue;
    const calls = callsOf(message, i, taken);
    ours.push({ id, role: "assistant", parts: [...spoken(message), ...calls] });
    if (calls.length) ours.push({ id: `${id}-results`, role: "tool", parts: resultsOf(calls, parsed.data, i + 1) });
  }
  return ours;
}

function spoken(message: Foreign): AssistantPart[] {
  const parts: AssistantPart[] = [];
  const read = readReasoning(message);
  if (read) {
    // No host: whoever goes on with this history may have it back.
    const data: { [key: string]: Json } = { field: read.field };
    if (read.field === "reasoning_details") data["value"] = read.details as Json;
    parts.push({ type: "thinking", text: read.text, opaque: { provider: PROVIDER, data } });
  }
  const words = contentText(message.content) || contentText(message["refusal"]);
  if (words) parts.push(text(words));
  return parts;
}

function callsOf(message: Foreign, at: number, taken: Set<string>): ToolCallPart[] {
  const listed = message.tool_calls ?? [];
  const legacy = fields(message["function_call"]);
  const all = legacy ? [...listed, { function: legacy, id: undefined }] : listed;
  return all.map((call, i) => {
    const wireId = call.id || undefined;
    const callId = wireId !== undefined && !taken.has(wireId) ? wireId : `imported-${at}-${i}`;
    taken.add(callId);
    const { name, arguments: raw } = call.function;
    return {
      type: "tool-call",
      callId,
      name: String(name),
      ...argumentsOf(typeof raw === "string" ? raw : ""),
      ...(wireId !== undefined && wireId !== callId && { wireId }),
    };
  });
}

function argumentsOf(raw: string): { args: Json } | { raw: string } {
  if (raw.trim() === "") return { args: {} };
  try {
    return { args: JSON.parse(raw) as Json };
  } catch {
    return { raw };
  }
}

/** The results that follow a message, up to the next one that is neither a result nor a system message. */
function resultsOf(calls: readonly ToolCallPart[], messages: readonly Foreign[], from: number): ToolResultPart[] {
  const open = new Map<ToolCallPart, ContentPart[]>();
  for (let i = from; i < messages.length; i++) {
    const message = messages[i]!;
    if (message.role === "user" || message.role === "assistant") break;
    if (message.role !== "tool" && message.role !== "function") continue;
    const call = calls.find((c) => !open.has(c) && answers(message, c));
    if (call) open.set(call, contentParts(message.content));
  }
  return calls.map((call) => {
    const output = open.get(call);
    const { callId, name } = call;
    return output
      ? { type: "tool-result", callId, name, status: "ok", output }
      : { type: "tool-result", callId, name, status: "unknown", output: [text(NO_RESULT)] };
  });
}

const answers = (result: Foreign, call: ToolCallPart): boolean =>
  result.role === "function" ? result["name"] === call.name : result.tool_call_id === (call.wireId ?? call.callId);

function contentParts(content: Foreign["content"]): ContentPart[] {
  if (typeof content === "string") return [text(content)];
  return (content ?? []).map(contentPart);
}

function contentPart(part: Fields & { type: string }): ContentPart {
  const image = fields(part["image_url"])?.["url"];
  if (typeof image === "string") return { type: "image", ...source(image, "image/*") };
  const file = fields(part["file"]);
  if (typeof file?.["file_data"] === "string") {
    const name = file["filename"];
    return {
      type: "file",
      ...(typeof name === "string" && { name }),
      ...source(file["file_data"], "application/octet-stream"),
    };
  }
  const audio = fields(part["input_audio"]);
  if (typeof audio?.["data"] === "string")
    return { type: "audio", mediaType: `audio/${String(audio["format"] ?? "wav")}`, data: audio["data"] };
  return text(typeof part["text"] === "string" ? part["text"] : `[${part.type}]`);
}

function source(address: string, mediaType: string): { mediaType: string; data?: string; url?: string } {
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(address);
  return inline ? { mediaType: inline[1]!, data: inline[2]! } : { mediaType, url: address };
}

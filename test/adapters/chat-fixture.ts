/** What the tests of the chat adapter share: a request, and a stream read to its end. */
import type { Failure } from "../../src/core/failure.ts";
import type { Message, UserMessage } from "../../src/core/message.ts";
import type { Usage } from "../../src/core/usage.ts";
import type { ModelChunk, ModelPort, ModelRequest, ToolSpec } from "../../src/ports.ts";

export const user = (text: string, id = "u1"): UserMessage => ({
  id,
  role: "user",
  kind: "prompt",
  parts: [{ type: "text", text }],
});

export const tool = (name: string): ToolSpec => ({
  name,
  description: `does ${name}`,
  parameters: { type: "object", properties: { path: { type: "string" } } },
});

export const request = (messages: Message[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  instructions: "Be brief.",
  messages,
  tools: [],
  settings: {},
  purpose: "turn",
  sessionId: "s1",
  ...more,
});

/** A stream, read to its end and put together. */
export type Reply = {
  chunks: ModelChunk[];
  text: string;
  thinking: string;
  opaque: unknown[];
  calls: { name: string; text: string; wireId: string | undefined }[];
  usage: Usage | undefined;
  finish: string | undefined;
  model: string | undefined;
  failure: Failure | undefined;
};

export async function ask(
  port: ModelPort,
  what: ModelRequest,
  options: { signal?: AbortSignal; onChunk?: (chunk: ModelChunk) => void } = {},
): Promise<Reply> {
  const chunks: ModelChunk[] = [];
  for await (const chunk of port.stream(what, { signal: options.signal ?? new AbortController().signal })) {
    chunks.push(chunk);
    options.onChunk?.(chunk);
  }
  return replyOf(chunks);
}

export function replyOf(chunks: ModelChunk[]): Reply {
  const reply: Reply = {
    chunks,
    text: "",
    thinking: "",
    opaque: [],
    calls: [],
    usage: undefined,
    finish: undefined,
    model: undefined,
    failure: undefined,
  };
  const calls = new Map<string, Reply["calls"][number]>();
  for (const c of chunks) {
    if (c.type === "text") reply.text += c.delta;
    else if (c.type === "thinking") {
      reply.thinking += c.delta;
      if (c.opaque) reply.opaque.push(c.opaque.data);
    } else if (c.type === "tool-call") {
      const call = calls.get(c.key) ?? { name: "", text: "", wireId: undefined };
      calls.set(c.key, call);
      call.name ||= c.name ?? "";
      call.wireId ??= c.wireId;
      call.text += c.delta;
    } else if (c.type === "usage") reply.usage = c.usage;
    else if (c.type === "finish") {
      reply.finish = c.reason;
      reply.model = c.model;
    } else reply.failure = c.failure;
  }
  reply.calls = [...calls.values()];
  return reply;
}

/** A model request beside the conversation: its answer is nobody's turn and never shown. */
import type { Failure } from "../core/failure.ts";
import type { AssistantPart, Message } from "../core/message.ts";
import { textOf } from "../core/message.ts";
import type { Usage } from "../core/usage.ts";
import type { ModelPort, ModelRequest, ToolSpec } from "../ports.ts";
import { Answer } from "./answer.ts";
import { messageOf } from "./effect.ts";
import type { Host } from "./host.ts";

export type SideReply = {
  text: string;
  parts: AssistantPart[];
  finish?: "stop" | "length" | "tool-calls";
  failure?: Failure;
  usage?: Usage;
};

/** Never throws; bounded by the session's own idle limit. */
export async function sideRequest(
  host: Pick<Host, "id" | "clock" | "limits" | "media">,
  ask: {
    model: ModelPort;
    purpose: ModelRequest["purpose"];
    instructions: string;
    messages: readonly Message[];
    tools: readonly ToolSpec[];
    signal: AbortSignal;
  },
): Promise<SideReply> {
  const { model, signal, messages, ...rest } = ask;
  const answer = new Answer(0, 0, { isWatched: false, live: () => {} });
  const reply: SideReply = { text: "", parts: [] };
  const controller = new AbortController();
  const stop = () => controller.abort();
  signal.addEventListener("abort", stop, { once: true });
  let release = () => {};
  const late = new Promise<"late">((resolve) => {
    controller.signal.addEventListener("abort", () => resolve("late"), { once: true });
    release = host.clock.setTimer(host.limits.streamIdleMs, () => resolve("late"));
  });
  const read = async () => {
    const whole = await host.media.whole(messages);
    const request: ModelRequest = { ...rest, messages: whole, settings: {}, sessionId: host.id };
    for await (const chunk of model.stream(request, { signal: controller.signal })) {
      if (chunk.type === "usage") reply.usage = chunk.usage;
      else if (chunk.type === "failed") reply.failure = chunk.failure;
      else if (chunk.type === "finish") reply.finish = chunk.reason;
      else answer.take(chunk);
      if (chunk.type === "failed" || chunk.type === "finish") break;
    }
    return "read" as const;
  };
  try {
    if ((await Promise.race([read(), late])) === "late")
      reply.failure = { class: "timeout", message: "The side request was stopped or took too long." };
  } catch (error) {
    reply.failure = { class: "fatal", message: messageOf(error) };
  } finally {
    release();
    controller.abort();
    signal.removeEventListener("abort", stop);
  }
  reply.parts = answer.parts();
  reply.text = textOf(reply.parts);
  if (!reply.finish && !reply.failure) reply.failure = { class: "malformed", message: "The reply was cut." };
  return reply;
}

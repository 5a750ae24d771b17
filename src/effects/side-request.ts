/** A model request beside the conversation: its answer is nobody's turn and never shown. */
import { failure as failureSchema, type Failure } from "../core/failure.ts";
import type { AssistantPart, Message } from "../core/message.ts";
import { textOf } from "../core/message.ts";
import { usage as usageSchema, type Usage } from "../core/usage.ts";
import type { ModelChunk, ModelPort, ModelRequest, ToolSpec } from "../ports.ts";
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

type Ask = {
  model: ModelPort;
  purpose: ModelRequest["purpose"];
  instructions: string;
  messages: readonly Message[];
  tools: readonly ToolSpec[];
  signal: AbortSignal;
};

/** Never throws; bounded by the session's own limits for a first byte, an idle stream and a whole request. */
export async function sideRequest(
  host: Pick<Host, "id" | "clock" | "limits" | "media">,
  { model, signal, messages, ...rest }: Ask,
): Promise<SideReply> {
  const answer = new Answer(0, 0, { isWatched: false, live: () => {} });
  const reply: SideReply = { text: "", parts: [] };
  const controller = new AbortController();
  const stop = () => controller.abort();
  signal.addEventListener("abort", stop, { once: true });
  const patience = new Patience(host, stop);
  const late = new Promise<"late">((resolve) => {
    controller.signal.addEventListener("abort", () => resolve("late"), { once: true });
    if (signal.aborted) stop();
  });
  const read = async () => {
    const whole = await host.media.whole(messages);
    const request: ModelRequest = { ...rest, messages: whole, settings: {}, sessionId: host.id };
    for await (const chunk of model.stream(request, { signal: controller.signal })) {
      patience.renew();
      if (take(chunk, reply, answer)) break;
    }
    return "read" as const;
  };
  try {
    if ((await Promise.race([read(), late])) === "late")
      reply.failure = { class: "timeout", message: "The side request was stopped or took too long." };
  } catch (error) {
    reply.failure = { class: "fatal", message: messageOf(error) };
  } finally {
    patience.end();
    controller.abort();
    signal.removeEventListener("abort", stop);
  }
  reply.parts = answer.parts();
  reply.text = textOf(reply.parts);
  if (!reply.finish && !reply.failure) reply.failure = { class: "malformed", message: "The reply was cut." };
  return reply;
}

/** A port is foreign code: what it says is parsed before it enters a record. True when that was its last word. */
function take(chunk: ModelChunk, reply: SideReply, answer: Answer): boolean {
  switch (chunk.type) {
    case "usage": {
      const usage = usageSchema.safeParse(chunk.usage).data;
      if (usage) reply.usage = usage;
      return false;
    }
    case "failed":
      reply.failure = failureSchema.safeParse(chunk.failure).data ?? {
        class: "fatal",
        message: "The model port failed without saying how.",
      };
      return true;
    case "finish":
      reply.finish = chunk.reason;
      return true;
    default:
      answer.take(chunk);
      return false;
  }
}

/** How long a stream may keep silent, and take as a whole. */
class Patience {
  readonly #host: Pick<Host, "clock" | "limits">;
  readonly #stop: () => void;
  readonly #endWhole: () => void;
  #end: () => void;

  constructor(host: Pick<Host, "clock" | "limits">, stop: () => void) {
    this.#host = host;
    this.#stop = stop;
    const { firstByteMs, requestMs } = host.limits;
    this.#end = this.#wait(firstByteMs);
    this.#endWhole = this.#wait(requestMs);
  }

  #wait(ms: number): () => void {
    return ms > 0 ? this.#host.clock.setTimer(ms, this.#stop) : () => {};
  }

  renew(): void {
    this.#end();
    this.#end = this.#wait(this.#host.limits.streamIdleMs);
  }

  end(): void {
    this.#end();
    this.#endWhole();
  }
}

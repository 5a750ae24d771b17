/** A strict model without a provider: it plays answers in order, and says so when it is asked for more or less. */
import type { Failure } from "../core/failure.ts";
import type { Json, Message } from "../core/message.ts";
import type { Usage } from "../core/usage.ts";
import type { ModelChunk, ModelPort, ModelRequest } from "../ports.ts";

/** One call of an answer. `raw` is argument text as the model would write it, valid or not. */
export type ScriptedCall = { name: string; args?: Json; raw?: string; id?: string };

/**
 * One answer. Text may come in pieces; `calls` are parallel. `fails` ends it with a failure, after whatever text came
 * first; `hangs` never ends. `cut` ends the stream without a finish reason.
 */
export type ScriptedAnswer =
  | string
  | {
      text?: string | string[];
      thinking?: string;
      calls?: ScriptedCall[];
      finish?: "stop" | "length" | "tool-calls";
      usage?: Usage;
      fails?: Partial<Failure> & Pick<Failure, "class">;
      hangs?: boolean;
      cut?: boolean;
      /** Waits for this before it says anything. */
      after?: Promise<unknown>;
    };

/** The answers themselves, or a function of the request; `undefined` from it means there is no such answer. */
export type Script = readonly ScriptedAnswer[] | ((request: ModelRequest, index: number) => ScriptedAnswer | undefined);

export type ScriptedModel = ModelPort & {
  /** Every request so far, messages copied as they were. */
  readonly requests: ModelRequest[];
  /** @throws Error when answers are left over */
  assertDone(): void;
};

/** Makes a scripted model. A request past the script fails as `fatal` with a sentence that names it. */
export function scriptedModel(
  script: Script,
  options: { id?: string; window?: number; priced?: boolean; structured?: boolean } = {},
): ScriptedModel {
  const requests: ModelRequest[] = [];
  let next = 0;
  const answerTo = (request: ModelRequest) => {
    const index = next++;
    return typeof script === "function" ? script(request, index) : script[index];
  };
  return {
    id: options.id ?? "scripted",
    ...(options.window === undefined ? {} : { window: options.window }),
    ...(options.priced === undefined ? {} : { priced: options.priced }),
    ...(options.structured === undefined ? {} : { structured: options.structured }),
    requests,
    async *stream(request, { signal }) {
      requests.push({ ...request, messages: [...request.messages] as Message[] });
      const answer = answerTo(request);
      if (answer === undefined) {
        const message = `The script has no answer ${next}: it was asked once more than it was written for.`;
        yield { type: "failed", failure: { class: "fatal", message } };
        return;
      }
      yield* play(typeof answer === "string" ? { text: answer } : answer, signal);
    },
    assertDone() {
      if (typeof script !== "function" && next < script.length)
        throw new Error(`The script has ${script.length} answers, but only ${next} were asked for.`);
    },
  };
}

async function* play(
  answer: Exclude<ScriptedAnswer, string>,
  signal: AbortSignal,
): AsyncGenerator<ModelChunk, void, void> {
  if (answer.after) await answer.after;
  if (answer.thinking !== undefined) yield { type: "thinking", delta: answer.thinking };
  const pieces = answer.text === undefined ? [] : typeof answer.text === "string" ? [answer.text] : answer.text;
  for (const delta of pieces) yield { type: "text", delta };
  for (const [i, call] of (answer.calls ?? []).entries()) {
    const delta = call.raw ?? JSON.stringify(call.args ?? {});
    yield { type: "tool-call", key: String(i), wireId: call.id ?? `wire_${i}`, name: call.name, delta };
  }
  if (answer.hangs) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  if (answer.usage) yield { type: "usage", usage: answer.usage };
  if (answer.fails) yield { type: "failed", failure: { message: "scripted", ...answer.fails } };
  else if (!answer.cut && !answer.hangs)
    yield { type: "finish", reason: answer.finish ?? (answer.calls?.length ? "tool-calls" : "stop") };
}

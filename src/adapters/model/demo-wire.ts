/** The demo model's answers on the wire. */
import type { DemoAnswer, DemoRequest } from "./demo-rules.ts";

/** Characters of arguments in one delta: small, so that readers must put them together. */
const ARGUMENT_PIECE = 12;

const idOf = (request: DemoRequest): string => `chatcmpl-demo-${request.messages.length}`;
const callId = (request: DemoRequest, i: number): string => `call_demo_${request.messages.length}_${i}`;
const finishReason = (answer: DemoAnswer): string => (answer.calls.length ? "tool_calls" : "stop");

/** About four characters a token; the demo model has no tokenizer. */
const tokens = (text: string): number => Math.ceil(text.length / 4);

function usageOf(request: DemoRequest, answer: DemoAnswer) {
  const prompt_tokens = tokens(JSON.stringify(request.messages)) + tokens(JSON.stringify(request.tools));
  const completion_tokens = tokens(answer.text) + answer.calls.reduce((n, c) => n + tokens(JSON.stringify(c)), 0);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

const toolCalls = (request: DemoRequest, answer: DemoAnswer) =>
  answer.calls.map((call, i) => ({
    id: callId(request, i),
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.args) },
  }));

/** The whole answer at once. */
export function completion(model: string, request: DemoRequest, answer: DemoAnswer): unknown {
  const calls = toolCalls(request, answer);
  const message = {
    role: "assistant",
    content: answer.text || null,
    ...(calls.length && { tool_calls: calls }),
  };
  return {
    id: idOf(request),
    object: "chat.completion",
    created: 0,
    model,
    choices: [{ index: 0, message, finish_reason: finishReason(answer) }],
    usage: usageOf(request, answer),
  };
}

/** The answer in small pieces: text word by word, arguments a few characters at a time, usage last. */
export function* completionChunks(model: string, request: DemoRequest, answer: DemoAnswer): Generator<unknown> {
  const base = { id: idOf(request), object: "chat.completion.chunk", created: 0, model };
  const chunk = (delta: unknown, finish_reason: string | null = null) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason }],
  });
  yield chunk({ role: "assistant", content: "" });
  for (const word of answer.text.match(/\s*\S+|\s+$/g) ?? []) yield chunk({ content: word });
  for (const [index, call] of toolCalls(request, answer).entries()) {
    const { name, arguments: text } = call.function;
    yield chunk({
      tool_calls: [{ index, id: call.id, type: "function", function: { name, arguments: "" } }],
    });
    for (let at = 0; at < text.length; at += ARGUMENT_PIECE) {
      const piece = text.slice(at, at + ARGUMENT_PIECE);
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  yield chunk({}, finishReason(answer));
  if (request.includeUsage) yield { ...base, choices: [], usage: usageOf(request, answer) };
}

/** What four providers put on the wire, as far as the contract of model adapters needs bytes of its own. */

/** A provider's format. Every function gives the body of an event stream. */
export type Dialect = {
  /** A whole answer. */
  answer(text: string): string;
  /** The beginning of one, cut after some text. */
  begun(text: string): string;
  /** The beginning of a story, cut by the limit on its length. */
  tooLong: string;
  /** An answer that the provider's content filter stops. */
  refused: string;
  /** An answer with reasoning, and with what the provider wants back of it; absent where there is no such thing. */
  signed?: string;
  /** An event that tells of an overloaded server inside a stream. */
  overloaded: string;
  /** The messages in the body of a request. */
  messages(body: string): unknown[];
};

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: { type: string; [field: string]: unknown }): string => `event: ${value.type}\n${data(value)}`;
const field = (body: string, name: string): unknown[] => (JSON.parse(body) as { [name: string]: unknown[] })[name]!;

const chatChunk = (delta: object, finish_reason: string | null = null): string =>
  data({
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
  });

/** OpenAI's Chat Completions. */
export const chat: Dialect = {
  answer: (text) => `${chatChunk({ role: "assistant", content: text })}${chatChunk({}, "stop")}data: [DONE]\n\n`,
  begun: (text) => chatChunk({ role: "assistant", content: text }),
  tooLong: `${chatChunk({ role: "assistant", content: "Once upon a" })}${chatChunk({}, "length")}data: [DONE]\n\n`,
  refused: `${chatChunk({ role: "assistant", content: "I" })}${chatChunk({}, "content_filter")}data: [DONE]\n\n`,
  signed: `${chatChunk({ reasoning_content: "because" })}${chatChunk({ content: "Yes" })}${chatChunk({}, "stop")}data: [DONE]\n\n`,
  overloaded: data({ error: { message: "The server is overloaded", type: "server_error", code: "overloaded" } }),
  messages: (body) => field(body, "messages"),
};

const response = { id: "resp_1", object: "response", created_at: 1, model: "m", status: "in_progress", output: [] };
const usage = {
  input_tokens: 3,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 2,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 5,
};
const messageItem = (text: string) => ({
  type: "message",
  id: "msg_1",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
});
const responseText = (text: string, output_index = 0): string =>
  named({
    type: "response.output_item.added",
    output_index,
    item: { ...messageItem(""), content: [], status: "in_progress" },
  }) +
  named({
    type: "response.content_part.added",
    item_id: "msg_1",
    output_index,
    content_index: 0,
    part: { type: "output_text", text: "", annotations: [] },
  }) +
  named({ type: "response.output_text.delta", item_id: "msg_1", output_index, content_index: 0, delta: text });
const responseTextDone = (text: string, output_index = 0): string =>
  named({ type: "response.output_text.done", item_id: "msg_1", output_index, content_index: 0, text }) +
  named({
    type: "response.content_part.done",
    item_id: "msg_1",
    output_index,
    content_index: 0,
    part: { type: "output_text", text, annotations: [] },
  }) +
  named({ type: "response.output_item.done", output_index, item: messageItem(text) });
const created = named({ type: "response.created", response });
const completed = named({ type: "response.completed", response: { ...response, status: "completed", usage } });
const incomplete = (reason: string): string =>
  named({
    type: "response.incomplete",
    response: { ...response, status: "incomplete", incomplete_details: { reason }, usage },
  });
const reasoningItem = {
  type: "reasoning",
  id: "rs_signed_1",
  summary: [],
  encrypted_content: "b3BhcXVlLWVuY3J5cHRlZA==",
};

/** OpenAI's Responses. */
export const responses: Dialect = {
  answer: (text) => created + responseText(text) + responseTextDone(text) + completed,
  begun: (text) => created + responseText(text),
  tooLong: created + responseText("Once upon a") + responseTextDone("Once upon a") + incomplete("max_output_tokens"),
  refused: created + responseText("I") + responseTextDone("I") + incomplete("content_filter"),
  signed:
    created +
    named({ type: "response.output_item.added", output_index: 0, item: reasoningItem }) +
    named({ type: "response.output_item.done", output_index: 0, item: reasoningItem }) +
    responseText("Yes", 1) +
    responseTextDone("Yes", 1) +
    completed,
  overloaded: named({
    type: "error",
    sequence_number: 9,
    code: "server_error",
    message: "The server is overloaded",
    param: null,
    error: { type: "server_error", code: "server_error", message: "The server is overloaded", param: null },
  }),
  messages: (body) => field(body, "input"),
};

const started = named({
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 1 },
  },
});
const block = (index: number, content_block: object, ...deltas: object[]): string =>
  named({ type: "content_block_start", index, content_block }) +
  deltas.map((delta) => named({ type: "content_block_delta", index, delta })).join("");
const blockEnd = (index: number): string => named({ type: "content_block_stop", index });
const textBlock = (index: number, text: string): string =>
  block(index, { type: "text", text: "" }, { type: "text_delta", text });
const ended = (stop_reason: string): string =>
  named({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 2 } }) +
  named({ type: "message_stop" });

/** Anthropic's Messages. */
export const anthropic: Dialect = {
  answer: (text) => started + textBlock(0, text) + blockEnd(0) + ended("end_turn"),
  begun: (text) => started + textBlock(0, text),
  tooLong: started + textBlock(0, "Once upon a") + blockEnd(0) + ended("max_tokens"),
  refused: started + textBlock(0, "I") + blockEnd(0) + ended("refusal"),
  signed:
    started +
    block(
      0,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "because" },
      { type: "signature_delta", signature: "c2lnbmVkLXRoaW5raW5n" },
    ) +
    blockEnd(0) +
    block(1, { type: "redacted_thinking", data: "cmVkYWN0ZWQ=" }) +
    blockEnd(1) +
    textBlock(2, "Yes") +
    blockEnd(2) +
    ended("end_turn"),
  overloaded: named({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
  messages: (body) => field(body, "messages"),
};

const candidate = (parts: object[], finishReason?: string): string =>
  data({
    candidates: [{ index: 0, content: { role: "model", parts }, ...(finishReason && { finishReason }) }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
    modelVersion: "m",
    responseId: "r1",
  });

/** Google's Gemini. */
export const gemini: Dialect = {
  answer: (text) => candidate([{ text }]) + candidate([], "STOP"),
  begun: (text) => candidate([{ text }]),
  tooLong: candidate([{ text: "Once upon a" }]) + candidate([], "MAX_TOKENS"),
  refused: candidate([{ text: "I" }]) + candidate([], "SAFETY"),
  signed:
    candidate([{ text: "because", thought: true }]) +
    candidate([{ text: "Yes", thoughtSignature: "dGhvdWdodC1zaWduZWQ=" }]) +
    candidate([], "STOP"),
  overloaded: data({ error: { code: 503, message: "The model is overloaded", status: "UNAVAILABLE" } }),
  messages: (body) => field(body, "contents"),
};

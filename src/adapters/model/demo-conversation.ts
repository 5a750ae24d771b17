/** A conversation as the demo model sees it: the newest prompt and what was done about it since. */
import { fields } from "./chat-usage.ts";
import { parseObject } from "./json-object.ts";
import { contentText } from "./reasoning.ts";

/** A message of a request, reduced to what the rules look at. */
export type DemoMessage = {
  role: string;
  text: string;
  calls: { id: string; name: string; args: { [key: string]: unknown } }[];
  callId: string | undefined;
};

/** A call that was made, and what came back. */
export type DemoCall = {
  name: string;
  args: { [key: string]: unknown };
  output: string;
  denied: boolean;
  failed: boolean;
};

/** Since the newest prompt. */
export type DemoState = { prompt: string; turns: number; calls: DemoCall[] };

/** Reads one wire message; `undefined` when it is none. */
export function readDemoMessage(value: unknown): DemoMessage | undefined {
  const message = fields(value);
  if (!message || typeof message["role"] !== "string") return undefined;
  const listed: unknown[] = Array.isArray(message["tool_calls"]) ? message["tool_calls"] : [];
  const calls = listed.map(fields).flatMap((call) => {
    const fn = fields(call?.["function"]);
    if (!fn) return [];
    return [
      {
        id: String(call?.["id"]),
        name: String(fn["name"]),
        args: parseObject(String(fn["arguments"])) ?? {},
      },
    ];
  });
  const callId = message["tool_call_id"];
  return {
    role: message["role"],
    text: contentText(message["content"]),
    calls,
    callId: typeof callId === "string" ? callId : undefined,
  };
}

const marked = /^\[(\w+)\]\n?([\s\S]*?)\n?\[\/\1\]/;

/** A user's own words, out of a marker if they wear one; `undefined` for what a program wrote into the conversation. */
function promptOf(message: DemoMessage): string | undefined {
  if (message.role !== "user" || message.text.startsWith("Attached by ")) return undefined;
  const marker = marked.exec(message.text);
  if (!marker) return message.text;
  return marker[1] === "user_steering" ? marker[2] : undefined;
}

/** All prompts, oldest first. */
export const promptsOf = (messages: readonly DemoMessage[]): string[] => messages.flatMap((m) => promptOf(m) ?? []);

/** The newest prompt, and every call since with its result. */
export function stateOf(messages: readonly DemoMessage[]): DemoState {
  const at = messages.findLastIndex((m) => promptOf(m) !== undefined);
  const since = messages.slice(at + 1);
  const calls: DemoCall[] = [];
  for (const [i, message] of since.entries())
    for (const call of message.calls) {
      const output = since.slice(i + 1).find((m) => m.role === "tool" && m.callId === call.id)?.text ?? "";
      if (mayRepeat(call.name, output)) continue;
      calls.push({ name: call.name, args: call.args, output, ...verdictOf(output) });
    }
  const prompt = at < 0 ? (messages.findLast((m) => m.role === "user")?.text ?? "") : promptOf(messages[at]!)!;
  return { prompt, turns: since.filter((m) => m.role === "assistant").length, calls };
}

/** Looking that was interrupted is looked at again; nothing has changed by it. */
const mayRepeat = (name: string, output: string): boolean =>
  /^(search_text|list_files|read_file)$/.test(name) && /^(\[interrupted|Outcome unknown)/.test(output);

const denial = /^(Tool call denied|Not executed|\[interrupted|Outcome unknown)/;
const failure =
  /^(error|failed|failure|cannot|could not|unknown tool|no such|invalid|the tool|timed? ?out|E[A-Z]{4,}\b)/i;

/** The wire has no status: results are judged by their first words. */
const verdictOf = (output: string): { denied: boolean; failed: boolean } => {
  const first = output.trimStart();
  return { denied: denial.test(first), failed: failure.test(first) };
};

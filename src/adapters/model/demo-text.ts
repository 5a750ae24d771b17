/** The demo model's sentences, composed from what it found. */
import type { DemoCall, DemoMessage, DemoState } from "./demo-conversation.ts";
import { promptsOf } from "./demo-conversation.ts";
import { gistOf, lastLine, numberedLines, shorten, type ReadFile } from "./demo-gist.ts";
import type { DemoPrompt } from "./demo-prompt.ts";

/** Said in every answer, so that nobody takes it for a model. */
const WHO = "This is the rcra demo model: a set of fixed rules, not an LLM.";

/** The answer when there is nothing to do, or nothing to do it with. */
export function plainAnswer(state: DemoState, prompt: DemoPrompt): string {
  const asked = state.prompt.trim() ? `You said: "${shorten(state.prompt, 200)}".` : "You said nothing.";
  const about = prompt.words.length ? ` I would look for: ${prompt.words.join(", ")}.` : "";
  return `${asked}${about} ${WHO} Give it file tools and ask about files to see it work.`;
}

/** The answer after the work. */
export function finalAnswer(state: DemoState, prompt: DemoPrompt): string {
  const lines = [...troubles(state.calls), ...findings(state), ...written(state, prompt), WHO];
  return lines.join("\n");
}

/** The content of a file that was asked for. */
export function report(state: DemoState, prompt: DemoPrompt): string {
  const title = prompt.words.length ? prompt.words.slice(0, 4).join(", ") : "Notes";
  return [`# ${capital(title)}`, "", `Asked: ${shorten(state.prompt, 300)}`, "", ...findings(state), ""].join("\n");
}

/** The summary of a conversation, in its tags. */
export function summaryAnswer(messages: readonly DemoMessage[]): string {
  const earlier = messages.flatMap(
    (m) => /^\[context_summary\]\n([\s\S]*)\n\[\/context_summary\]/.exec(m.text)?.[1] ?? [],
  );
  const asked = promptsOf(messages.slice(0, -1)).map((p) => `- Asked: ${shorten(p, 200)}`);
  const called = messages
    .flatMap((m) => m.calls)
    .map((c) => `- Called ${c.name} ${shorten(JSON.stringify(c.args), 100)}`);
  const said = messages.filter((m) => m.role === "assistant" && m.text).map((m) => `- Said: ${shorten(m.text, 200)}`);
  const lines = [...earlier.map((e) => e.slice(0, 2000)), ...asked.slice(-8), ...called.slice(-12), ...said.slice(-4)];
  return `[summary]\n${lines.length ? lines.join("\n") : "Nothing was said yet."}\n[/summary]`;
}

/** A title: the telling words of the first prompt. */
export const titleAnswer = (prompts: readonly string[]): string =>
  capital(shorten((prompts[0] ?? "").replace(/[^\p{L}\p{N}\s._/-]/gu, ""), 48)) || "Conversation";

const filesRead = (calls: readonly DemoCall[]): ReadFile[] =>
  calls.flatMap((call) => {
    const lines = call.name === "read_file" && !call.denied ? numberedLines(call.output) : undefined;
    return lines ? [{ path: String(call.args["path"]), lines, last: lastLine(call.output) }] : [];
  });

function findings(state: DemoState): string[] {
  const files = filesRead(state.calls);
  const ran = state.calls.filter((c) => c.name === "run_command" && !c.denied);
  const output = ran.map((c) => `\`${String(c.args["command"])}\` printed: ${shorten(c.output, 400) || "nothing"}`);
  if (files.length)
    return [
      `I read ${files.length === 1 ? "one file" : `${files.length} files`}:`,
      ...files.map((f) => `- ${gistOf(f)}`),
      ...output,
    ];
  return output.length ? output : ["I found no file to read about this."];
}

function written(state: DemoState, { target }: DemoPrompt): string[] {
  if (target === undefined) return [];
  const call = state.calls.find((c) => c.name === "write_file");
  if (!call) return [`I did not write ${target}.`];
  return call.denied || call.failed ? [] : [`I wrote ${target}.`];
}

/** What did not work, said first. */
function troubles(calls: readonly DemoCall[]): string[] {
  return calls.flatMap((call) => {
    const what = `${call.name}${typeof call.args["path"] === "string" ? ` of ${call.args["path"]}` : ""}`;
    if (call.denied) return [`${capital(what)} was not allowed, so I stopped there: ${shorten(call.output, 160)}`];
    const unread = call.name === "read_file" && !numberedLines(call.output);
    return call.failed || unread ? [`${capital(what)} did not work: ${shorten(call.output, 160) || "no output"}`] : [];
  });
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

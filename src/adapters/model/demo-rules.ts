/** The rules of the demo model: find, read, write what was asked for, answer. They see messages and tools, nothing else. */
import { fields, type Fields } from "./chat-usage.ts";
import { rankFiles } from "./demo-files.ts";
import { finalAnswer, plainAnswer, report, summaryAnswer, titleAnswer } from "./demo-text.ts";
import { readDemoMessage, promptsOf, stateOf, type DemoMessage, type DemoState } from "./demo-conversation.ts";
import { readPrompt, type DemoPrompt } from "./demo-prompt.ts";

export type DemoRequest = {
  messages: DemoMessage[];
  /** Names of the tools offered. */
  tools: string[];
  stream: boolean;
  includeUsage: boolean;
};
export type DemoAnswer = { text: string; calls: { name: string; args: { [key: string]: unknown } }[] };

/** Answers after the newest prompt, at most; the last one has no calls. */
const MAX_TURNS = 6;

/** Reads a request body; a sentence when it is none. */
export function readDemoRequest(body: Fields | undefined): DemoRequest | string {
  if (!body) return "The body is no JSON object.";
  if (!Array.isArray(body["messages"]) || !body["messages"].length) return "messages: expected a list of messages.";
  const messages = body["messages"].map(readDemoMessage);
  if (messages.includes(undefined)) return "messages: expected objects with a role.";
  const listed: unknown[] = Array.isArray(body["tools"]) ? body["tools"] : [];
  const names = listed.map((tool) => fields(fields(tool)?.["function"])?.["name"]);
  return {
    messages: messages as DemoMessage[],
    tools: body["tool_choice"] === "none" ? [] : names.filter((name) => typeof name === "string"),
    stream: body["stream"] === true,
    includeUsage: fields(body["stream_options"])?.["include_usage"] === true,
  };
}

/** The next answer. A function of the request alone; a call that was made since the prompt is never made again. */
export function demoAnswer(request: DemoRequest): DemoAnswer {
  const { messages, tools } = request;
  const last = messages.findLast((m) => m.role === "user")?.text ?? "";
  if (last.includes("[summary]")) return say(summaryAnswer(messages));
  const state = stateOf(messages);
  const prompt = readPrompt(state.prompt);
  if (!tools.length)
    return say(isTitleRequest(messages) ? titleAnswer(promptsOf(messages)) : plainAnswer(state, prompt));
  const denied = state.calls.some((c) => c.denied);
  if (denied || state.turns >= MAX_TURNS - 1) return say(finalAnswer(state, prompt));
  for (const step of [run, find, read, write]) {
    const calls = step(state, prompt, tools).filter((call) => !wasMade(state, call));
    if (calls.length) return { text: announce(calls), calls };
  }
  return say(state.calls.length ? finalAnswer(state, prompt) : plainAnswer(state, prompt));
}

type Calls = DemoAnswer["calls"];
type Step = (state: DemoState, prompt: DemoPrompt, tools: readonly string[]) => Calls;

const say = (text: string): DemoAnswer => ({ text, calls: [] });

const run: Step = (_, { command }, tools) =>
  command !== undefined && tools.includes("run_command") ? [{ name: "run_command", args: { command } }] : [];

/** What begins most files' own words: looked for when the prompt names nothing. */
const DEFINITIONS = "^(export|class|def|func|fn|pub|# )";

/** Both ways of looking at once, and only once. */
const find: Step = (state, prompt, tools) => {
  const { words, extensions, bySize, files, target, command } = prompt;
  if (state.calls.some((c) => c.name === "search_text" || c.name === "list_files")) return [];
  const asks = words.length || extensions.length || files.length || bySize || target || prompt.aboutFiles;
  if (command !== undefined || !asks) return [];
  const [extension, ...others] = extensions;
  const glob = extension !== undefined && !others.length ? { glob: `**/*.${extension}` } : {};
  const stems = files.map((f) => f.replace(/^.*[\\/]|\.[^.]*$/g, ""));
  const pattern = (words.length ? words : stems).map(anyCase).join("|") || DEFINITIONS;
  const calls: Calls = [];
  if (tools.includes("search_text")) calls.push({ name: "search_text", args: { pattern, ...glob } });
  if (tools.includes("list_files")) calls.push({ name: "list_files", args: glob });
  return calls;
};

const read: Step = (state, prompt, tools) => {
  if (!tools.includes("read_file") || state.calls.some((c) => c.name === "read_file")) return [];
  return rankFiles(state, prompt).map((path) => ({ name: "read_file", args: { path } }));
};

const write: Step = (state, prompt, tools) =>
  prompt.target !== undefined && tools.includes("write_file") && !state.calls.some((c) => c.name === "write_file")
    ? [{ name: "write_file", args: { path: prompt.target, content: report(state, prompt) } }]
    : [];

/** A pattern that finds a word however it is capitalized. */
const anyCase = (word: string): string =>
  word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\p{L}/gu, (letter) => {
    const upper = letter.toUpperCase();
    return upper === letter || upper.length !== 1 ? letter : `[${upper}${letter}]`;
  });

const wasMade = (state: DemoState, call: Calls[number]): boolean =>
  state.calls.some((c) => c.name === call.name && JSON.stringify(c.args) === JSON.stringify(call.args));

/** What it says before calls; a few words, so that there is something to see. */
function announce(calls: Calls): string {
  const targets = calls.map((c) => c.args["path"] ?? c.args["command"]).filter((t) => typeof t === "string");
  if (calls[0]!.name === "read_file") return `Reading ${targets.join(" and ")}.`;
  if (calls[0]!.name === "write_file") return `Writing ${targets.join("")}.`;
  return calls[0]!.name === "run_command" ? "Running the command." : "Looking for the files that matter.";
}

const isTitleRequest = (messages: readonly DemoMessage[]): boolean =>
  messages.some((m, i) => (m.role === "system" || i === messages.length - 1) && /\btitle\b/i.test(m.text));

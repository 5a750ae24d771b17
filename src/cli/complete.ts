/** `rcra __complete`: what may stand where the cursor is. It starts no model and reads no journal, only names of files. */
import { resolve } from "node:path";
import type { Argument, Command, Option } from "commander";
import { SessionFolder } from "../adapters/store/jsonl-folder.ts";
import { print } from "./output.ts";

/** What may stand there. `word` comes with a description, which may be empty. */
export type Completion =
  { kind: "words"; words: [word: string, description: string][] } | { kind: "files" | "folders" };

/** Sessions that are offered, newest first. */
const MOST = 50;

const nothing: Completion = { kind: "words", words: [] };

/** Prints the completion of some words, the last of which is the one at the cursor. */
export function completeCommand(program: Command, words: readonly string[]): void {
  let completion = nothing;
  try {
    completion = completionOf(program, words);
  } catch {
    // A shell that waits at a prompt cannot do anything with an error.
  }
  print(`${completion.kind}\n`);
  if (completion.kind === "words")
    for (const [word, description] of completion.words) print(`${word}\t${description.replace(/\s+/g, " ")}\n`);
}

/** What may stand where the last of the words is. */
export function completionOf(program: Command, given: readonly string[]): Completion {
  const line = read(program, given);
  const { command, current, option, prefix } = line;
  const matching = (completion: Completion): Completion =>
    completion.kind === "words"
      ? { kind: "words", words: startingWith(completion.words, current, prefix) }
      : completion;
  if (option) return matching(valuesOf(option, line.store));
  if (line.optionsEnded || !current.startsWith("-")) {
    if (command === program) return matching({ kind: "words", words: commandsOf(program) });
    const argument =
      command.registeredArguments[line.operands] ?? command.registeredArguments.findLast((a) => a.variadic);
    return argument ? matching(argumentOf(argument, line.store)) : nothing;
  }
  return matching({ kind: "words", words: optionsOf(command) });
}

type Line = {
  command: Command;
  /** The word at the cursor, as far as it is there; of `--name=value` the value. */
  current: string;
  /** What stands before `current` in the same word. */
  prefix: string;
  /** The option whose value `current` is. */
  option: Option | undefined;
  operands: number;
  optionsEnded: boolean;
  store: string;
};

/** Walks over the words as the parser would. Bash makes three words of `--name=value`. */
function read(program: Command, given: readonly string[]): Line {
  const words = given.at(-1) === "=" ? [...given.slice(0, -1), ""] : [...given];
  const last = words.pop() ?? "";
  const line: Line = {
    command: program,
    current: last,
    prefix: "",
    option: undefined,
    operands: 0,
    optionsEnded: false,
    store: ".rcra/sessions",
  };
  for (const word of words.filter((w) => w !== "=")) step(line, program, word);
  const inline = /^(--[\w-]+=)(.*)$/s.exec(last);
  if (!line.option && !line.optionsEnded && inline) {
    line.option = optionNamed(line.command, inline[1]!.slice(0, -1));
    [line.prefix, line.current] = [inline[1]!, inline[2]!];
  }
  return line;
}

function step(line: Line, program: Command, word: string): void {
  if (line.option) {
    if (line.option.long === "--store") line.store = word;
    line.option = undefined;
  } else if (word === "--") line.optionsEnded = true;
  else if (!line.optionsEnded && word.startsWith("-") && word !== "-") {
    const option = optionNamed(line.command, word);
    if (option?.required) line.option = option;
    if (word.startsWith("--store=")) line.store = word.slice(8);
  } else if (line.command === program) line.command = program.commands.find((c) => c.name() === word) ?? program;
  else line.operands++;
}

const optionNamed = (command: Command, name: string): Option | undefined =>
  command.options.find((o) => o.long === name || o.short === name);

const startingWith = (words: [string, string][], current: string, prefix: string): [string, string][] =>
  words.filter(([word]) => word.startsWith(current)).map(([word, description]) => [`${prefix}${word}`, description]);

const commandsOf = (program: Command): [string, string][] =>
  program
    .createHelp()
    .visibleCommands(program)
    .map((c) => [c.name(), firstSentence(c.description())]);

const optionsOf = (command: Command): [string, string][] =>
  command
    .createHelp()
    .visibleOptions(command)
    .flatMap((o) => (o.long ? [[o.long, o.description] as [string, string]] : []));

const firstSentence = (text: string): string => text.split(/(?<=\.) /, 1)[0]!;

/** By the name of its value, so that an option of any command is completed alike. */
function valuesOf(option: Option, store: string): Completion {
  if (option.argChoices) return choices(option.argChoices);
  switch (/<([\w-]+)/.exec(option.flags)?.[1]) {
    case "dir":
      return { kind: "folders" };
    case "file":
      return { kind: "files" };
    case "id":
      return sessionsIn(store);
    default:
      return nothing;
  }
}

function argumentOf(argument: Argument, store: string): Completion {
  if (argument.argChoices) return choices(argument.argChoices);
  return argument.name() === "session" ? sessionsIn(store) : nothing;
}

const choices = (words: readonly string[]): Completion => ({ kind: "words", words: words.map((word) => [word, ""]) });

/** Ids tell when a session was made: the greatest is the newest. */
function sessionsIn(store: string): Completion {
  const ids = new SessionFolder(resolve(store)).all("").map(({ id }) => id);
  return choices(ids.sort().reverse().slice(0, MOST));
}

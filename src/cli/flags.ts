/** Options that several commands have. */
import { InvalidArgumentError, Option, type Command } from "commander";
import type { Repeated } from "./going-on.ts";

/** Reads a whole number of at least so much. */
export const wholeNumber = (least: number) => (text: string) => {
  const n = Number(text);
  if (text.trim() === "" || !Number.isInteger(n) || n < least)
    throw new InvalidArgumentError(`Expected a whole number, ${least} or more.`);
  return n;
};

/** Reads a number of at least 0. */
export const positiveNumber = (text: string) => {
  const n = Number(text);
  if (text.trim() === "" || !Number.isFinite(n) || n < 0)
    throw new InvalidArgumentError("Expected a number, 0 or more.");
  return n;
};

/** Reads words that may not be empty. */
export const someText = (text: string) => {
  if (text.trim() === "") throw new InvalidArgumentError("Expected a word.");
  return text;
};

/** Collects the values of an option that may be given several times. */
export const repeatable = (value: string, before: string[] = []) => [...before, value];

export const withStore = (command: Command) =>
  command.option("--store <dir>", "the folder that holds the journals", ".rcra/sessions");

export const withServer = (command: Command) =>
  command
    .option("--model <name>", "the model to ask (default: gpt-5.2; without a key the demo model)")
    .option("--base-url <url>", "a server that speaks Chat Completions")
    .addOption(new Option("--api <name>", "what to speak to it (default: chat)").choices(["chat", "responses"]));

/** Options of the commands that run something. */
export const withModel = (command: Command) =>
  withServer(withStore(command))
    .option("--yes", "allow every call that asks")
    .addOption(
      new Option("--approvals <mode>", "what calls that ask meet without you").choices(["deny", "wait", "suspend"]),
    )
    .addOption(new Option("--json", "print the session's new records as NDJSON, and nothing else").conflicts("quiet"))
    .option("--partials", "with --json: live partials, too; they have no seq")
    .option("--quiet", "print the final answer only")
    .option("--no-color", "plain text");

/** Options of one run: what goes with the prompt, and how the model is asked. */
export const withRequest = (command: Command) =>
  command
    .option("--image <file>", "a picture that goes with the prompt; may be repeated", repeatable)
    .option("--file <file>", "a PDF, text or sound that goes with the prompt; may be repeated", repeatable)
    .option("--output-schema <file>", "a JSON Schema that the final answer must fit")
    .option("--thinking <level>", "how long the model thinks, in its provider's words, such as low or high", someText)
    .option("--max-output-tokens <n>", "the longest answer", wholeNumber(1))
    .option("--temperature <n>", "how freely the model chooses its words", positiveNumber);

const REPEATED = ["store", "baseUrl", "model", "api"];

/** What was given on this command line and matters to the next one. */
export const repeatedOf = (command: Command): Repeated => {
  const given = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === "cli");
  return Object.fromEntries(given.filter(([name]) => REPEATED.includes(name)));
};

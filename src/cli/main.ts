/** The `rcra` command. */
import { pathToFileURL } from "node:url";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { decideCommand } from "./decide.ts";
import { EXIT, EXIT_HELP } from "./exit-codes.ts";
import { reportProblem } from "./problem.ts";
import { runCommand } from "./run.ts";
import { sessionsCommand, showCommand } from "./sessions.ts";
import { VERSION } from "./version.ts";

const wholeNumber = (least: number) => (text: string) => {
  const n = Number(text);
  if (!Number.isInteger(n) || n < least) throw new InvalidArgumentError(`expected a whole number from ${least} on.`);
  return n;
};
const STORE = ".rcra/sessions";
const withStore = (command: Command) => command.option("--store <dir>", "where journals are", STORE);
const withModel = (command: Command) =>
  command
    .option("--model <name>", "the model to ask")
    .option("--base-url <url>", "any server that speaks Chat Completions")
    .option("--instructions <text>", "replaces the built-in instructions of new sessions")
    .option("--yes", "allow every call that asks")
    .addOption(new Option("--approvals <mode>", "what a call that asks meets").choices(["deny", "wait", "suspend"]))
    .option("--json", "print records as NDJSON, and nothing else")
    .option("--partials", "with --json: live partials too; they have no seq")
    .option("--quiet", "print the final answer only")
    .option("--no-color", "plain text");

function build(done: (code: number) => void): Command {
  const program = new Command("rcra")
    .description("Runs an LLM agent in this folder, as one explicit state machine with a journal.")
    .version(VERSION)
    .showHelpAfterError("(rcra --help, or rcra COMMAND --help, lists what there is)")
    .exitOverride()
    .addHelpText("after", EXIT_HELP);
  withModel(withStore(program.command("run").argument("[prompt...]", "what to do; read from stdin when piped in")))
    .description("Starts a session, or goes on with one.")
    .option("--deny", "deny every call that asks")
    .option("--resume <id>", "go on with this session; without a prompt, where it stopped")
    .option("--max-turns <n>", "turns of this run; -1 is unlimited", wholeNumber(-1))
    .option("--workspace <dir>", "the folder a new session works in", ".")
    .addHelpText("after", `\nExamples:\n  rcra run "what does this folder do?"\n  rcra run --resume ID\n${EXIT_HELP}`)
    .action(async (words: string[], flags, command: Command) =>
      done(await runCommand(words, { ...flags, storeGiven: command.getOptionValueSource("store") === "cli" })),
    );
  withModel(withStore(program.command("decide").argument("<session>").argument("<call...>")))
    .description("Answers approvals of a suspended session; the run goes on here once the last is decided.")
    .option("--allow", "let them run")
    .option("--deny", "do not")
    .option("--reason <text>", "what the model is told about it")
    .option("--respond <text>", "answer in the tool's place")
    .option("--args <json>", "with --allow: run it with these arguments instead")
    .addHelpText("after", EXIT_HELP)
    .action(async (id: string, calls: string[], flags, command: Command) =>
      done(await decideCommand(id, calls, { ...flags, storeGiven: command.getOptionValueSource("store") === "cli" })),
    );
  withStore(program.command("sessions"))
    .description("Lists sessions, newest first.")
    .option("--limit <n>", "how many", wholeNumber(1))
    .option("--json", "one object a line")
    .option("--no-color", "plain text")
    .action(async (flags) => done(await sessionsCommand(flags)));
  withStore(program.command("show").argument("<session>"))
    .description("Shows a session: what was said and done, and how its runs ended.")
    .option("--json", "its records as NDJSON")
    .option("--no-color", "plain text")
    .action(async (id: string, flags) => done(await showCommand(id, flags)));
  return program;
}

/** Runs the command line and leaves with its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : EXIT.failed));
  let code: number = EXIT.completed;
  try {
    await build((result) => (code = result)).parseAsync([...argv]);
  } catch (error) {
    if (error instanceof CommanderError) code = error.exitCode === 0 ? 0 : EXIT.usage;
    else code = reportProblem(error);
  }
  process.exitCode = code;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main(process.argv);

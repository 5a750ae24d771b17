/** The `rcra` command. Each command is loaded when it is called: help and mistakes are quick. */
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Argument, Command, CommanderError } from "commander";
import { EXIT, EXIT_HELP } from "./exit-codes.ts";
import { repeatedOf, wholeNumber, withModel, withRequest, withServer, withStore } from "./flags.ts";
import { guardOutput } from "./output.ts";
import { reportProblem } from "./problem.ts";
import { say } from "./say.ts";
import { VERSION } from "./version.ts";

/** Milliseconds after which a process that has done its work leaves, whatever a tool or a server still holds open. */
const LINGER_MS = 2_000;

const EXAMPLES = `
Examples:
  rcra run "what does this folder do?"
  rcra run "write a summary of src/ to notes.md" --yes
  git diff | rcra run "review this"       the piped text follows the prompt
  echo "list the open questions in TODO.md" | rcra run --quiet
  rcra run "what is on this picture?" --image shot.png
  rcra run "the authors of README.md" --output-schema authors.json --quiet > authors.out.json
  rcra run --resume ID                    go on where it stopped, also after a crash
  rcra run --resume ID "and now in French"
  rcra run "tidy up" --approvals suspend  park what asks; then: rcra decide ID CALL --allow

Environment: OPENAI_API_KEY, OPENAI_BASE_URL, NO_COLOR, FORCE_COLOR. \`rcra doctor\` looks whether all is well.
Ctrl-C cancels cleanly, a second one leaves at once.`;

const DOCTOR_HELP = `
Looks at: this Node, the key (which is never shown), the server and the model, the store, the workspace.

Examples:
  rcra doctor
  rcra doctor --base-url http://127.0.0.1:11434/v1 --model NAME --json

Exit codes: 0 all is well, warnings too; 1 something fails.`;

const COMPLETION_HELP = `
Examples:
  source <(rcra completion bash)       in ~/.bashrc
  source <(rcra completion zsh)        in ~/.zshrc, behind compinit
  rcra completion fish | source        in ~/.config/fish/config.fish`;

function addRun(program: Command, done: (code: number) => void): void {
  const run = program.command("run").argument("[prompt...]", "what to do; - reads it from stdin, as a pipe does");
  withRequest(withModel(run))
    .description("Starts a session, or goes on with one. Piped text is the prompt, or follows it.")
    .option("--deny", "deny every call that asks")
    .option("--resume <id>", "go on with this session; without a prompt, where it stopped")
    .option("--max-turns <n>", "turns of this run; -1 is no limit", wholeNumber(-1))
    .option("--workspace <dir>", "the folder a new session works in (default: this one)")
    .option("--instructions <text>", "replaces the built-in instructions of a new session")
    .addHelpText("after", `${EXAMPLES}\n${EXIT_HELP}`)
    .action(async (words, flags, command) => {
      const { runCommand } = await import("./run.ts");
      done(await runCommand(words, flags, repeatedOf(command)));
    });
}

function addDecide(program: Command, done: (code: number) => void): void {
  withModel(program.command("decide").argument("<session>").argument("<call...>"))
    .description("Answers approvals of a session. A suspended run goes on here once the last one is decided.")
    .option("--allow", "let the calls run")
    .option("--deny", "do not let them")
    .option("--respond <text>", "answer the model in the tool's place")
    .option("--reason <text>", "what the model is told about the decision")
    .option("--args <json>", "with --allow: run the call with these arguments instead")
    .addHelpText("after", `\nExample:\n  rcra decide ID CALL --deny --reason "not that file"\n${EXIT_HELP}`)
    .action(async (id, calls, flags, command) => {
      const { decideCommand } = await import("./decide.ts");
      done(await decideCommand(id, calls, flags, repeatedOf(command)));
    });
}

function addJournals(program: Command, done: (code: number) => void): void {
  withStore(program.command("replay").argument("<journal>", "a .jsonl file, or the id of a session"))
    .description("Feeds a journal's inputs to the machine, without model or tools, and compares what it announces.")
    .option("--all", "do not stop at the first difference: how a journal of another version would differ")
    .option("--json", "the report as one object")
    .option("--no-color", "plain text")
    .addHelpText("after", "\nExit codes: 0 the machine decides what is recorded, 1 it does not, 2 usage")
    .action(async (what, flags) => {
      const { replayCommand } = await import("./replay.ts");
      done(await replayCommand(what, flags));
    });
  withStore(program.command("fork").argument("<session>", "an id, or the beginning of one"))
    .description("Makes a session that begins as another one did, and prints its id.")
    .option("--at <seq>", "up to this record, and what was announced with it (default: all)", wholeNumber(1))
    .option("--id <id>", "what to call it (default: made up)")
    .option("--json", "one object")
    .action(async (what, flags, command) => {
      const { forkCommand } = await import("./fork.ts");
      done(await forkCommand(what, flags, repeatedOf(command)));
    });
}

function addDoctor(program: Command, done: (code: number) => void): void {
  withServer(withStore(program.command("doctor")))
    .description("Looks whether runs find what they need, and says how to mend what they do not.")
    .option("--workspace <dir>", "the folder to work in (default: this one)")
    .option("--json", "one object a line: check, status, says, mend")
    .option("--no-color", "plain text")
    .addHelpText("after", DOCTOR_HELP)
    .action(async (flags) => {
      const { doctorCommand } = await import("./doctor.ts");
      done(await doctorCommand(flags));
    });
}

function addCompletion(program: Command, done: (code: number) => void): void {
  const shell = new Argument("<shell>", "whose script").choices(["bash", "zsh", "fish"]);
  program
    .command("completion")
    .addArgument(shell)
    .description("Prints a script that lets the Tab key complete commands, options and session ids.")
    .addHelpText("after", COMPLETION_HELP)
    .action(async (name) => {
      const { completionCommand } = await import("./completion.ts");
      done(completionCommand(name));
    });
  program
    .command("__complete", { hidden: true })
    .argument("[words...]")
    .action(async (words) => {
      const { completeCommand } = await import("./complete.ts");
      completeCommand(program, words);
    });
}

function build(done: (code: number) => void): Command {
  const program = new Command("rcra")
    .description("Runs an LLM agent in this folder, as one explicit state machine with a journal.")
    .version(VERSION)
    .configureOutput({ outputError: (text) => say(usageLine(text)) })
    .exitOverride()
    .addHelpText("after", `${EXAMPLES}\n${EXIT_HELP}`);
  addRun(program, done);
  addDecide(program, done);
  addJournals(program, done);
  withStore(program.command("sessions"))
    .description("Lists sessions, newest first.")
    .option("--limit <n>", "how many (default: 50)", wholeNumber(1))
    .option("--json", "one object a line")
    .option("--no-color", "plain text")
    .addHelpText(
      "after",
      "\nExample:\n  rcra sessions --limit 5 --json\n\nExit codes: 0, or 1 when the store cannot be read.",
    )
    .action(async (flags) => {
      const { sessionsCommand } = await import("./sessions.ts");
      done(await sessionsCommand(flags));
    });
  withStore(program.command("show").argument("<session>", "an id, or the beginning of one"))
    .description("Shows a session: what was said and done, and how its runs ended.")
    .option("--json", "its records as NDJSON")
    .option("--no-color", "plain text")
    .addHelpText(
      "after",
      "\nExample:\n  rcra show ID --json\n\nExit codes: 0, or 1 for a session that is not there or broken.",
    )
    .action(async (id, flags, command) => {
      const { showCommand } = await import("./show.ts");
      done(await showCommand(id, flags, repeatedOf(command)));
    });
  addDoctor(program, done);
  addCompletion(program, done);
  return program;
}

/** Until a run takes them over: whoever wants to leave leaves, with the exit code of a cancelled command. */
function leaveOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => process.listenerCount(signal) > 1 || process.exit(EXIT.cancelled));
}

/** Runs a command line (`process.argv`) and leaves with its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  guardOutput();
  leaveOnSignals();
  process.on("uncaughtException", (error) => process.exit(reportProblem(error)));
  let code: number = EXIT.completed;
  try {
    await build((result) => (code = result)).parseAsync([...argv]);
  } catch (error) {
    code = error instanceof CommanderError ? (error.exitCode === 0 ? 0 : EXIT.usage) : reportProblem(error);
  }
  // An output that could not be written has set its own.
  process.exitCode ||= code;
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

/** A mistake as commander words it, in one line of ours. */
const usageLine = (text: string): string => {
  const mistake = text
    .replace(/^error: /, "")
    .replace(/\s+/g, " ")
    .trim();
  return `${mistake}${/[.?)]$/.test(mistake) ? "" : "."} \`rcra --help\` lists what there is.`;
};

const isEntry = (): boolean => {
  try {
    return realpathSync(process.argv[1] ?? "") === fileURLToPath(import.meta.url);
  } catch {
    return false;
  }
};
if (isEntry()) await main(process.argv);

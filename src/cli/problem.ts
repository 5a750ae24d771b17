/** What a person is told when a command cannot do its work: one line, what and how to mend it, and an exit code. */
import { AgentError } from "../core/errors.ts";
import { StoreError } from "../ports.ts";
import { EXIT } from "./exit-codes.ts";
import { say } from "./say.ts";

/** A mistake on the command line, or something that it names and that is not there, in one sentence. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly exitCode: number;
  constructor(message: string, exitCode: number = EXIT.usage) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Prints a failure to stderr, in one line, and returns the exit code that it means. */
export function reportProblem(error: unknown): number {
  if (error instanceof Problem) return (say(error.message), error.exitCode);
  if (error instanceof AgentError) return (say(inOneLine(error.message)), codeOf(error));
  if (error instanceof StoreError) return (say(inOneLine(error.message)), EXIT.failed);
  const message = error instanceof Error ? error.message : String(error);
  say(`${inOneLine(message)} (nobody expected this: RCRA_DEBUG=1 shows where it comes from)`);
  if (process.env["RCRA_DEBUG"] && error instanceof Error) say(error.stack ?? "");
  return EXIT.failed;
}

const codeOf = (error: AgentError): number => (error.code === "invalid_options" ? EXIT.usage : EXIT.failed);
const inOneLine = (message: string): string => message.replace(/\s*\n\s*/g, " ");

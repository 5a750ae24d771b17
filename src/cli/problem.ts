/** What a person is told when a command cannot do its work: one line, what and how to mend it, and an exit code. */
import { AgentError } from "../core/errors.ts";
import { StoreError } from "../ports.ts";
import { EXIT } from "./exit-codes.ts";

/** A mistake of the caller's, in one sentence. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly exitCode: number;
  constructor(message: string, exitCode: number = EXIT.usage) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Prints a failure to stderr and says which exit code it means. A stack is only for what nobody expected. */
export function reportProblem(error: unknown): number {
  const say = (message: string) => process.stderr.write(`rcra: ${message}\n`);
  if (error instanceof Problem) return (say(error.message), error.exitCode);
  if (error instanceof AgentError)
    return (say(error.message), error.code === "invalid_options" ? EXIT.usage : EXIT.failed);
  if (error instanceof StoreError) return (say(error.message), EXIT.failed);
  say(`unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return EXIT.failed;
}

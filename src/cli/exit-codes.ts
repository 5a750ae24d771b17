/** Exit codes of every command; they are documented in `--help` and stay as they are. */
import type { RunResult } from "../session/run.ts";

export const EXIT = {
  completed: 0,
  failed: 1,
  usage: 2,
  max_turns: 3,
  budget: 3,
  truncated: 3,
  blocked: 4,
  suspended: 5,
  cancelled: 130,
} as const;

/** The exit code that the ending of a run means. */
export const exitCodeOf = (result: Pick<RunResult, "status">): number => EXIT[result.status];

export const EXIT_HELP = `
Exit codes:
  0    completed
  1    failed: the model, the store, or something that was named and is not there
  2    usage: wrong options or arguments
  3    max_turns, budget or truncated
  4    blocked: the prompt was refused
  5    suspended: approvals wait for \`rcra decide\`
  130  cancelled`;

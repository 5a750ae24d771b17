/** `run_command`: a shell command in the workspace, with all the processes it starts. */
import type { ChildProcess } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import { z } from "zod";
import { lazily } from "../../core/lazy.ts";
import type { ToolContext } from "../../ports.ts";
import { placeIn } from "./workspace-paths.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const LONGEST_TIMEOUT_MS = 600_000;
/** Between asking a command to end and making it. */
const KILL_MS = 200;
/** How long to wait for the rest of the output when something in the background keeps it open. */
const DRAIN_MS = 100;
/** Characters kept of each end of the output. */
const KEPT = 500_000;

const input = lazily(() =>
  z.object({
    command: z.string().min(1).describe("Command line for sh, run in the workspace"),
    timeoutMs: z
      .number()
      .int()
      .min(1)
      .max(LONGEST_TIMEOUT_MS)
      .optional()
      .describe(`Milliseconds after which it is stopped, ${DEFAULT_TIMEOUT_MS} by default`),
  }),
);

/** Options of the tool, with the workspace of the session or a fixed one. */
export const runCommandTool = (root?: string) => ({
  description:
    "Runs a shell command in the workspace and returns its output, errors included. There is no input to give it. What it leaves in the background must redirect its output.",
  input,
  /** Its own limit is always the shorter one. */
  timeoutMs: LONGEST_TIMEOUT_MS + 10_000,
  execute: async (args: z.output<typeof input>, { signal, progress, session }: ToolContext) => {
    const { real } = placeIn(root ?? session.workspace, ".");
    signal.throwIfAborted();
    const output = new Output(progress);
    const ended = await run(args.command, real, output, args.timeoutMs ?? DEFAULT_TIMEOUT_MS, signal);
    const text = output.text();
    if (ended === "") return text;
    const report = text === "" || text.endsWith("\n") ? `${text}[${ended}]` : `${text}\n[${ended}]`;
    if (signal.aborted) throw new Error(report);
    return report;
  },
});

/** Runs the command to its end and says how it ended; nothing for an ordinary success. */
function run(command: string, cwd: string, output: Output, timeoutMs: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    // One pipe for both, so that errors stand where they happened. A group of its own, so that all of it can be stopped.
    // Loaded when the first command runs.
    const { spawn } = process.getBuiltinModule("node:child_process");
    const child = spawn("sh", ["-c", `exec 2>&1\n${command}`], {
      cwd,
      detached: true,
      env: withoutSecrets(process.env),
      stdio: ["ignore", "pipe", "ignore"],
    });
    let stopped: string | undefined;
    let killing: NodeJS.Timeout | undefined;
    let draining: NodeJS.Timeout | undefined;
    const stop = (why: string) => {
      if (stopped !== undefined) return;
      stopped = why;
      signalGroup(child, "SIGTERM");
      killing = setTimeout(() => signalGroup(child, "SIGKILL"), KILL_MS);
    };
    const onAbort = () => stop("stopped");
    const timer = setTimeout(() => stop(`stopped after ${timeoutMs} ms`), timeoutMs);
    const done = (finish: () => void) => {
      for (const each of [timer, killing, draining]) clearTimeout(each);
      signal.removeEventListener("abort", onAbort);
      // What ignored the polite request outlives its shell.
      if (stopped !== undefined) signalGroup(child, "SIGKILL");
      child.stdout.destroy();
      finish();
    };
    signal.addEventListener("abort", onAbort);
    child.stdout.on("data", (chunk: Buffer) => output.add(chunk));
    child.on("error", (error) => done(() => reject(new Error(`The command could not be started: ${error.message}`))));
    child.on("exit", (code, killer) => {
      const ended = () => done(() => resolve(stopped ?? howItEnded(code, killer)));
      child.on("close", ended);
      draining = setTimeout(ended, stopped === undefined ? DRAIN_MS : KILL_MS + DRAIN_MS);
    });
  });
}

function howItEnded(code: number | null, killer: NodeJS.Signals | null): string {
  if (killer !== null) return `killed by ${killer}`;
  return code === 0 ? "" : `exit code ${code}`;
}

function signalGroup(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, name);
  } catch {
    // All of it has ended already.
  }
}

const SECRET = /key|token|secret|password|passwd|credential|authorization/i;

/** The environment without whatever is called like a secret. */
export const withoutSecrets = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !SECRET.test(name)));

/** Output as it comes: told as progress, kept at both ends. */
class Output {
  readonly #progress: (value: unknown) => void;
  readonly #decoder = new StringDecoder("utf8");
  #head = "";
  #tail = "";
  #omitted = 0;

  constructor(progress: (value: unknown) => void) {
    this.#progress = progress;
  }

  add(chunk: Buffer): void {
    this.#take(this.#decoder.write(chunk));
  }

  text(): string {
    this.#take(this.#decoder.end());
    this.#trim(KEPT);
    const gap = this.#omitted > 0 ? `\n[${this.#omitted} characters of output were not kept]\n` : "";
    return this.#head + gap + this.#tail;
  }

  #take(text: string): void {
    if (text === "") return;
    this.#progress(text);
    const room = KEPT - this.#head.length;
    this.#head += text.slice(0, room);
    this.#tail += text.slice(room);
    // Not for every chunk: cutting copies.
    if (this.#tail.length > 2 * KEPT) this.#trim(KEPT);
  }

  #trim(length: number): void {
    const excess = this.#tail.length - length;
    if (excess <= 0) return;
    this.#tail = this.#tail.slice(excess);
    this.#omitted += excess;
  }
}

/** The real command as a child process, in a folder of its own. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { JournalRecord } from "../../src/core/event.ts";

export const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

export type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string };
export type Started = {
  child: ChildProcessWithoutNullStreams;
  /** What it has written so far. */
  stdout: string;
  stderr: string;
  /** Resolves as soon as the output has this in it. */
  says(what: RegExp): Promise<void>;
  ended: Promise<Ended>;
};
/** `open` input is never closed. */
export type Options = { env?: NodeJS.ProcessEnv; input?: string | Buffer; open?: boolean };

/** A workspace with files in it, and the command to run there. Gone when the test is over. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), "rcra-cli-"));
  readonly store = join(this.path, ".rcra/sessions");

  constructor(files: { [name: string]: string } = {}) {
    for (const [name, content] of Object.entries(files)) this.write(name, content);
    onTestFinished(() => rmSync(this.path, { recursive: true, force: true }));
  }

  write(name: string, content: string | Uint8Array): void {
    mkdirSync(dirname(join(this.path, name)), { recursive: true });
    writeFileSync(join(this.path, name), content);
  }

  /** Nothing when there is no such file. */
  read(name: string): string | undefined {
    const path = join(this.path, name);
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  }

  remove(name: string): void {
    rmSync(join(this.path, name), { recursive: true });
  }

  /** Runs to the end. Input is empty unless given. */
  rcra(args: readonly string[], options: Options = {}): Promise<Ended> {
    return this.start(args, options).ended;
  }

  /** Starts the command. Input is empty unless given. */
  start(args: readonly string[], { env = {}, input = "", open = false }: Options = {}): Started {
    const started = this.spawn(process.execPath, [MAIN, ...args], env);
    if (!open) started.child.stdin.end(input);
    return started;
  }

  /** Runs a line of shell in which `$RCRA` is the command. */
  sh(line: string, env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const started = this.spawn("sh", ["-c", line], { RCRA: `${process.execPath} ${MAIN}`, ...env });
    started.child.stdin.end();
    return started.ended;
  }

  /** Starts any program here, with nothing of the surroundings that could choose a model or a colour. */
  spawn(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Started {
    const { PATH, HOME, TMPDIR } = process.env;
    const NODE_COMPILE_CACHE = join(tmpdir(), "node-compile-cache");
    const child = spawn(program, args, { cwd: this.path, env: { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, ...env } });
    const wakes = new Set<() => void>();
    const started: Started = {
      child,
      stdout: "",
      stderr: "",
      says: (what) =>
        new Promise((resolve, reject) => {
          const look = () => {
            if (what.test(started.stdout + started.stderr)) resolve();
            else if (child.exitCode !== null)
              reject(new Error(`never said ${what}:\n${started.stdout}${started.stderr}`));
            else return;
            wakes.delete(look);
          };
          wakes.add(look);
          look();
        }),
      ended: new Promise((resolve, reject) => {
        child.on("error", reject);
        child.on("close", (code, signal) => {
          for (const wake of wakes) wake();
          resolve({ code, signal, stdout: started.stdout, stderr: started.stderr });
        });
      }),
    };
    for (const stream of ["stdout", "stderr"] as const)
      child[stream].setEncoding("utf8").on("data", (text: string) => {
        started[stream] += text;
        for (const wake of wakes) wake();
      });
    child.stdin.on("error", () => {});
    onTestFinished(() => void child.kill("SIGKILL"));
    return started;
  }

  /** Paths of all journals. */
  journals(): string[] {
    if (!existsSync(this.store)) return [];
    const names = readdirSync(this.store, { recursive: true, encoding: "utf8" });
    return names.filter((name) => name.endsWith(".jsonl")).map((name) => join(this.store, name));
  }

  /** The records of the only session. */
  records(): JournalRecord[] {
    return this.journals()
      .sort()
      .flatMap((path) => recordsOf(readFileSync(path, "utf8")));
  }

  /** The id of the only session. */
  id(): string {
    const [first] = this.records();
    if (first?.type !== "session.opened") throw new Error("there is no session yet");
    return first.id;
  }
}

/** Complete lines of NDJSON. `append` is the file's own mark of what was written together. */
export const recordsOf = (text: string): JournalRecord[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      const { append: _, ...record } = JSON.parse(line) as JournalRecord & { append?: unknown };
      return record as JournalRecord;
    });

export const ofType = <K extends JournalRecord["type"]>(records: readonly JournalRecord[], type: K) =>
  records.filter((r): r is Extract<JournalRecord, { type: K }> => r.type === type);

/** Looks again and again until there is something. */
export async function until<T>(look: () => T | false | undefined): Promise<T> {
  for (let waited = 0; waited < 15_000; waited += 20) {
    const found = look();
    if (found) return found;
    await setTimeout(20);
  }
  throw new Error(`waited in vain for ${look}`);
}

/** What went wrong, in the words of the command: its only line on stderr. */
export const onlyLine = ({ stderr }: Ended): string => {
  const lines = stderr.trim().split("\n");
  if (lines.length !== 1) throw new Error(`expected one line:\n${stderr}`);
  return lines[0]!;
};

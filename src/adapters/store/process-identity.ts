/** Who a process is, so that a lock can tell a living holder from a dead one and from a stranger with the same pid. */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/**
 * One process. `startedAt` is opaque and compared for equality only: boot id and start tick on Linux, what `ps` prints
 * elsewhere, absent where neither can be had. `pidSpace` is the namespace in which `pid` means something.
 */
export type ProcessIdentity = {
  pid: number;
  host: string;
  startedAt?: string | undefined;
  pidSpace?: string | undefined;
};

let self: ProcessIdentity | undefined;

/** This process. Computed once. */
export function thisProcess(): ProcessIdentity {
  self ??= {
    pid: process.pid,
    host: hostname(),
    startedAt: startOf(process.pid),
    pidSpace: linkOrUndefined("/proc/self/ns/pid"),
  };
  return self;
}

/**
 * Whether a process is known to be gone. `false` also for those that cannot be judged from here: on another host, or in
 * another pid namespace of the same boot. Those need a takeover by somebody who knows.
 */
export function isDead(other: ProcessIdentity): boolean {
  const me = thisProcess();
  if (other.host !== me.host) return false;
  if (differs(bootOf(other), bootOf(me))) return true;
  if (other.pidSpace !== me.pidSpace) return false;
  if (other.pid === me.pid) return differs(other.startedAt, me.startedAt);
  if (!exists(other.pid)) return true;
  const started = startOf(other.pid);
  return started === "zombie" || differs(started, other.startedAt);
}

/** What is not known proves nothing. */
const differs = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && a !== b;

/** Signal 0 asks without sending; a refusal means that somebody is there. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** The boot during which a process started; nothing where that is not known. */
const bootOf = ({ startedAt }: ProcessIdentity): string | undefined => /^(.+):\d+$/.exec(startedAt ?? "")?.[1];

function startOf(pid: number): string | undefined {
  if (process.platform === "linux") return linuxStartOf(pid);
  if (process.platform === "win32") return undefined;
  // Loaded here because few processes ever come by.
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const printed = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).stdout;
  return printed?.trim().replaceAll(":", ".") || undefined;
}

function linuxStartOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command name is in parentheses and may hold anything; fields are counted from behind it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return "zombie";
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}:${fields[19]}`;
  } catch {
    return undefined;
  }
}

function linkOrUndefined(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** `rcra doctor`: whether a run would find what it needs, and how to mend what it would not. */
import { existsSync, readdirSync, rmdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { systemIds } from "../adapters/system.ts";
import { StoreError, type Store } from "../ports.ts";
import { EXIT } from "./exit-codes.ts";
import { DEFAULT_MODEL, checkServer, type ModelFlags } from "./model-choice.ts";
import { print } from "./output.ts";
import { Problem } from "./problem.ts";
import { askServer } from "./server-check.ts";
import { printable, styleFor, type Style } from "./terminal.ts";
import { checkWorkspace, openStore, type StoreFlags } from "./workbench.ts";

/** One thing that was looked at. `warning` means that a run may work all the same. `mend` says what to do. */
export type Check = {
  check: "node" | "key" | "server" | "model" | "store" | "workspace";
  status: "ok" | "warning" | "failed";
  says: string;
  mend?: string;
};
type Flags = ModelFlags & StoreFlags & { workspace?: string; json?: boolean; color?: boolean };

/** The oldest Node that works, as `engines` in package.json says. */
const NODE = [22, 19] as const;

/** Prints each check as it is made. Resolves with the exit code: 1 when one of them failed. */
export async function doctorCommand(flags: Flags): Promise<number> {
  const style = styleFor(process.stdout, flags.color);
  let code: number = EXIT.completed;
  for await (const check of checks(flags)) {
    if (check.status === "failed") code = EXIT.failed;
    print(flags.json ? `${JSON.stringify(check)}\n` : linesOf(check, style));
  }
  return code;
}

async function* checks(flags: Flags): AsyncGenerator<Check, void, void> {
  yield nodeCheck(process.versions.node);
  yield* modelChecks(flags);
  yield await storeCheck(flags);
  yield workspaceCheck(flags.workspace ?? ".");
}

function linesOf({ check, status, says, mend }: Check, { green, yellow, red, dim }: Style): string {
  const mark = { ok: green("✓"), warning: yellow("!"), failed: red("✗") }[status];
  const advice = mend === undefined ? "" : `${" ".repeat(12)}${dim(printable(mend))}\n`;
  return `${mark} ${check.padEnd(9)} ${printable(says)}\n${advice}`;
}

/** Whether this Node is new enough. */
export function nodeCheck(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const says = `Node ${version}`;
  return major > NODE[0] || (major === NODE[0] && minor >= NODE[1])
    ? { check: "node", status: "ok", says }
    : { check: "node", status: "failed", says, mend: `Install Node ${NODE.join(".")} or newer, from nodejs.org.` };
}

/** The key is never shown, nor is a part of it. */
async function* modelChecks({ model = DEFAULT_MODEL, baseUrl }: ModelFlags): AsyncGenerator<Check, void, void> {
  let server: ReturnType<typeof checkServer>;
  try {
    server = checkServer(baseUrl);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const check = error.message.startsWith("OPENAI_API_KEY") ? "key" : "server";
    return yield { check, status: "failed", says: "cannot be used", mend: error.message };
  }
  const { named, key } = server;
  if (key !== undefined) yield { check: "key", status: "ok", says: "OPENAI_API_KEY is set" };
  else if (named !== undefined)
    yield { check: "key", status: "ok", says: "OPENAI_API_KEY is not set; the server is asked without one" };
  else {
    const mend = "Set OPENAI_API_KEY, or name a server that needs none with --base-url (or OPENAI_BASE_URL).";
    const says = "OPENAI_API_KEY is not set: runs use the demo model, which is no LLM";
    return yield { check: "key", status: "failed", says, mend };
  }
  yield* askServer({ model, baseURL: named });
}

/** Makes a session, writes to it, and removes it, and the folders that it took. */
async function storeCheck(flags: StoreFlags): Promise<Check> {
  const folder = resolve(flags.store);
  try {
    const store = openStore(flags);
    const made = missingFolders(folder);
    try {
      await probe(store);
    } finally {
      for (const path of made) removeEmpty(path);
    }
    return { check: "store", status: "ok", says: `${folder} can be written` };
  } catch (error) {
    if (!(error instanceof StoreError || error instanceof Problem)) throw error;
    const mend = "Make room there, mend the permissions, or name another folder with --store.";
    return { check: "store", status: "failed", says: error.message, mend };
  }
}

async function probe(store: Store): Promise<void> {
  const id = systemIds.next("probe");
  const at = Date.now();
  await store.create(id, { at, agent: "rcra" });
  try {
    const lease = await store.acquire(id, id, "if-free");
    const record = { v: 1, seq: 1, at, dir: "in", type: "title.generated", title: "rcra doctor" } as const;
    await store.release(await store.append(lease, [record]), { status: "idle" });
  } finally {
    await store.delete(id);
  }
}

/** A folder and those above it that do not exist, innermost first. */
function missingFolders(folder: string): string[] {
  const missing: string[] = [];
  for (let path = folder; !existsSync(path) && dirname(path) !== path; path = dirname(path)) missing.push(path);
  return missing;
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Somebody uses it by now.
  }
}

function workspaceCheck(path: string): Check {
  try {
    const folder = checkWorkspace(path);
    const { length } = readdirSync(folder);
    return { check: "workspace", status: "ok", says: `${folder} can be read${length ? "" : "; it is empty"}` };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { check: "workspace", status: "failed", says: error.message };
  }
}

/** `rcra sessions`: what is in the store. */
import { plural } from "../core/plural.ts";
import type { SessionInfo } from "../ports.ts";
import { EXIT } from "./exit-codes.ts";
import { print } from "./output.ts";
import { oneLine, shellWord, styleFor, type Style } from "./terminal.ts";
import { openStore, type StoreFlags } from "./workbench.ts";

const SHOWN = 50;

/** Lists sessions, newest first; with `--json` as the store describes them, one a line. Resolves with the exit code. */
export async function sessionsCommand(
  flags: StoreFlags & { json?: boolean; limit?: number; color?: boolean },
): Promise<number> {
  const limit = flags.limit ?? SHOWN;
  const found = await openStore(flags).list({ limit: limit + 1 });
  const sessions = found.slice(0, limit);
  if (flags.json) {
    for (const session of sessions) print(`${JSON.stringify(session)}\n`);
    return EXIT.completed;
  }
  const style = styleFor(process.stdout, flags.color);
  if (!sessions.length) print(`No sessions in ${flags.store} yet: rcra run "…" makes one.\n`);
  for (const session of sessions) print(`${lineOf(session, style)}\n`);
  if (found.length > limit) print(style.dim(`and older ones: rcra sessions --limit ${limit * 2}${storeFlag(flags)}\n`));
  return EXIT.completed;
}

const storeFlag = ({ store }: StoreFlags): string => (store === ".rcra/sessions" ? "" : ` --store ${shellWord(store)}`);

function lineOf({ id, updatedAt, status, lastRun, title, head }: SessionInfo, { bold, dim }: Style): string {
  const when = `${new Date(updatedAt).toISOString().slice(0, 16).replace("T", " ")}Z`;
  const state = status === "idle" && lastRun ? lastRun : status;
  return `${bold(id)}  ${dim(when)}  ${state.padEnd(11)}  ${title ? oneLine(title, 50) : dim(plural(head, "record"))}`;
}

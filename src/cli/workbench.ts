/** What commands work with: the store, a session in it, and an agent that the command line describes. */
import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import { jsonlStore } from "../adapters/store/jsonl.ts";
import { workspaceTools } from "../adapters/tools/workspace.ts";
import { createAgent, type Agent } from "../session/agent.ts";
import type { RunOptions } from "../session/options.ts";
import type { SessionInfo, Store } from "../ports.ts";
import { EXIT } from "./exit-codes.ts";
import { NOBODY_APPROVES } from "./going-on.ts";
import { chooseModel, type ModelFlags } from "./model-choice.ts";
import { Problem } from "./problem.ts";
import { say } from "./say.ts";

export type StoreFlags = { store: string };
export type AgentFlags = ModelFlags & { instructions?: string };
export type Workbench = { agent: Agent; modelName: string; close(): Promise<void> };

const INSTRUCTIONS = `You are a careful assistant that works in a folder of files. Look before you answer: search, list \
and read with the tools, several at once where they do not depend on each other. Change files or run commands only when \
the task asks for it. Answer briefly, and say what you did.`;

/** The journals that `--store` names. Nothing is made before there is something to write. @throws Problem for no name */
export function openStore({ store }: StoreFlags): Store {
  if (store === "") throw new Problem("--store wants the folder that holds the journals, such as .rcra/sessions.");
  return jsonlStore(store, { logger: { warn: say } });
}

/** An agent with the workspace tools. `defaults` hold for runs that begin by themselves, too. */
export async function openWorkbench(flags: AgentFlags, store: Store, defaults: RunOptions): Promise<Workbench> {
  const { model, name, close } = await chooseModel(flags);
  const agent = createAgent({
    name: "rcra",
    model,
    instructions: flags.instructions ?? INSTRUCTIONS,
    tools: { ...workspaceTools() },
    store,
    defaults,
    // The runtime's hint names options of its API; ours names flags.
    logger: { warn: (message) => void (NOBODY_APPROVES.test(message) || say(message)) },
  });
  return { agent, modelName: name, close };
}

/** The session that an id, or the beginning of only one, means. @throws Problem */
export async function findSession(store: Store, id: string): Promise<SessionInfo> {
  const found = id === "" ? [] : await store.list({ prefix: id });
  const exact = found.find((s) => s.id === id) ?? (found.length === 1 ? found[0] : undefined);
  if (exact) return exact;
  const some = found.slice(0, 5).map((s) => s.id);
  if (found.length > 1)
    throw new Problem(
      `${found.length} sessions begin with "${id}": ${some.join(", ")}${found.length > 5 ? ", …" : ""}. Give more of the id.`,
    );
  throw new Problem(
    `There is no session "${id}" in this store. \`rcra sessions\` lists what there is; --store names another store.`,
    EXIT.failed,
  );
}

/** The folder a session was made for, as its journal says; nothing when it has none. @throws Problem when it is gone */
export async function workspaceOf(store: Store, id: string): Promise<string | undefined> {
  for await (const [first] of store.read(id)) {
    const workspace = first?.type === "session.opened" ? first.workspace : undefined;
    return workspace === undefined ? undefined : checkWorkspace(workspace, `The workspace of ${id},`);
  }
  throw new Problem(`Session ${id} has an empty journal; begin a new one with rcra run "…".`, EXIT.failed);
}

/** The real folder behind a path. `what` begins the sentence. @throws Problem when it is no folder that can be read */
export function checkWorkspace(path: string, what = "--workspace"): string {
  const folder = resolve(path);
  try {
    if (!statSync(folder).isDirectory())
      throw new Problem(`${what} ${folder} is not a folder. Name the folder to work in.`);
    accessSync(folder, constants.R_OK | constants.X_OK);
    return folder;
  } catch (error) {
    if (error instanceof Problem) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "does not exist" : `cannot be read (${code})`;
    throw new Problem(`${what} ${folder} ${why}. It must be a folder that you may read.`);
  }
}

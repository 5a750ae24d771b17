/** What every command works with: an agent made of the command line, its store, and a model to ask. */
import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import { jsonlStore } from "../adapters/store/jsonl.ts";
import { workspaceTools } from "../adapters/tools/workspace.ts";
import { openai } from "../adapters/model/openai-chat.ts";
import { createAgent, type Agent } from "../session/agent.ts";
import type { RunOptions } from "../session/options.ts";
import type { ModelPort, SessionInfo } from "../ports.ts";
import { EXIT } from "./exit-codes.ts";
import { Problem } from "./problem.ts";

export type CommonOptions = { store: string; model?: string; baseUrl?: string; instructions?: string };

export type Workbench = {
  agent: Agent;
  modelName: string;
  /** The session that an id, or the beginning of one, means. @throws Problem */
  find(id: string): Promise<SessionInfo>;
  close(): Promise<void>;
};

const DEFAULT_MODEL = "gpt-5.2";
const INSTRUCTIONS = `You are a careful assistant that works in a folder of files. Look before you answer: search, list \
and read with the tools, several at once where they do not depend on each other. Change files or run commands only when \
the task asks for it. Answer briefly, and say what you did.`;

/** Makes the workbench. Without a key and without a base URL the demo model is started on this machine. */
export async function openWorkbench(
  options: CommonOptions,
  defaults: RunOptions,
  asksModel = true,
): Promise<Workbench> {
  const { model, close } = asksModel ? await chooseModel(options) : { model: noModel, close: async () => {} };
  const store = jsonlStore(options.store, {
    logger: { warn: (message) => process.stderr.write(`rcra: ${message}\n`) },
  });
  const agent = createAgent({
    name: "rcra",
    model,
    instructions: options.instructions ?? INSTRUCTIONS,
    tools: { ...workspaceTools() },
    store,
    defaults,
    logger: { warn: (message) => process.stderr.write(`rcra: ${message}\n`) },
  });
  return { agent, modelName: model.id, find: (id) => findSession(agent, id), close };
}

async function findSession(agent: Agent, id: string): Promise<SessionInfo> {
  const found = await agent.listSessions({ prefix: id });
  const exact = found.find((s) => s.id === id);
  if (exact) return exact;
  if (found.length === 1) return found[0]!;
  if (found.length > 1)
    throw new Problem(
      `${found.length} sessions begin with "${id}": ${found
        .slice(0, 5)
        .map((s) => s.id)
        .join(", ")}`,
    );
  throw new Problem(
    `There is no session "${id}" in this store. \`rcra sessions\` lists them; --store names another.`,
    EXIT.failed,
  );
}

/** Commands that only look never ask a model. */
const noModel: ModelPort = {
  id: "none",
  async *stream() {
    yield { type: "failed", failure: { class: "fatal", message: "This command asks no model." } };
  },
};

async function chooseModel(options: CommonOptions): Promise<{ model: ModelPort; close(): Promise<void> }> {
  const baseURL = options.baseUrl ?? process.env["OPENAI_BASE_URL"];
  if (process.env["OPENAI_API_KEY"] || baseURL) {
    const model = openai({ model: options.model ?? DEFAULT_MODEL, ...(baseURL ? { baseURL } : {}) });
    return { model, close: async () => {} };
  }
  const { startDemoModel } = await import("../adapters/model/demo.ts");
  const demo = await startDemoModel();
  process.stderr.write(
    "rcra: no OPENAI_API_KEY, so this is the demo model: fixed rules on this machine, not an LLM.\n" +
      "rcra: set OPENAI_API_KEY, or pass --base-url and --model, for a real one.\n",
  );
  const { apiKey, baseURL: demoURL, model: name } = demo;
  return { model: openai({ model: name, baseURL: demoURL, apiKey }), close: () => demo.close() };
}

/** The folder a new session works in. @throws Problem when it is not a folder that can be read */
export function checkWorkspace(path: string): string {
  const folder = resolve(path);
  try {
    if (!statSync(folder).isDirectory()) throw new Problem(`--workspace ${folder} is not a folder.`);
    accessSync(folder, constants.R_OK | constants.X_OK);
    return folder;
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(
      `--workspace ${folder} cannot be read (${(error as NodeJS.ErrnoException).code}). Name a folder you may read.`,
    );
  }
}

/** Real conversations from elsewhere, as other programs left them. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { OpenAIMessage } from "../../src/openai.ts";

const folder = fileURLToPath(new URL("../../../shared/data/traj/", import.meta.url));
const pi = `${folder}pi/before-compaction.openai.json`;
const tau = `${folder}tau-bench/gpt-4o-airline.json`;

/** Whether they are on this machine. */
export const haveHistories = existsSync(pi) && existsSync(tau);

const read = <T>(path: string): T => JSON.parse(readFileSync(path, "utf8")) as T;

export type Foreign = { name: string; messages: OpenAIMessage[] };

/** A session of a coding agent: 987 messages, about 412,000 tokens, with calls that were never answered. */
export const piSession = (): Foreign => ({ name: "pi", messages: read(pi) });

/** Dialogues of a customer service agent, with ids that are used again within a dialogue. */
export const tauDialogues = (): Foreign[] =>
  read<{ task_id: number; trial: number; traj: OpenAIMessage[] }[]>(tau).map((d) => ({
    name: `tau ${d.task_id}/${d.trial}`,
    messages: d.traj,
  }));

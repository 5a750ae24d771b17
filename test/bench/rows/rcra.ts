/** The package as a user has it: an agent, its session, and a model port that needs no time. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import {
  createAgent,
  jsonlStore,
  memoryStore,
  tool,
  type ModelPort,
  type Session,
  type Store,
  type ToolContext,
} from "../../../src/index.ts";
import { INSTRUCTIONS, PROMPT, TOOL, WORD, type Script, type StampArgs } from "../script.ts";
import type { Conversation, Host, HostOptions, Row } from "./row.ts";

export const rcraInMemory: Row = (script, options) => host(script, memoryStore(), options);

const folders = new Set<string>();
const removeFolder = (folder: string) => {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true });
};
process.on("exit", () => folders.forEach(removeFolder));

/** Journals go to a temporary folder, with the store's defaults: written at once, not flushed to the disk. */
export const rcraJsonl: Row = (script, options) => {
  const folder = mkdtempSync(join(tmpdir(), "rcra-bench-"));
  folders.add(folder);
  return host(script, jsonlStore(folder), options, () => removeFolder(folder));
};

/** Defined once, as in a program; the script comes as the live object of each session. */
const stamp = tool({
  description: "Stamps a turn.",
  input: z.object({ turn: z.number(), place: z.number(), note: z.string() }),
  readOnly: true,
  execute: (args: StampArgs, { context }: ToolContext<Script>) => context.stamp(args),
});

function host(script: Script, store: Store, options: HostOptions = {}, cleanUp: () => void = () => {}): Host {
  const agent = createAgent({
    model: modelOf(script),
    instructions: INSTRUCTIONS,
    tools: { [TOOL]: stamp },
    store,
    limits: { maxTurns: -1, ...options },
  });
  return {
    open: async () => conversation(script, await agent.createSession({ context: script })),
    async close() {
      await store.close?.();
      cleanUp();
    },
  };
}

const modelOf = (script: Script): ModelPort => ({
  id: "script",
  async *stream() {
    const { calls, words } = script.next();
    for (const { id, name, args } of calls)
      yield { type: "tool-call", key: id, wireId: id, name, delta: JSON.stringify(args) };
    for (let i = 0; i < words; i++) yield { type: "text", delta: WORD };
    yield { type: "finish", reason: calls.length > 0 ? "tool-calls" : "stop" };
  },
});

const conversation = (script: Script, session: Session): Conversation => ({
  async run() {
    await session.run(PROMPT).unwrap();
  },
  async watch() {
    const run = session.run(PROMPT);
    let handed = 0;
    for await (const event of run) {
      if (event.type !== "part.delta" || event.kind !== "text") continue;
      handed++;
      script.hear(event.delta);
    }
    await run.unwrap();
    return handed;
  },
  snapshot: () => JSON.stringify({ snapshot: session.actor.getPersistedSnapshot(), messages: session.messages() }),
});

/** What the benchmark compares. Each row plays a script with a loop of its own. */
import type { Script } from "../script.ts";

export const ROW_NAMES = ["hand-written", "bare-xstate", "rcra", "rcra-jsonl"] as const;
export type RowName = (typeof ROW_NAMES)[number];

/** Options that only some rows have a place for. */
export type HostOptions = { toolConcurrency?: number };

/** Makes conversations that all play one script. */
export type Host = { open(): Promise<Conversation>; close(): Promise<void> };

export type Conversation = {
  /** One run, from the prompt to the final answer, awaited. */
  run(): Promise<void>;
  /** The same, with somebody who reads it all; what is read goes to `script.hear`. Counts what it was handed. */
  watch(): Promise<number>;
  /** Everything needed to go on later, as JSON. */
  snapshot(): string;
};

export type Row = (script: Script, options?: HostOptions) => Host;

/** Loads only the row that is asked for, so that a process holds nothing of the others. */
export async function loadRow(name: RowName): Promise<Row> {
  switch (name) {
    case "hand-written":
      return (await import("./hand-written.ts")).handWritten;
    case "bare-xstate":
      return (await import("./bare-xstate.ts")).bareXstate;
    case "rcra":
      return (await import("./rcra.ts")).rcraInMemory;
    case "rcra-jsonl":
      return (await import("./rcra.ts")).rcraJsonl;
    default:
      return name satisfies never;
  }
}

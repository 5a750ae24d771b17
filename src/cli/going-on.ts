/** Tells a person what to do next: the commands that go on with a session, decide its calls, or allow what was denied. */
import type { ApprovalRequest } from "../core/call.ts";
import type { SessionEvent } from "../core/event.ts";
import { plural, verb } from "../core/plural.ts";
import type { RunResult } from "../session/run.ts";
import { say } from "./say.ts";
import { oneLine, shellWord } from "./terminal.ts";

/** How the runtime begins its hint about calls that nobody approved. */
export const NOBODY_APPROVES = /^A tool call was denied because nobody approves\b/;

/** Flags of this command that the next one needs, too: where the journals are, and which model to ask. */
export type Repeated = { store?: string; baseUrl?: string; model?: string; api?: string };

/** Advice about one session. */
export class GoingOn {
  readonly #id: string;
  readonly #flags: string;
  #hinted = false;

  constructor(id: string, repeated: Repeated) {
    this.#id = id;
    const { store, baseUrl, model, api } = repeated;
    const flags = Object.entries({ store, "base-url": baseUrl && withoutKeys(baseUrl), model, api });
    this.#flags = flags.map(([name, value]) => (value ? ` --${name} ${shellWord(value)}` : "")).join("");
  }

  /** The command that goes on with the session. */
  get resume(): string {
    return `rcra run --resume ${this.#id}${this.#flags}`;
  }

  /** What a person should hear while the run goes on. */
  see(event: SessionEvent): void {
    if (event.type !== "exchange.committed" || this.#hinted || !event.results.some((r) => r.by === "nobody")) return;
    this.#hinted = true;
    say("a call was denied because nobody is here to allow it: --yes allows, --approvals suspend asks for it later.");
  }

  /** The calls that wait, each with the command that allows it. */
  decide(pending: readonly ApprovalRequest[]): void {
    for (const { name, args, callId } of pending) {
      say(`  ${name} ${oneLine(JSON.stringify(args), 120)}`);
      say(`    rcra decide ${this.#id} ${shellWord(callId)} --allow${this.#flags}`);
    }
    say("  (--deny instead of --allow refuses; several call ids may be decided at once)");
  }

  /** Why a run did not complete, and how to go on. */
  end(result: RunResult): void {
    if (result.status !== "completed") say(sentence(result));
    if (result.status === "suspended") this.decide(result.pending ?? []);
    else if (result.status !== "completed" && result.status !== "blocked") say(`go on with: ${this.resume}`);
    if (result.undelivered.length) sayUndelivered(result.undelivered.length);
  }
}

/** An address, with a mark where its query holds a key: what is printed lands in logs. */
const withoutKeys = (address: string): string =>
  address.replace(/([?&][^=&#]*(?:key|token|secret|sig|auth)[^=&#]*=)[^&#]+/gi, "$1KEY");

function sayUndelivered(n: number): void {
  say(
    `${plural(n, "input")} ${verb(n, "waits", "wait")} for the next run; do not send ${verb(n, "it", "them")} again.`,
  );
}

const waiting = (n: number): string =>
  `${plural(n, "call")} ${verb(n, "waits", "wait")} for a decision; nothing of ${verb(n, "its", "their")} batch has run.`;

function sentence(result: RunResult): string {
  const because = result.reason ? `: ${result.reason}` : "";
  switch (result.status) {
    case "completed":
      return "completed.";
    case "suspended":
      return `suspended: ${waiting(result.pending?.length ?? 0)}`;
    case "cancelled":
      return `cancelled${because}.`;
    case "failed":
      return `failed (${result.error?.code ?? "internal"}): ${result.error?.message ?? "no reason was given."}`;
    case "max_turns":
      return `stopped: the limit of turns is reached (--max-turns); going on has a fresh limit.`;
    case "truncated":
      return "truncated: the answer was cut by the model's length limit.";
    case "blocked":
      return `blocked: the prompt was refused${because}.`;
    case "budget":
      return "stopped: the budget is spent; going on has a fresh one.";
    default:
      return result.status satisfies never;
  }
}

/** What a journal says besides the conversation: usage, memory, titles, how runs ended. One fold, any length. */
import { produce } from "immer";
import type { JournalRecord, OutputOf } from "../core/event.ts";
import type { Json } from "../core/message.ts";
import { textOf } from "../core/message.ts";
import { addUsage, type Usage } from "../core/usage.ts";
import type { Fold } from "./journal.ts";

/** Tokens by what they were spent on. `requests` counts the reports that the sums are made of. */
export type UsageReport = { total: Usage; requests: number; byPurpose: { turn: Usage; summary: Usage; title: Usage } };

const noUsage = (): UsageReport => ({ total: {}, requests: 0, byPurpose: { turn: {}, summary: {}, title: {} } });

export class Ledger implements Fold {
  /** Working memory; a new object with each change, so that whoever reads it keeps what it read. */
  memory: { readonly [key: string]: Json } = Object.create(null);
  title: string | undefined;
  opened: Extract<JournalRecord, { type: "session.opened" }> | undefined;
  /** The newest run: what it said and spent, and how it ended. */
  run: {
    id: string;
    usage: UsageReport;
    text: string;
    ended: OutputOf<"run.ended"> | null;
  } | null = null;
  usage = noUsage();
  readonly #answers = new Map<number, string>();
  #joins = false;

  append(r: JournalRecord): void {
    switch (r.type) {
      case "session.opened":
        this.opened = r;
        return;
      case "run.started":
        this.run = { id: r.runId, usage: noUsage(), text: "", ended: null };
        this.#joins = false;
        return;
      case "turn.started":
        this.#joins = r.continues === true;
        return;
      case "model.completed":
        this.#answers.set(r.seq, textOf(r.message.parts));
        this.#spend("turn", r.usage);
        return;
      case "model.failed":
        this.#spend("turn", r.usage);
        return;
      case "compaction.completed":
      case "compaction.failed":
        this.#spend("summary", r.usage);
        return;
      case "title.generated":
        this.title = r.title;
        this.#spend("title", r.usage);
        return;
      case "exchange.committed": {
        const said = this.#answers.get(r.message) ?? "";
        this.#answers.clear();
        if (this.run) this.run.text = this.#joins ? this.run.text + said : said;
        return;
      }
      case "memory.updated":
        this.memory = produce(this.memory, (memory: { [key: string]: Json }) => {
          if (r.value === undefined || r.value === null) delete memory[r.key];
          else memory[r.key] = r.value as Json;
        });
        return;
      case "run.ended":
        if (this.run?.id === r.runId) this.run.ended = r;
        return;
      default:
        return;
    }
  }

  #spend(purpose: keyof UsageReport["byPurpose"], usage: Usage | undefined): void {
    if (!usage) return;
    for (const report of this.run && !this.run.ended ? [this.usage, this.run.usage] : [this.usage]) {
      report.total = addUsage(report.total, usage);
      report.byPurpose[purpose] = addUsage(report.byPurpose[purpose], usage);
      report.requests++;
    }
  }
}

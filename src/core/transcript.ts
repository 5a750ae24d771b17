/** The transcript: everything that was said and done, folded from the records the machine accepted. Never rewritten. */
import type { CallResult, InputOf, JournalRecord } from "./event.ts";
import { invariant } from "./errors.ts";
import {
  text,
  textOf,
  type AssistantMessage,
  type AssistantPart,
  type ContentPart,
  type Message,
  type ToolMessage,
  type ToolResultPart,
  type UserKind,
  type UserMessage,
} from "./message.ts";
import { storedIn } from "./media.ts";
import { isCut, project, pushEntry, type Directive } from "./projection.ts";
import { WorkingState } from "./working-state.ts";

/** One thing of the transcript. An exchange is an assistant message with all its tool results: they come together. */
export type Entry =
  | { kind: "user"; seq: number; message: UserMessage }
  | { kind: "exchange"; seq: number; turn: number; message: AssistantMessage; results: ToolMessage | null };

type InputVerdict = InputOf<"inputs.reviewed">["verdicts"][number];
type StagedInput = { kind: UserKind; parts: ContentPart[] };

/**
 * An append-only fold of records. `append` costs the same at every length; `view` is kept in step and equals
 * `project(entries, directives)` after every record.
 */
export class Transcript {
  readonly entries: Entry[] = [];
  readonly directives: Directive[] = [];
  /** What the model is shown. The array grows in place: copy what you keep beyond a request. */
  view: Message[] = [];
  /** How many entries there were at the last full compaction; 0 when there was none. */
  compactedAt = 0;
  /** Task focus and open work. */
  readonly work = new WorkingState();
  /** Some message names a file of the session. */
  hasFiles = false;
  readonly #inbox = new Map<string, StagedInput>();
  /** What reviews said, until the machine says that it took it. */
  readonly #reviews = new Map<number, readonly InputVerdict[]>();
  readonly #feedback = new Map<string, ContentPart[]>();
  #history: { name: string; messages: readonly Message[] } | null = null;
  readonly #answers = new Map<number, AssistantMessage>();
  readonly #results = new Map<number, ContentPart[]>();
  readonly #failed = new Map<number, AssistantPart[]>();
  readonly #proposed = new Map<number, Directive>();

  /** Takes the next record; records of other kinds are passed over. */
  append(r: JournalRecord): void {
    this.work.append(r);
    switch (r.type) {
      case "input.received":
        if (!this.#inbox.has(r.id)) this.#inbox.set(r.id, { kind: kindOf(r.kind, r.steering), parts: r.parts });
        return;
      case "inputs.reviewed":
        this.#reviews.set(r.seq, r.verdicts);
        return;
      case "stop.reviewed":
        for (const f of r.feedback) this.#feedback.set(f.id, f.parts);
        return;
      case "input.withdrawn":
        for (const id of r.ids) this.#inbox.delete(id);
        return;
      case "input.refused":
        this.#inbox.delete(r.id);
        return;
      case "history.imported":
        this.#history = { name: `history.${r.seq}`, messages: r.messages };
        return;
      case "turn.started":
        if (r.continues)
          this.#say(r.seq, "continued", "Your answer was cut by the length limit. Go on exactly where it stopped.");
        this.#take(r);
        return;
      case "inputs.taken":
        this.#take(r);
        return;
      case "model.completed":
        this.#answers.set(r.seq, r.message);
        return;
      case "model.failed":
        this.#failed.set(r.seq, r.parts);
        return;
      case "attempt.started":
        if (r.retried !== undefined) this.#keepFailed(r.seq, "retried", r.retried);
        return;
      case "tool.settled":
        this.#results.set(r.seq, r.output);
        return;
      case "exchange.committed":
        this.#commit(r.seq, r.turn, r.message, r.results);
        return;
      case "run.ended":
        for (const id of r.withdrawn ?? []) this.#inbox.delete(id);
        if (r.aborted !== undefined) this.#keepFailed(r.seq, "aborted", r.aborted);
        return;
      case "compaction.completed":
        if (r.directive) this.#proposed.set(r.seq, r.directive);
        return;
      case "compaction.applied":
        this.#apply(r.directive);
        return;
      default:
        return;
    }
  }

  /** Every message, uncompacted. */
  messages(): Message[] {
    return this.entries.flatMap((e): Message[] =>
      e.kind === "exchange" && e.results ? [e.message, e.results] : [e.message],
    );
  }

  /** An accepted answer that is not committed yet. */
  answer(seq: number): AssistantMessage | undefined {
    return this.#answers.get(seq);
  }

  /** An input that is still in the inbox, with its parts. */
  waiting(id: string): readonly ContentPart[] | undefined {
    return this.#inbox.get(id)?.parts;
  }

  /** Inputs enter as their accepted reviews left them. */
  #take(r: { seq: number; inputs: readonly string[]; reviews?: number[] | undefined }): void {
    const verdicts = r.reviews?.flatMap((seq) => this.#reviews.get(seq) ?? []) ?? [];
    for (const id of r.inputs) {
      if (id === this.#history?.name) {
        for (const message of this.#history.messages) this.#import(r.seq, message);
        this.#history = null;
        continue;
      }
      const { kind, parts } = this.#input(id, verdicts);
      this.#push({ kind: "user", seq: r.seq, message: { id, role: "user", kind, parts } });
    }
    if (this.#inbox.size === 0) this.#reviews.clear();
  }

  #input(id: string, verdicts: readonly InputVerdict[]): StagedInput {
    const input = this.#inbox.get(id);
    this.#inbox.delete(id);
    const parts = verdicts.find((v) => v.id === id)?.parts;
    if (input) return parts ? { ...input, parts } : input;
    const feedback = this.#feedback.get(id);
    this.#feedback.delete(id);
    if (feedback) return { kind: "defer", parts: feedback };
    for (const v of verdicts)
      for (const [i, line] of (v.info ?? []).entries())
        if (id === `${v.id}.info${i}`) return { kind: "info", parts: [text(line)] };
    invariant(false, `input ${id} is taken while it waits`);
  }

  #commit(seq: number, turn: number, answerSeq: number, results: readonly CallResult[]): void {
    const message = this.#answers.get(answerSeq);
    invariant(message, `exchange ${seq} commits an answer of the journal`);
    const parts = results.map((r): ToolResultPart => {
      const output = r.text === undefined ? this.#results.get(r.seq) : [text(r.text)];
      invariant(output, `call ${r.callId} has a result`);
      return { type: "tool-result", callId: r.callId, name: r.name, status: r.status, output };
    });
    const toolMessage: ToolMessage | null = parts.length ? { id: `results-${seq}`, role: "tool", parts } : null;
    this.#push({ kind: "exchange", seq, turn, message, results: toolMessage });
    this.#answers.clear();
    this.#results.clear();
    this.#failed.clear();
  }

  #keepFailed(seq: number, kind: "retried" | "aborted", failedSeq: number): void {
    const said = textOf(this.#failed.get(failedSeq) ?? []);
    if (said) this.#say(seq, kind, said);
  }

  #say(seq: number, kind: UserKind, words: string): void {
    this.#push({
      kind: "user",
      seq,
      message: { id: `${kind}-${seq}`, role: "user", kind, parts: [text(words)] },
    });
  }

  #import(seq: number, message: Message): void {
    if (message.role === "user") this.#push({ kind: "user", seq, message });
    else if (message.role === "assistant") this.#push({ kind: "exchange", seq, turn: 0, message, results: null });
    else {
      const last = this.entries.at(-1);
      invariant(last?.kind === "exchange" && !last.results, "imported results follow their message");
      last.results = message;
      this.hasFiles ||= storedIn(message).length > 0;
      this.view.push(message);
    }
  }

  #push(entry: Entry): void {
    this.entries.push(entry);
    const said = entry.kind === "user" ? entry.message : entry.results;
    if (said && !this.hasFiles) this.hasFiles = storedIn(said).length > 0;
    pushEntry(this.view, entry);
  }

  #apply(seq: number): void {
    const directive = this.#proposed.get(seq);
    invariant(directive, `directive ${seq} was proposed before it is applied`);
    this.#proposed.clear();
    this.directives.push(directive);
    if (isCut(directive)) this.compactedAt = this.entries.length;
    this.view = project(this.entries, this.directives);
  }
}

/** The transcript that a whole journal tells. */
export function foldTranscript(records: Iterable<JournalRecord>): Transcript {
  const transcript = new Transcript();
  for (const record of records) transcript.append(record);
  return transcript;
}

const kindOf = (kind: "prompt" | "defer" | "info", steering?: boolean): UserKind =>
  kind === "prompt" && steering ? "steering" : kind;

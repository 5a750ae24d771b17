/** What holds after every event of every walk. Each law throws a sentence when it is broken. */
import type { InputOf, JournalRecord, OutputOf } from "../../src/core/event.ts";
import { callsOf } from "../../src/core/message.ts";
import { pairingFault } from "../../src/core/pairing.ts";
import { transient } from "../machine/reach.ts";
import type { Walk } from "../machine/walk.ts";

function must(holds: unknown, sentence: string): asserts holds {
  if (!holds) throw new Error(sentence);
}
type Rec<T extends JournalRecord["type"]> = Extract<JournalRecord, { type: T }>;

/** Watches one walk. Call `look` after each event. */
export class Laws {
  readonly #walk: Walk;
  #read = 0;
  #run: string | null = null;
  readonly #runs = new Set<string>();
  #turn = 0;
  #turnOpen = false;
  #phase: string | null = null;
  #exchanges = 0;
  readonly #committed = new Set<number>();
  /** Where each input is; checked against where the machine and the transcript have it. */
  readonly #inputs = new Map<string, "waiting" | "taken" | "gone">();
  /** Whose words are kept apart until a turn takes them: a review that came too late leaves no trace. */
  readonly #apart = new Set<string>();
  #before = "receive.idle";
  #history: { id: string; exchanges: number } | null = null;

  constructor(walk: Walk) {
    this.#walk = walk;
    this.#read = walk.records.length;
  }

  look(): void {
    const fresh = this.#walk.records.slice(this.#read);
    this.#read = this.#walk.records.length;
    for (const record of fresh) this.#follow(record);
    this.#phases();
    this.#onlyReceiveLeadsOut();
    this.#runIsOneThing();
    this.#nothingRunsUndecided();
    this.#effectsAreThoseOfTheState();
    this.#everyInputIsInOnePlace();
    const { transcript } = this.#walk;
    const fault = pairingFault(transcript.view) ?? pairingFault(transcript.messages());
    must(fault === undefined, `pairing: ${fault}`);
    const shown = transcript.entries.filter((entry) => entry.kind === "exchange").length;
    must(shown === this.#exchanges, "nothing of an exchange is visible before its commit");
    this.#before = this.#walk.state;
  }

  #follow(record: JournalRecord): void {
    switch (record.type) {
      case "run.started":
        must(this.#run === null, "a run starts while another is open");
        must(!this.#runs.has(record.runId), "a run starts once");
        this.#run = record.runId;
        this.#runs.add(record.runId);
        return;
      case "run.ended":
        must(this.#run === record.runId, "only the open run ends, once");
        this.#run = null;
        this.#turnOpen = false;
        for (const id of record.withdrawn ?? []) this.#leaves(id, "gone");
        return;
      case "turn.started":
        must(!this.#turnOpen, "at most one turn is open");
        must(record.turn === this.#turn + 1, "turns count up by one");
        this.#turn = record.turn;
        this.#turnOpen = true;
        for (const id of record.inputs) this.#leaves(id, "taken");
        return;
      case "inputs.taken":
        for (const id of record.inputs) this.#takes(id);
        return;
      case "exchange.committed":
        return this.#commits(record);
      default:
        return this.#input(record);
    }
  }

  #input(record: JournalRecord): void {
    switch (record.type) {
      case "history.imported":
        this.#history = {
          id: `history.${record.seq}`,
          exchanges: record.messages.filter((m) => m.role === "assistant").length,
        };
        return;
      case "input.received":
        must(!this.#inputs.has(record.id), "the walk names its inputs once");
        this.#inputs.set(record.id, "waiting");
        return;
      case "input.withdrawn":
        for (const id of record.ids) if (this.#inputs.get(id) === "waiting") this.#inputs.set(id, "gone");
        return;
      case "input.refused":
        return this.#leaves(record.id, "gone");
      case "inputs.reviewed":
        if (this.#before === "receive.admitting") this.#adds(record);
        return;
      case "stop.reviewed":
        if (this.#before !== "receive.closing") return;
        for (const f of record.feedback) {
          this.#inputs.set(f.id, "waiting");
          this.#apart.add(f.id);
        }
        return;
      default:
    }
  }

  #adds(record: InputOf<"inputs.reviewed">): void {
    for (const v of record.verdicts)
      if (v.refused === undefined && this.#inputs.get(v.id) === "waiting")
        v.info?.forEach((_, i) => {
          this.#inputs.set(`${v.id}.info${i}`, "waiting");
          this.#apart.add(`${v.id}.info${i}`);
        });
  }

  /** History is an input like others, named by its record. */
  #takes(id: string): void {
    if (id !== this.#history?.id) return this.#leaves(id, "taken");
    must(this.#run === null && this.#turn === 0, "history comes before the first run");
    this.#exchanges += this.#history.exchanges;
  }

  #leaves(id: string, to: "taken" | "gone"): void {
    must(this.#inputs.get(id) === "waiting", `input ${id} is ${this.#inputs.get(id)} and leaves the inbox again`);
    this.#inputs.set(id, to);
  }

  #commits(record: OutputOf<"exchange.committed"> & { seq: number }): void {
    must(this.#turnOpen && record.turn === this.#turn, "an exchange belongs to the open turn");
    this.#turnOpen = false;
    this.#exchanges++;
    must(!this.#committed.has(record.message), "an answer is committed once");
    this.#committed.add(record.message);
    const answer = this.#at(record.message, "model.completed");
    const calls = callsOf(answer.message.parts).map((c) => c.callId);
    must(String(calls) === String(record.results.map((r) => r.callId)), "one result per call, in call order");
    for (const result of record.results) {
      if (result.text !== undefined) continue;
      const outcome = this.#at(result.seq, "tool.settled");
      must(outcome.callId === result.callId && outcome.seq > answer.seq, "a result is of its own call, and not older");
    }
  }

  #at<T extends JournalRecord["type"]>(seq: number, type: T): Rec<T> {
    const record = this.#walk.records[seq - 1];
    must(record?.type === type, `record ${seq} is a ${type}`);
    return record as Rec<T>;
  }

  #phases(): void {
    for (const a of this.#walk.announced) {
      if (!("phase" in a)) continue;
      if (a.type === "phase.started") must(this.#phase === null, `${a.phase} starts within ${this.#phase}`);
      else must(this.#phase === a.phase, `${a.phase} ends without a start`);
      this.#phase = a.type === "phase.started" ? a.phase : null;
    }
    const [phase] = this.#walk.state.split(".");
    const expected = phase === "receive" || phase === "closed" ? null : phase;
    must(this.#phase === expected, `in ${this.#walk.state}, the open phase is ${this.#phase}`);
  }

  #onlyReceiveLeadsOut(): void {
    let from = this.#before;
    for (const to of this.#walk.trail) {
      const leaves = (to === "receive.idle" || to === "closed") && from !== to;
      must(!leaves || from.startsWith("receive."), `${from} leads to ${to}`);
      from = to;
    }
    must(!(transient as readonly string[]).includes(this.#walk.state), `nothing rests in ${this.#walk.state}`);
  }

  #runIsOneThing(): void {
    const { context, state } = this.#walk;
    must((context.run?.id ?? null) === this.#run, "a run is open until its run.ended");
    must((context.draft !== null) === this.#turnOpen, "a turn is open until its commit or its run's end");
    must(context.turn === this.#turn, "the machine counts the turns it announced");
    if (state === "receive.idle" || state === "closed") {
      must(context.ending === null, "at rest, no run is on its way out");
      must(context.run === null || context.run.parked, "at rest, a run is parked or over");
    } else if (!state.startsWith("compact.")) must(context.run !== null && !context.run.parked, "a run is active");
    if (state === "closed") must(context.run === null, "a closed session has no run");
  }

  #nothingRunsUndecided(): void {
    const calls = this.#walk.context.draft?.calls ?? [];
    const open = calls.some((c) => c.stage === "proposed" || c.stage === "asked");
    const running = calls.some((c) => c.stage === "running");
    must(!(open && running), "nothing of a batch runs before its last call is judged and decided");
    must(!running || this.#walk.state === "act.executing", "tools run in act.executing only");
  }

  #effectsAreThoseOfTheState(): void {
    const tools = (this.#walk.context.draft?.calls ?? []).filter((c) => c.stage === "running");
    const children = Object.keys(this.#walk.snapshot.children);
    const expected = tools.map((c) => `tool.${c.callId}`).sort();
    const actual = children.filter((id) => id.startsWith("tool.")).sort();
    must(String(actual) === String(expected), `running tools are ${expected}, their actors ${actual}`);
    const invoked = children.length - actual.length;
    const quiet = ["receive.idle", "act.executing", "closed"].includes(this.#walk.state);
    must(invoked === (quiet ? 0 : 1), `in ${this.#walk.state}, ${invoked} effects run`);
  }

  #everyInputIsInOnePlace(): void {
    const { context, transcript } = this.#walk;
    const inbox = context.inbox.map((i) => i.id);
    must(new Set(inbox).size === inbox.length, "an input waits once");
    const taken = transcript.entries.flatMap((entry) => (entry.kind === "user" ? entry.message.id : []));
    must(new Set(taken).size === taken.length, "an input is in the transcript once");
    for (const [id, place] of this.#inputs) {
      must(
        inbox.includes(id) === (place === "waiting"),
        `input ${id} is ${place}, in the inbox: ${inbox.includes(id)}`,
      );
      must(taken.includes(id) === (place === "taken"), `input ${id} is ${place}, transcript: ${taken.includes(id)}`);
      must(
        this.#apart.has(id) || (transcript.waiting(id) !== undefined) === (place === "waiting"),
        `input ${id} is ${place}, and the transcript keeps its words: ${transcript.waiting(id) !== undefined}`,
      );
    }
    must(
      inbox.every((id) => this.#inputs.has(id)),
      "nothing waits that nobody sent",
    );
  }
}

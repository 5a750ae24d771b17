/** A session driven by hand: the pure machine, its journal and its transcript, one event after the other. */
import { getMicrosteps, initialTransition, type SnapshotFrom } from "xstate";
import {
  sessionMachine,
  Transcript,
  type InputEvent,
  type JournalRecord,
  type OutputEvent,
} from "../../machines/index.ts";
import { compactionSettings, limits } from "../../src/core/limits.ts";
import type { SessionConfig } from "../../src/core/config.ts";
import { JOURNAL_VERSION, type LiveEvent, type Phase } from "../../src/core/event.ts";

export type Snapshot = SnapshotFrom<typeof sessionMachine>;
type Announced = OutputEvent | Extract<LiveEvent, { phase: Phase }>;
type Executed = { type: string; params?: unknown };

/** Settings of a session; what is not named has its default. */
export type Settings = {
  limits?: Partial<SessionConfig["limits"]>;
  compaction?: Partial<SessionConfig["compaction"]>;
  reviews?: Partial<SessionConfig["reviews"]>;
};
export const configOf = (s: Settings = {}): SessionConfig => ({
  limits: limits.parse(s.limits ?? {}),
  compaction: compactionSettings.parse(s.compaction ?? {}),
  reviews: { input: false, stop: false, ...s.reviews },
});

/** A state as a path: `act.executing`. */
export function pathOf(value: Snapshot["value"]): string {
  if (typeof value === "string") return value;
  const [[phase, inner]] = Object.entries(value) as [[string, string]];
  return `${phase}.${inner}`;
}

const at0 = { v: JOURNAL_VERSION, at: 0 } as const;

export class Walk {
  snapshot: Snapshot;
  readonly config: SessionConfig;
  readonly records: JournalRecord[] = [];
  readonly transcript = new Transcript();
  /** States passed through by the last event, the one it ended in included. */
  trail: readonly string[] = [];
  /** What the last event made the machine announce, phases included. */
  announced: readonly Announced[] = [];
  /** Effects that the last event started, stopped, and asked to stop; a tool has its call's id. */
  started: readonly string[] = [];
  stopped: readonly string[] = [];
  aborted: readonly string[] = [];

  constructor(settings?: Settings) {
    this.config = configOf(settings);
    [this.snapshot] = initialTransition(sessionMachine, { id: "s", config: this.config });
    this.#record("in", {
      type: "session.opened",
      id: "s",
      agent: "a",
      instructions: "",
      tools: [],
      config: this.config,
    });
  }

  get state(): string {
    return pathOf(this.snapshot.value);
  }
  get context(): Snapshot["context"] {
    return this.snapshot.context;
  }
  /** `seq` of the newest record. */
  get head(): number {
    return this.records.length;
  }
  /** Types of what the last event made the machine announce. */
  get said(): readonly string[] {
    return this.announced.map((a) => ("phase" in a ? `${a.type} ${a.phase}` : a.type));
  }

  /** Feeds events in order. A closed session takes none but `session.resumed`, as its runtime sees to it. */
  feed(...events: readonly InputEvent[]): this {
    for (const event of events) this.#take(event);
    return this;
  }

  #take(event: InputEvent): void {
    this.trail = this.announced = this.started = this.stopped = this.aborted = [];
    if (this.snapshot.status !== "active") {
      if (event.type !== "session.resumed") return;
      this.snapshot = sessionMachine.resolveState({ value: { receive: "idle" }, context: this.context }) as Snapshot;
    }
    this.#record("in", event);
    const steps = getMicrosteps(sessionMachine, this.snapshot, { ...event, seq: this.head } as never);
    this.snapshot = steps.at(-1)![0];
    this.trail = steps.map(([step]) => pathOf(step.value));
    this.#note(steps.flatMap(([, actions]) => actions as readonly Executed[]));
    for (const a of this.announced) if (!("phase" in a)) this.#record("out", a);
  }

  #note(actions: readonly Executed[]): void {
    const of = <T>(type: string, read: (params: any) => T): T[] =>
      actions.filter((a) => a.type === type).map((a) => read(a.params));
    this.announced = of("xstate.emit", (p) => p.event as Announced);
    this.started = of("xstate.spawnChild", (p) => (p.src === "runTool" ? p.input.call.callId : p.src) as string);
    this.stopped = of("xstate.stopChild", (p) => p.id as string);
    this.aborted = of("xstate.sendTo", (p) => p.to.id as string);
  }

  #record(dir: "in" | "out", event: InputEvent | OutputEvent): void {
    const record = { ...at0, seq: this.head + 1, dir, ...event } as JournalRecord;
    this.records.push(record);
    this.transcript.append(record);
  }

  /** The newest record of a type. */
  last<T extends JournalRecord["type"]>(type: T): Extract<JournalRecord, { type: T }> | undefined {
    return this.records.findLast((r) => r.type === type) as never;
  }
}

/**
 * The event vocabulary: every record a journal can hold, and the partials that are live only.
 * Schemas are for reading (journals, outside input); live events are typed, not parsed.
 */
import { z } from "zod";
import { approvalRequest, output, reviewedCall, settledDecision } from "./call.ts";
import { runOptions, sessionConfig } from "./config.ts";
import { directive } from "./projection.ts";
import { failure } from "./failure.ts";
import { assistantMessage, assistantPart, contentPart, message, resultStatus } from "./message.ts";
import { usage } from "./usage.ts";
import { lazily, lazySchemas } from "./lazy.ts";

/** Version of the record format. A journal of a newer one is refused untouched. */
export const JOURNAL_VERSION = 1;

const inputKind = lazily(() => z.enum(["prompt", "defer", "info"]));
export type InputKind = z.infer<typeof inputKind>;
const ids = lazily(() => z.array(z.string()));

/** Facts that the machine is fed. One schema per event, keyed by its type. */
export const inputEvents = lazySchemas({
  "session.opened": () =>
    z.object({
      id: z.string(),
      agent: z.string(),
      instructions: z.string(),
      tools: ids,
      config: sessionConfig,
      workspace: z.string().optional(),
      metadata: z.any().optional(),
      forkedFrom: z.object({ id: z.string(), seq: z.number() }).optional(),
    }),
  "session.resumed": () => z.object({ config: sessionConfig, drift: ids }),
  "input.received": () =>
    z.object({
      id: z.string(),
      kind: inputKind,
      parts: z.array(contentPart),
      /** Arrived while a run was active: shown as steering. */
      steering: z.boolean().optional(),
      /** Only this run may take it. */
      forRun: z.string().optional(),
    }),
  "input.withdrawn": () => z.object({ ids }),
  "inputs.reviewed": () =>
    z.object({
      verdicts: z.array(
        z.object({
          id: z.string(),
          refused: z.string().optional(),
          parts: z.array(contentPart).optional(),
          info: z.array(z.string()).optional(),
        }),
      ),
    }),
  "mode.changed": () => z.object({ mode: z.string() }),
  "cancel.requested": () =>
    z.object({
      runId: z.string().optional(),
      reason: z.string().optional(),
      clearInbox: z.boolean().optional(),
    }),
  "compaction.requested": () => z.object({ mode: z.enum(["summarize", "discard"]).optional() }),
  "run.requested": () =>
    z.object({
      runId: z.string(),
      options: runOptions,
      /** Inputs that came with this request. */
      inputs: ids.optional(),
      /** Goes on with what is there instead of bringing something new. */
      continued: z.boolean().optional(),
      /** Its signal had aborted before it began. */
      cancelled: z.object({ reason: z.string().optional() }).optional(),
    }),
  "close.requested": () => z.object({}),
  "history.imported": () => z.object({ messages: z.array(message), tokens: z.number() }),
  "request.prepared": () =>
    z.object({
      /** Hash of the pinned catalogue and of the text that middleware contributed. */
      catalogue: z.string(),
      tools: ids,
      /** Estimated tokens of instructions, contributions and tool schemas. */
      tokens: z.number(),
      /** Nothing contributes and no tools change: it holds for the rest of the run. */
      stable: z.boolean().optional(),
    }),
  "model.completed": () =>
    z.object({
      message: assistantMessage,
      finishReason: z.enum(["stop", "length", "tool-calls"]),
      usage: usage.optional(),
      model: z.string().optional(),
    }),
  "model.failed": () =>
    z.object({
      failure,
      /** What had been produced: shown to the model again, never executed. */
      parts: z.array(assistantPart),
      usage: usage.optional(),
    }),
  "calls.reviewed": () => z.object({ calls: z.array(reviewedCall) }),
  "approval.settled": () =>
    z.object({
      decisions: z.array(settledDecision),
      /** The run's own approver has had its say; what it left out meets `approvals.unanswered`. */
      answered: z.boolean().optional(),
    }),
  "tool.settled": () =>
    z.object({
      callId: z.string(),
      name: z.string(),
      status: resultStatus,
      output,
      /** Who ended it when it was not the tool: `timeout`, `cancel`, `store`. */
      by: z.string().optional(),
    }),
  "compaction.completed": () =>
    z.object({
      /** Absent: nothing could be freed. */
      directive: directive.optional(),
      /** Estimated tokens of the new view, without instructions and tools. */
      tokens: z.number(),
      usage: usage.optional(),
    }),
  "compaction.failed": () =>
    z.object({
      message: z.string(),
      /** Of every attempt: what came to nothing costs the same. */
      usage: usage.optional(),
    }),
  "stop.reviewed": () =>
    z.object({
      feedback: z.array(z.object({ id: z.string(), parts: z.array(contentPart) })),
      /** Why the answer does not fit the run's output schema; without `feedback` it is not asked for again. */
      invalid: z.string().optional(),
    }),
  "timer.elapsed": () => z.object({ timer: z.string() }),
  "store.failed": () =>
    z.object({ message: z.string(), /** Somebody else writes now. */ fenced: z.boolean().optional() }),
  "focus.updated": () => z.object({ patch: z.any() }),
  "memory.updated": () => z.object({ key: z.string(), value: z.any() }),
  "title.generated": () => z.object({ title: z.string(), usage: usage.optional() }),
  "task.opened": () => z.object({ taskId: z.string(), label: z.string() }),
  "task.settled": () => z.object({ taskId: z.string() }),
  "subagent.opened": () => z.object({ sessionId: z.string(), callId: z.string() }),
});

/** How a run ended. `suspended` is a result status only: a suspended run has not ended. */
export const runStatus = lazily(() =>
  z.enum(["completed", "cancelled", "failed", "max_turns", "truncated", "blocked", "budget"]),
);
export type RunStatus = z.infer<typeof runStatus>;

export const callResult = lazily(() =>
  z.object({
    callId: z.string(),
    name: z.string(),
    status: resultStatus,
    /** The record that this result comes from: of the tool, or of what stood in its way. */
    seq: z.number(),
    by: z.string().optional(),
    /** The text the model reads, when no `tool.settled` has it. */
    text: z.string().optional(),
  }),
);
export type CallResult = z.infer<typeof callResult>;

export const runError = lazily(() => z.object({ code: z.string(), message: z.string(), retryable: z.boolean() }));

/** What the machine announces. */
export const outputEvents = lazySchemas({
  "run.started": () => z.object({ runId: z.string(), options: runOptions, continued: z.boolean().optional() }),
  "run.waiting": () => z.object({ tasks: ids, waitMs: z.number() }),
  "run.woken": () => z.object({ reason: z.enum(["input", "task", "timeout"]) }),
  "run.suspended": () => z.object({ runId: z.string(), turns: z.number(), pending: z.array(approvalRequest) }),
  "run.ended": () =>
    z.object({
      runId: z.string(),
      status: runStatus,
      turns: z.number(),
      reason: z.string().optional(),
      error: runError.optional(),
      /** Inputs still in the inbox; the next run delivers them. */
      undelivered: ids,
      /** Inputs taken out of the inbox unseen. */
      withdrawn: ids.optional(),
      openTasks: ids.optional(),
      /** The `model.failed` whose partial answer the user saw. */
      aborted: z.number().optional(),
    }),
  "turn.started": () =>
    z.object({
      turn: z.number(),
      inputs: ids,
      /** Reviews that these inputs passed, by record. */ reviews: z.array(z.number()).optional(),
      continues: z.boolean().optional(),
    }),
  "inputs.taken": () => z.object({ inputs: ids, reviews: z.array(z.number()).optional() }),
  "input.refused": () => z.object({ id: z.string(), reason: z.string() }),
  "attempt.started": () =>
    z.object({
      turn: z.number(),
      attempt: z.number(),
      retried: z.number().optional(),
      /** The model that stands in for one that failed. */
      prefer: z.string().optional(),
    }),
  "attempt.discarded": () =>
    z.object({
      turn: z.number(),
      attempt: z.number() /** The `model.failed` that holds what was shown. */,
      failed: z.number(),
    }),
  "approval.requested": () => z.object({ requests: z.array(approvalRequest) }),
  "tool.started": () =>
    z.object({
      callId: z.string(),
      name: z.string(),
      args: z.any(),
      via: z.string().optional(),
    }),
  "exchange.committed": () => z.object({ turn: z.number(), message: z.number(), results: z.array(callResult) }),
  "compaction.started": () =>
    z.object({
      reason: z.enum(["context", "turns", "manual", "overflow"]),
      kind: z.enum(["elide", "summarize", "discard"]),
    }),
  "compaction.applied": () => z.object({ directive: z.number(), kind: z.enum(["elide", "summarize", "discard"]) }),
  "wake.requested": () => z.object({ inputs: ids }),
  "session.closed": () => z.object({}),
  checkpoint: () => z.object({ state: z.any() }),
});

/** For readers only; the machine never sees them. */
export const noteEvents = lazySchemas({
  "tool.late": () => z.object({ callId: z.string(), name: z.string(), outcome: z.enum(["ok", "failed"]) }),
  /** A file that was read before a compaction could not be read again for the view after it. */
  "reread.skipped": () => z.object({ tool: z.string(), path: z.string(), message: z.string() }),
  "middleware.failed": () => z.object({ middleware: z.string(), hook: z.string(), message: z.string() }),
});

/** zod reads an object without fields as "nothing may be in it", the type tag included. */
type Fields<T> = T extends Record<string, never> ? unknown : T;
type EventsOf<T extends { readonly [name: string]: z.ZodType }> = {
  [K in keyof T & string]: { type: K } & Fields<z.infer<T[K]>>;
}[keyof T & string];

/** An input event before the journal has given it a place. */
export type InputEvent = EventsOf<typeof inputEvents>;
export type OutputEvent = EventsOf<typeof outputEvents>;
export type NoteEvent = EventsOf<typeof noteEvents>;
export type InputOf<K extends InputEvent["type"]> = Extract<InputEvent, { type: K }>;
export type OutputOf<K extends OutputEvent["type"]> = Extract<OutputEvent, { type: K }>;

export type Phase = "compact" | "reason" | "act";

/** Live only, never written: derived from the state, or too many to keep. */
export type LiveEvent =
  | { type: "phase.started" | "phase.ended"; phase: Phase }
  | { type: "part.started"; partId: string; kind: PartKind; turn: number; attempt: number; name?: string }
  | { type: "part.delta"; partId: string; kind: PartKind; delta: string }
  | { type: "part.ended"; partId: string; kind: PartKind }
  | { type: "tool.progress"; callId: string; name: string; progress: unknown };
export type PartKind = "text" | "thinking" | "tool-call";

/** Where and when a record stands. `seq` is dense per session and starts at 1; `at` is milliseconds since 1970. */
export const envelope = lazily(() =>
  z.object({
    v: z.number(),
    seq: z.number().int().positive(),
    at: z.number(),
    dir: z.enum(["in", "out", "note"]),
    type: z.string(),
    runId: z.string().optional(),
    turn: z.number().optional(),
    attempt: z.number().optional(),
    origin: z.any().optional(),
  }),
);
export type Envelope = z.infer<typeof envelope>;

/** One line of a journal. */
export type JournalRecord = Envelope & (InputEvent | OutputEvent | NoteEvent);
/** An input as the machine takes it. */
export type Taken<E extends InputEvent = InputEvent> = E & { seq: number };
/** What a reader of a run or a session gets: records and, between them, partials. */
export type SessionEvent = JournalRecord | (LiveEvent & { live: true });

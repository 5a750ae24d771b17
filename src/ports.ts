/**
 * The ports: everything the runtime needs from outside, each with its contract. Adapters implement them.
 * Ports never throw for an expected failure; where a failure can be expected, it is a value or a typed rejection.
 */
import type { Failure } from "./core/failure.ts";
import type { Json, ContentPart, Message } from "./core/message.ts";
import type { JournalRecord, RunStatus } from "./core/event.ts";
import type { OnUnknown } from "./core/call.ts";
import type { Usage } from "./core/usage.ts";

/** A JSON Schema document (draft 2020-12 or 7). */
export type JsonSchema = { [key: string]: Json };

/* ---------------------------------------------------------------- model */

/** Settings of a model request; adapters map what their provider has and ignore nothing silently: see `extra`. */
export type ModelSettings = {
  maxOutputTokens?: number;
  temperature?: number;
  toolChoice?: "auto" | "none" | "required" | { name: string };
  parallelToolCalls?: boolean;
  thinkingLevel?: string;
  /** Copied into the request body as it is. */
  extra?: { [key: string]: Json };
};

/** The shape of a structured answer. */
export type OutputSpec = { name: string; schema: JsonSchema };

/** A direct tool as a model sees it. */
export type ToolSpec = { name: string; description: string; parameters: JsonSchema };

/**
 * One request. `messages` is the live view: it does not change before the request settles, and must be copied by whoever
 * keeps it longer.
 */
export type ModelRequest = {
  instructions: string;
  messages: readonly Message[];
  tools: readonly ToolSpec[];
  settings: ModelSettings;
  /** The shape that the final text must have, for ports whose `structured` is true; others are never given one. */
  output?: OutputSpec;
  /** What the attempt before it named in `failure.next`: the model to begin with. */
  prefer?: string;
  /** `turn` answers the user; `summary` and `title` are side requests. */
  purpose: "turn" | "summary" | "title";
  sessionId: string;
};

/**
 * What a model streams. Text or thinking joins the open part of its kind unless `key` differs from the last one. All
 * chunks of one tool call share a `key`; `name` may come in any of them, `delta` is argument text and may be empty.
 * A stream is complete only when it has yielded `finish`; ending without it is a `malformed` failure.
 */
export type ModelChunk =
  | { type: "text"; delta: string; key?: string; opaque?: { provider: string; data: Json } }
  | { type: "thinking"; delta: string; key?: string; opaque?: { provider: string; data: Json } }
  | {
      type: "tool-call";
      key: string;
      wireId?: string;
      name?: string;
      delta: string;
      opaque?: { provider: string; data: Json };
    }
  | { type: "usage"; usage: Usage }
  | { type: "finish"; reason: "stop" | "length" | "tool-calls"; model?: string }
  | { type: "failed"; failure: Failure };

/**
 * A model. `stream` yields chunks until `finish` or `failed`; a throw is treated as `fatal`. It stops soon after `signal`
 * aborts, but nobody waits for that. Retries, timeouts and tool execution are not its business.
 */
export type ModelPort = {
  /** Such as `openai/gpt-5.2`; for people and records. */
  readonly id: string;
  /** Tokens it can read, when known. */
  readonly window?: number;
  /** Whether `usage.costUsd` will be reported; a spend limit needs it. */
  readonly priced?: boolean;
  /** Whether `request.output` is enforced by the provider; else the runtime asks for it in the instructions. */
  readonly structured?: boolean;
  /**
   * Asked after each failure, also one of the runtime's own (a timeout): the model to ask next, as `request.prefer` will
   * name it, or nothing. `failed` is the `prefer` of the request that failed.
   */
  standIn?(failure: Failure, failed: string | undefined): string | undefined;
  stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncIterable<ModelChunk>;
};

/* ---------------------------------------------------------------- tools */

/** What a tool may use while it runs. */
export type ToolContext<C = unknown> = {
  callId: string;
  /** Aborts on timeout and cancel; after `graceMs` a tool that goes on is abandoned. */
  signal: AbortSignal;
  /** Shows something to live readers; never stored. */
  progress: (value: unknown) => void;
  session: {
    id: string;
    workspace: string | undefined;
    /** Queues an input for the model: `defer` wakes, `info` does not. */
    notify: (input: { kind: "defer" | "info"; text: string }) => void;
    /** Hands back work that goes on after the result; its `settle` arrives as a `defer`, exactly once. */
    background: (label: string) => { taskId: string; settle: (text: string) => void };
  };
  /** The host's live objects (`context` of session or run), never serialized. */
  context: C;
};

/** A tool whose schema is already JSON Schema and whose arguments are already validated by `parse`. */
export type ToolDefinition = {
  description: string;
  parameters: JsonSchema;
  /** Validates and converts arguments; `error` says what was wrong, for the model to read. */
  parse: (args: Json) => ParsedArgs | Promise<ParsedArgs>;
  execute: (args: any, context: ToolContext<any>) => unknown;
  readOnly: boolean;
  needsApproval?: boolean | ((args: any) => boolean) | undefined;
  lockKey?: ((args: any, session: { workspace: string | undefined }) => string[]) | undefined;
  timeoutMs?: number | undefined;
  onUnknown?: OnUnknown | undefined;
  /** Its results are never elided. */
  retain?: boolean | undefined;
  /** Names the file or skill whose content its result is: after a compaction it is read again, newest first. */
  reads?: ((args: any) => string | undefined) | undefined;
  /** A wrapper names the call it stands for: that one is judged, announced, recorded and run. */
  target?: ((args: any) => { name: string; args: Json }) | undefined;
  /** Not in the request; found by search. */
  deferred?: boolean | undefined;
};
export type ParsedArgs = { ok: true; value: unknown } | { ok: false; error: string };

/* ---------------------------------------------------------------- time, names, logs */

/** Time as the runtime sees it. `setTimer` returns its own cancel; it never fires synchronously. */
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number;
  setTimer(ms: number, fire: () => void): () => void;
};

/** Names that are unique across processes. */
export type Ids = { next(prefix: string): string };

/** What the runtime says to operators; pino fits. Never carries secrets or message text. */
export type Logger = { warn(message: string): void; info?(message: string): void };

/* ---------------------------------------------------------------- store */

export type SessionStatus = "idle" | "running" | "suspended" | "interrupted" | "closed";

/** The right to append: valid for one epoch, at one head. Fields are read only. */
export type Lease = {
  readonly id: string;
  readonly owner: string;
  readonly epoch: number;
  /** `seq` of the last record; 0 in an empty journal. */
  readonly head: number;
};

/** Something that reached a session from outside its process, waiting to be taken. */
export type Signal = { key: string; type: string; payload: Json; at: number };

export type SessionInfo = {
  id: string;
  createdAt: number;
  updatedAt: number;
  head: number;
  status: SessionStatus;
  wakeAt?: number;
  title?: string;
  agent?: string;
  lastRun?: RunStatus;
};

/** How a journal ends or breaks, found when it was read. */
export type JournalHealth =
  | { ok: true; tornTail?: { line: number; file: string } }
  | { ok: false; line: number; file: string; message: string; lastGoodSeq: number };

/** Thrown by a store. The code says what the caller may do about it. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;
  readonly details: unknown;
  constructor(code: StoreErrorCode, message: string, options?: { cause?: unknown; details?: unknown }) {
    super(message, options);
    this.code = code;
    this.details = options?.details;
  }
}

/**
 * `Fenced` another epoch rules: stop, write nothing, never retry · `HeadConflict` the head moved · `LeaseHeld` somebody
 * else writes (`details: { owner }`) · `AppendOutcomeUnknown` re-read, then decide · `StoreUnavailable` nothing was
 * written, try later · `JournalCorrupt`, `SchemaVersion` the journal cannot be written to, its file is untouched ·
 * `NotFound`, `Exists` no such session, or one too many.
 */
export type StoreErrorCode =
  | "Fenced"
  | "HeadConflict"
  | "LeaseHeld"
  | "AppendOutcomeUnknown"
  | "StoreUnavailable"
  | "JournalCorrupt"
  | "SchemaVersion"
  | "NotFound"
  | "Exists";

type MaybePromise<T> = T | Promise<T>;

/**
 * Where journals live. Every method may answer with a value or a promise and fails with {@link StoreError} only.
 * Safety is here: at most one (epoch, head) can append, and an append is all or nothing.
 */
export type Store = {
  readonly capabilities: {
    /** `process`: gone with it · `crash`: survives `kill -9` · `power`: survives a power cut. */
    durability: "process" | "crash" | "power";
    multiProcess: boolean;
    multiHost: boolean;
  };
  /** Makes an empty journal. @throws StoreError `Exists` */
  create(id: string, info: { at: number; agent: string }): MaybePromise<void>;
  /**
   * Takes the lease and raises the epoch. `if-free` fails with `LeaseHeld` while a live owner has it; a lease of a dead
   * owner is free. `takeover` always succeeds and fences the holder.
   */
  acquire(id: string, owner: string, mode: "if-free" | "takeover"): MaybePromise<Lease>;
  /**
   * Appends records whose `seq` goes on densely from `lease.head`, and in the same write removes the signals named by
   * `consume` and sets status and wake time. One call is one write. Returns the lease with its new head.
   * @throws StoreError `Fenced`, `HeadConflict`, `StoreUnavailable`, `AppendOutcomeUnknown`
   */
  append(
    lease: Lease,
    records: readonly JournalRecord[],
    options?: {
      consume?: readonly string[];
      status?: SessionStatus;
      wakeAt?: number;
      /** These records begin a new segment: a model context of its own. */
      segment?: boolean;
    },
  ): MaybePromise<Lease>;
  /** Gives the lease up. Releasing a lost one is a no-op. */
  release(lease: Lease, options: { status: SessionStatus; wakeAt?: number }): MaybePromise<void>;
  /** Records after `after` in order, in chunks, without a lease. @throws StoreError `NotFound`, `JournalCorrupt`, `SchemaVersion` */
  read(id: string, options?: { after?: number }): AsyncIterable<readonly JournalRecord[]>;
  /** Records after `after`, then those to come, no gap and no repeat, until `signal` aborts. */
  watch(id: string, options: { after?: number; signal: AbortSignal }): AsyncIterable<readonly JournalRecord[]>;
  /** Leaves something for whoever holds or next takes the lease; the same `key` twice is once. Durable when it returns. */
  signal(id: string, signal: Omit<Signal, "at">): MaybePromise<"accepted" | "duplicate">;
  /** Signals not yet consumed, oldest first. */
  pending(lease: Lease): MaybePromise<readonly Signal[]>;
  list(options?: { limit?: number; prefix?: string }): MaybePromise<SessionInfo[]>;
  info(id: string): MaybePromise<SessionInfo | undefined>;
  /** Whether the journal is whole; reads it. */
  check(id: string): MaybePromise<JournalHealth>;
  /** Removes a journal and its files. @throws StoreError `LeaseHeld` */
  delete(id: string): MaybePromise<void>;
  /** A place for what is too large for a record (long outputs, media). Returns a path or name that people can open. */
  putFile(id: string, name: string, content: string | Uint8Array): MaybePromise<string>;
  /** What `putFile` kept under this name. @throws StoreError `NotFound` */
  getFile(id: string, name: string): MaybePromise<Uint8Array>;
  /** A cache that spares folding a long journal; never truth. */
  putSnapshot?(lease: Lease, snapshot: Json): MaybePromise<void>;
  close?(): MaybePromise<void>;
};

/* ---------------------------------------------------------------- approver */

export type { ApprovalRequest, Decision } from "./core/call.ts";
export type { ContentPart };

/** What effects see of the session they work for. The session layer implements it. */
import type { ApprovalRequest, Decision } from "../core/call.ts";
import type { Count } from "../core/budget.ts";
import type { Limits, CompactionSettings } from "../core/limits.ts";
import type { LiveEvent, NoteEvent } from "../core/event.ts";
import type { ContentPart, Message } from "../core/message.ts";
import type { Transcript } from "../core/transcript.ts";
import type { Chain, HookContext } from "../middleware/middleware.ts";
import type { Clock, Ids, Logger, ModelPort, ModelSettings, Signal, Store, ToolContext } from "../ports.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Output } from "./structured.ts";

/** Answers a batch of asks: for all of them at once, or call by call. */
export type Approve =
  | "allow"
  | "deny"
  | ((requests: ApprovalRequest[], options: { signal: AbortSignal }) => ApprovalAnswer)
  | ((requests: ApprovalRequest[], options: { signal: AbortSignal }) => Promise<ApprovalAnswer>);
/** For all of a batch, or call by call; calls left out meet the run's `approvals` mode. */
export type ApprovalAnswer = "allow" | "deny" | Decision[];

/** The live half of a run's options: what cannot be written to a journal. */
export type LiveRun = {
  id: string;
  approve: Approve | undefined;
  model: ModelPort;
  settings: ModelSettings;
  /** The shape that the final answer must have. */
  output: Output | undefined;
  /** What an ask meets that `approve` leaves out. */
  unanswered: "deny" | "wait" | "suspend";
  context: unknown;
};

/** Where effects write: the journal's barrier, its notes and its live side channel. */
export type Writer = {
  /** Makes everything so far durable. False when it could not be; then the effect must not begin. */
  flush(): boolean | Promise<boolean>;
  note(event: NoteEvent): void;
  live(event: LiveEvent): void;
  /** Whether anybody watches; otherwise live events need not be made. */
  readonly isWatched: boolean;
};

/** A session as its effects see it. */
export type Host = {
  readonly id: string;
  readonly instructions: string;
  readonly workspace: string | undefined;
  readonly chain: Chain;
  readonly limits: Limits;
  readonly compaction: CompactionSettings;
  /** How tokens are counted. */
  readonly count: Count;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly transcript: Transcript;
  readonly journal: Writer;
  /** The active run; side work between runs uses the agent's own model. */
  readonly run: LiveRun;
  /** The newest answer of the run; one that was cut and gone on with is whole. */
  readonly answer: string;
  /** The model for summaries. */
  readonly summaryModel: ModelPort;
  /** Tools as of now. */
  catalogue(): Catalogue;
  /** What the request in flight, or the last one, was made with: calls are resolved against it. */
  pinned: { catalogue: Catalogue; contributions: string };
  /** Large media: `keep` puts it into files before it is recorded, `whole` reads it back for a request. */
  readonly media: {
    keep(parts: ContentPart[]): ContentPart[];
    whole(messages: readonly Message[]): Promise<readonly Message[]>;
  };
  /** What tools may do to the session. */
  readonly toolSession: ToolContext["session"];
  /** In [0, 1). */
  jitter(): number;
  /** Signals that reached this session from outside, fed to the machine. */
  takeSignals(): Promise<readonly Signal[]>;
  hookContext(signal: AbortSignal): HookContext;
};

/** rcra: LLM agent loops as one explicit state machine. */
export { createAgent, type Agent, type SessionReading } from "./session/agent.ts";
export type { Session, SessionState, Receipt, DecideResult, Compactability } from "./session/session.ts";
export type { CompletedRun, Run, RunResult } from "./session/run.ts";
export { explain } from "./session/run.ts";
export type {
  AgentOptions,
  ApprovalOptions,
  Input,
  RunOptions,
  SessionOptions,
  Tokenizer,
  Tools,
} from "./session/options.ts";
export type { UsageReport } from "./session/ledger.ts";
export { replay, type Divergence, type ReplayReport } from "./session/replay.ts";
export { readJournal } from "./adapters/store/journal-file.ts";
export { tool, content, type ToolOptions, type Content, type ContentInput } from "./tool.ts";
export { fromDialect } from "./tool-dialect.ts";
export { workspaceTools } from "./adapters/tools/workspace.ts";
export {
  defineMiddleware,
  type Middleware,
  type HookContext,
  type CallUnderReview,
  type Opinion,
} from "./middleware/middleware.ts";
export { oneByOne } from "./effects/ask-approval.ts";
export type { Approve } from "./effects/host.ts";
export { fallback } from "./adapters/model/fallback.ts";
export { cassette, type Cassette } from "./adapters/cassette.ts";
export { memoryStore } from "./adapters/store/memory.ts";
export { jsonlStore } from "./adapters/store/jsonl.ts";
export { AgentError, type AgentErrorCode, type RunError, type RunErrorCode } from "./core/errors.ts";
export { StoreError } from "./ports.ts";
export type * from "./ports.ts";
export type {
  SessionEvent,
  JournalRecord,
  InputEvent,
  OutputEvent,
  NoteEvent,
  LiveEvent,
  RunStatus,
} from "./core/event.ts";
export type {
  Message,
  UserMessage,
  AssistantMessage,
  ToolMessage,
  Part,
  ContentPart,
  AssistantPart,
  TextPart,
  ImagePart,
  FilePart,
  AudioPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
  ResultStatus,
  Json,
} from "./core/message.ts";
export type { ReviewedCall, Verdict } from "./core/call.ts";
export type { Limits, CompactionSettings } from "./core/limits.ts";
export type { Failure, FailureClass } from "./core/failure.ts";
export type { Usage } from "./core/usage.ts";

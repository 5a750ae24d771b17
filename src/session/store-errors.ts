/** A store's refusals, in the words of the public API. */
import { AgentError } from "../core/errors.ts";
import { StoreError } from "../ports.ts";

/** What a caller is told of a failure of the store; an `AgentError` passes as it is. */
export function asAgentError(error: unknown, id: string): AgentError {
  if (error instanceof AgentError) return error;
  if (!(error instanceof StoreError)) return new AgentError("store", String(error), { cause: error });
  const options = { cause: error, details: error.details };
  switch (error.code) {
    case "LeaseHeld":
      return new AgentError("busy", `Session ${id} is in use elsewhere. ${error.message}`, options);
    case "NotFound":
      return new AgentError("not_found", error.message, options);
    case "JournalCorrupt":
      return new AgentError("journal_corrupt", error.message, options);
    case "SchemaVersion":
      return new AgentError("version", error.message, options);
    case "Fenced":
    case "HeadConflict":
      return new AgentError("fenced", error.message, options);
    case "Exists":
      return new AgentError("invalid_options", error.message, options);
    case "StoreUnavailable":
    case "AppendOutcomeUnknown":
      return new AgentError("store", error.message, options);
    default:
      return error.code satisfies never;
  }
}

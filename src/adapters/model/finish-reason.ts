/** What the many finish reasons mean. */
import type { Failure } from "../../core/failure.ts";
import { malformed, type Peer } from "./classify.ts";

/** A whole answer, one cut by length, or a failure. */
export type Outcome = "stop" | "length" | "tool-calls" | Failure;

/** Reads a finish reason. An unknown word is an end like any other: the provider did say that it ended. */
export function outcomeOf(reason: string, peer: Peer): Outcome {
  switch (reason.toLowerCase()) {
    case "length":
    case "max_tokens":
    case "model_length":
    case "max_output_tokens":
      return "length";
    case "tool_calls":
    case "tool_use":
    case "function_call":
      return "tool-calls";
    case "content_filter":
    case "safety":
    case "sensitive":
    case "recitation":
    case "prohibited_content":
      return {
        class: "refused",
        message: `${peer.host} stopped the answer: its content filter refused it (${reason}).`,
      };
    case "insufficient_system_resource":
    case "network_error":
      return { class: "timeout", message: `${peer.host} broke off its answer (${reason}).` };
    case "error":
    case "abort":
    case "malformed_function_call":
      return malformed(peer, `broke off its answer (${reason}).`);
    default:
      return "stop";
  }
}

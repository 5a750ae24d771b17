/** What the finish reasons of the AI SDK mean, together with what was said. */
import type { Failure } from "../../core/failure.ts";
import { fields } from "./chat-usage.ts";
import { malformed, type Peer } from "./classify.ts";

/** What there was of an answer when it ended. */
export type Said = {
  /** Some text or thinking. */
  spoke: boolean;
  calls: boolean;
  /** A call that never came whole. */
  unfinished: boolean;
  /** What to say of an answer without a finish reason. */
  nothing: string;
};

/**
 * The finish of a stream, or its failure. A stream that ends without the provider's own reason is not whole: packages tell
 * of it as `interrupted` (v4), `unknown` (v2) or `other` without a word of the provider.
 */
export function aiSdkOutcome(reason: unknown, said: Said, peer: Peer): "stop" | "length" | "tool-calls" | Failure {
  const { unified, raw } = reasonOf(reason);
  const why = raw ?? unified;
  switch (unified) {
    case "length":
      return "length";
    case "content-filter":
      // Some packages say this of an answer in which the model itself declines; that is an answer.
      if (raw === "stop" && said.spoke) return "stop";
      return { class: "refused", message: `${peer.host} stopped the answer: its content filter refused it (${why}).` };
    case "stop":
    case "tool-calls":
      if (said.unfinished) return malformed(peer, "broke off a tool call.");
      if (unified === "tool-calls" && !said.calls && !said.spoke)
        return malformed(peer, "said that it calls tools, and called none.");
      return said.calls ? "tool-calls" : "stop";
    case "other":
      if (raw === undefined) return malformed(peer, said.nothing);
      // An end that the provider did name, after an answer, is an end like any other.
      if (said.unfinished || !(said.spoke || said.calls)) return malformed(peer, `ended without an answer (${why}).`);
      return said.calls ? "tool-calls" : "stop";
    case "interrupted":
    case "unknown":
      return malformed(peer, said.nothing);
    default:
      return malformed(peer, `broke off its answer (${why}).`);
  }
}

/** A word in v2, an object with the provider's own word since. */
function reasonOf(reason: unknown): { unified: string; raw: string | undefined } {
  if (typeof reason === "string") return { unified: reason, raw: reason === "other" ? reason : undefined };
  const both = fields(reason);
  const raw = both?.["raw"];
  return { unified: String(both?.["unified"]), raw: typeof raw === "string" ? raw : undefined };
}

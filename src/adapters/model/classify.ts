/** From what a provider or a connection did to a failure class: what the run does about it. */
import type { Failure, FailureClass } from "../../core/failure.ts";
import { fields } from "./chat-usage.ts";
import { isTooLong } from "./overflow.ts";
import { providerError, type ProviderError } from "./provider-error.ts";
import { scrub } from "./secrets.ts";

/** Whom we talked to, what must not be said, and where its key comes from. */
export type Peer = { host: string; secrets: readonly string[]; key?: string };

/** The failure for a provider's error, inside a stream or as a response. Its message is scrubbed. */
export function classifyError(error: ProviderError, peer: Peer): Failure {
  const kind = classOf(error);
  const { status } = error;
  const said = error.message || "no explanation";
  const message = scrub(`${peer.host} ${verdicts[kind]}${status ? ` (${status})` : ""}: ${said}`, peer.secrets);
  const advice = adviceFor(kind, error, peer);
  const retryAfterMs = kind === "timeout" ? retryAfter(error.headers) : undefined;
  return {
    class: kind,
    message: advice ? `${message.replace(/[.\s]+$/, "")}. ${advice}` : message,
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/**
 * The failure for whatever the client threw. Errors are told apart by their fields, so that the client need not be
 * loaded: with `status` and `headers` they are the client's own.
 */
export function classifyThrown(thrown: unknown, peer: Peer): Failure {
  const error = thrown as {
    name?: unknown;
    message?: unknown;
    status?: unknown;
    headers?: unknown;
    error?: unknown;
  };
  const words = String(error?.message ?? thrown);
  if (thrown instanceof Error && "status" in thrown && "headers" in thrown) {
    const headers = error.headers instanceof Headers ? error.headers : undefined;
    if (typeof error.status === "number") {
      const body = error.error ?? words.replace(/^\d{3} /, "").replace(/^status code \(no body\)$/, "");
      return classifyError(providerError(body, error.status, headers), peer);
    }
    if (error.error !== undefined) return classifyError(providerError(error.error), peer);
    return unreachable(thrown, peer);
  }
  if (thrown instanceof SyntaxError) return malformed(peer, "sent a line that is not valid JSON.");
  if (codeOf(thrown) === "UND_ERR_BODY_TIMEOUT")
    return {
      class: "timeout",
      message: `${peer.host} sent nothing for too long in the middle of its answer.`,
    };
  if (words === "terminated" || codeOf(thrown) || words.includes("response with no body"))
    return malformed(peer, `broke off in the middle of its answer${inBrackets(codeOf(thrown))}.`);
  return { class: "fatal", message: scrub(`The request to ${peer.host} failed: ${words}`, peer.secrets) };
}

/** A stream that cannot be trusted to be whole. `what` goes on after the host's name; provider words are scrubbed. */
export const malformed = (peer: Peer, what: string): Failure => ({
  class: "malformed",
  message: scrub(`${peer.host} ${what}`, peer.secrets),
});

const verdicts: { [K in FailureClass]: string } = {
  timeout: "could not answer now",
  malformed: "broke off its answer",
  overflow: "says the prompt is too long",
  auth: "refused the credentials",
  refused: "refused the content",
  fatal: "refused the request",
  cancelled: "was cancelled",
  store: "was not asked",
};

function classOf({ status, codes, message }: ProviderError): FailureClass {
  const code = (pattern: RegExp) => codes.some((c) => pattern.test(c));
  if (isTooLong(status, codes, message)) return "overflow";
  if (code(/content_?(filter|policy)|responsibleai|moderation|data_inspection/)) return "refused";
  if (status === 403 && /moderation|flagged/i.test(message)) return "refused";
  if (status === 402 || code(/insufficient_(quota|balance|credits)|billing/)) return "fatal";
  if (status === 401 || status === 403 || code(/^(invalid_api_key|authentication|permission|unauthorized)/))
    return "auth";
  // Two large providers answer 400 to a wrong key.
  if (/(incorrect|invalid|missing) api[ _-]?key|api[ _-]?key not valid/i.test(message)) return "auth";
  if (status !== undefined) return [408, 409, 425, 429].includes(status) || status >= 500 ? "timeout" : "fatal";
  if (code(/rate_?limit|overloaded|server_?error|internal|unavailable|timeout|exhausted/)) return "timeout";
  return code(/invalid_request|not_found|unsupported|bad_request/) ? "fatal" : "malformed";
}

function adviceFor(kind: FailureClass, { status, codes }: ProviderError, peer: Peer): string | undefined {
  if (kind === "auth") return `Check ${peer.key ?? "apiKey (or OPENAI_API_KEY)"} and what it may use.`;
  if (status === 402 || codes.some((c) => c.startsWith("insufficient"))) return "Add credit, or use another key.";
  if (kind === "fatal" && status === 404) return "Check model and baseURL.";
  return undefined;
}

/** What a server asked us to wait, from `retry-after-ms` or `retry-after` (seconds, or a date by its own clock). */
export function retryAfter(headers: Headers | undefined): number | undefined {
  const ms = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (ms >= 0) return ms;
  const after = headers?.get("retry-after")?.trim();
  if (!after) return undefined;
  if (/^\d+(\.\d+)?$/.test(after)) return Number(after) * 1000;
  const wait = Date.parse(after) - Date.parse(headers?.get("date") ?? "");
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

function unreachable(thrown: unknown, peer: Peer): Failure {
  // The built-in fetch gives up after 300 s without a first byte, whatever we ask for.
  if (codeOf(thrown) === "UND_ERR_HEADERS_TIMEOUT")
    return { class: "timeout", message: `${peer.host} did not begin to answer in time.` };
  const message = `Could not reach ${peer.host}${inBrackets(codeOf(thrown))}.`;
  return {
    class: "timeout",
    message: `${message} Check baseURL, the network, and that the server is running.`,
  };
}

const inBrackets = (code: string | undefined): string => (code ? ` (${code})` : "");

/** The first system code (`ECONNREFUSED`) in a chain of causes. */
export function codeOf(thrown: unknown): string | undefined {
  let error = fields(thrown);
  for (let depth = 0; error && depth < 8; depth++) {
    if (typeof error["code"] === "string") return error["code"];
    const errors = error["errors"];
    error = fields(error["cause"] ?? (Array.isArray(errors) ? errors[0] : undefined));
  }
  return undefined;
}

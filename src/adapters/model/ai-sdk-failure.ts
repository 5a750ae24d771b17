/** From what the AI SDK throws or streams as an error to a failure class. */
import type { Failure } from "../../core/failure.ts";
import { fields, type Fields } from "./chat-usage.ts";
import { classifyError, codeOf, malformed, type Peer } from "./classify.ts";
import { isErrorObject, providerError } from "./provider-error.ts";
import { scrub } from "./secrets.ts";

/** `request`: before the first part of an answer; `stream`: after it. */
export type Stage = "request" | "stream";

/**
 * The failure for whatever `doStream` threw or an `error` part holds. Errors are told apart by their names and fields, so
 * that no package of the AI SDK need be loaded. Of an error only its words, status, codes and the provider's answer are
 * read, never what was sent.
 */
export function classifyAiSdk(thrown: unknown, peer: Peer, stage: Stage): Failure {
  if (!(thrown instanceof Error)) {
    // What providers say inside a stream, as it came or under `data`.
    const said = fields(thrown);
    return classifyError(providerError(said?.["data"] ?? thrown, statusIn(said)), peer);
  }
  const error = thrown as Error & Fields;
  switch (error.name) {
    case "AI_APICallError":
      return apiCallFailure(error, peer);
    case "AI_LoadAPIKeyError":
    case "AI_LoadSettingError":
      return { class: "auth", message: scrub(error.message, peer.secrets) };
    case "AI_JSONParseError":
      return malformed(peer, "sent a line that is not valid JSON.");
    case "AI_TypeValidationError": {
      const value = fields(error["value"]);
      if (value && isErrorObject(value)) return classifyError(providerError(value), peer);
      return malformed(peer, "sent something of an unknown shape.");
    }
    case "AI_EmptyResponseBodyError":
      return malformed(peer, "sent no body.");
    case "AI_InvalidResponseDataError":
    case "AI_NoContentGeneratedError":
      return malformed(peer, `broke off its answer: ${error.message}`);
    case "AbortError":
    case "TimeoutError":
      return { class: "timeout", message: `The request to ${peer.host} was given up by its client.` };
    default:
      return otherFailure(error, peer, stage);
  }
}

function apiCallFailure(error: Error & Fields, peer: Peer): Failure {
  const status = statusIn(error);
  if (status !== undefined && status >= 400)
    return classifyError(providerError(bodyOf(error), status, headersOf(error)), peer);
  const code = codeOf(error);
  if (code === "UND_ERR_HEADERS_TIMEOUT")
    return { class: "timeout", message: `${peer.host} did not begin to answer in time.` };
  if (code === "UND_ERR_BODY_TIMEOUT")
    return { class: "timeout", message: `${peer.host} sent nothing for too long in the middle of its answer.` };
  const inBrackets = code ? ` (${code})` : "";
  if (status !== undefined) return malformed(peer, `broke off in the middle of its answer${inBrackets}.`);
  const message = `Could not reach ${peer.host}${inBrackets}.`;
  return { class: "timeout", message: `${message} Check baseURL, the network, and that the server is running.` };
}

function otherFailure(error: Error & Fields, peer: Peer, stage: Stage): Failure {
  const status = statusIn(error);
  // Such as those of the gateway: a status and a type, no answer.
  if (status !== undefined && status >= 400)
    return classifyError(providerError({ message: error.message, type: error["type"] }, status), peer);
  const code = codeOf(error);
  if (error.message === "terminated" || code)
    return malformed(peer, `broke off in the middle of its answer${code ? ` (${code})` : ""}.`);
  // The Anthropic package hides a first event that it cannot read behind this.
  if (/normalized \w+ stream error/i.test(error.message))
    return malformed(peer, "began its answer with something unreadable.");
  // The package could not read what it got; its reader broke, not our request.
  if (stage === "stream") return malformed(peer, `sent something that its package cannot read: ${error.message}`);
  return { class: "fatal", message: scrub(`The request to ${peer.host} failed: ${error.message}`, peer.secrets) };
}

const statusIn = (value: Fields | undefined): number | undefined =>
  typeof value?.["statusCode"] === "number" ? value["statusCode"] : undefined;

/** The provider's own answer where there is one, else what the package made of it. */
function bodyOf(error: Error & Fields): unknown {
  const text = error["responseBody"];
  if (typeof text !== "string" || text.trim() === "") return error["data"] ?? error.message;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function headersOf(error: Fields): Headers | undefined {
  const headers = fields(error["responseHeaders"]);
  if (!headers) return undefined;
  return new Headers(Object.entries(headers).filter((h): h is [string, string] => typeof h[1] === "string"));
}

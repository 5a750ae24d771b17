/** Responses with status 200 that are no event stream. */
import type { Failure } from "../../core/failure.ts";
import { fields } from "./chat-usage.ts";
import { classifyError, malformed, type Peer } from "./classify.ts";
import { parseObject } from "./json-object.ts";
import { isErrorObject, providerError } from "./provider-error.ts";

/** How much of a body is read to say what it is. */
const HEAD = 16_384;

/**
 * The failure for a response that says it is HTML or JSON; `undefined` for one that may be a stream (servers that name no
 * type, or a wrong one, are read as streams). Reads the body only to say what it was.
 */
export async function noStream(response: Response, peer: Peer): Promise<Failure | undefined> {
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "text/html" || type === "application/xhtml+xml") {
    const text = await headOf(response);
    return malformed(
      peer,
      `answered with a web page instead of a stream; check baseURL. It begins: ${text.slice(0, 200)}`,
    );
  }
  if (type !== "application/json" && !type.endsWith("+json")) return undefined;
  const text = await headOf(response);
  const body = parseObject(text);
  if (body && isErrorObject(body)) return classifyError(providerError(body), peer);
  if (body && (isWhole(body["object"]) || fields(Array.isArray(body["choices"]) && body["choices"][0])))
    return malformed(peer, "ignored `stream: true` and sent its whole answer as JSON. Use a server that streams.");
  return malformed(peer, `answered with JSON instead of a stream; check baseURL. It begins: ${text.slice(0, 200)}`);
}

const isWhole = (object: unknown): boolean => object === "chat.completion" || object === "response";

async function headOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return "";
  const decoder = new TextDecoder();
  let text = "";
  while (text.length < HEAD) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
  }
  reader.cancel().catch(() => undefined);
  return text;
}

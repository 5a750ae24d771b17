/** The keys of an AI SDK model, to keep them out of messages. */
import { fields } from "./chat-usage.ts";
import type { AiSdkModel } from "./ai-sdk-spec.ts";
import { secretHeaders } from "./secrets.ts";

/**
 * The credentials that a model sends, as far as it shows them: provider packages keep their headers, or a function that
 * makes them, in `config.headers`. It is no part of the specification, so what is not there is not known; a key that
 * looks like one is taken out of messages all the same. Headers that must be waited for are not asked twice.
 */
export function modelSecrets(model: AiSdkModel): string[] {
  try {
    const config = fields((model as { config?: unknown }).config);
    const given = config?.["headers"];
    const headers: unknown = typeof given === "function" ? given.call(config) : given;
    if (headers instanceof Promise) headers.catch(() => undefined);
    const named = Object.entries(fields(headers) ?? {}).filter((h): h is [string, string] => typeof h[1] === "string");
    // The scheme in front is not secret, and the key may be echoed without it.
    return secretHeaders(Object.fromEntries(named)).map((value) => value.replace(/^(bearer|basic)\s+/i, ""));
  } catch {
    // Without a key there is none to hide; the request says so.
    return [];
  }
}

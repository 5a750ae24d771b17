/** What a provider said went wrong, read from the many shapes that errors come in. */
import { fields, type Fields } from "./chat-usage.ts";

/** An error in a provider's own words; not yet scrubbed. */
export type ProviderError = {
  /** HTTP status, or the one named inside a 200 stream. */
  status: number | undefined;
  /** All codes and types it gave, lower case. */
  codes: string[];
  message: string;
  headers: Headers | undefined;
};

/**
 * Reads an error body: an object, `{ error: … }`, a list of one, or a string. `status` and `headers` are those of the
 * response, when it had an error status.
 */
export function providerError(body: unknown, status?: number, headers?: Headers): ProviderError {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  const error = fields(fields(outer)?.["error"]) ?? fields(outer);
  const codes = error ? codesOf(error) : [];
  return {
    status: status ?? statusOf(error),
    codes,
    message: messageOf(error) ?? (typeof outer === "string" ? outer : outer === undefined ? "" : JSON.stringify(outer)),
    headers,
  };
}

/** An error object that some servers send as an ordinary chunk or body, e.g. `{ object: "error", message }`. */
export const isErrorObject = (value: Fields): boolean =>
  (value["error"] !== undefined && value["error"] !== null) || value["object"] === "error" || value["type"] === "error";

function codesOf(error: Fields): string[] {
  const inner = fields(error["innererror"]);
  const all = [error["code"], error["type"], error["status"], inner?.["code"]];
  return all.filter((code) => typeof code === "string").map((code) => code.toLowerCase());
}

function statusOf(error: Fields | undefined): number | undefined {
  for (const value of [error?.["code"], error?.["status"], error?.["status_code"]]) {
    const number = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
    if (typeof number === "number" && number >= 400 && number < 600) return number;
  }
  return undefined;
}

function messageOf(error: Fields | undefined): string | undefined {
  if (!error) return undefined;
  const detail: unknown = Array.isArray(error["detail"]) ? fields(error["detail"][0])?.["msg"] : error["detail"];
  const message = [error["message"], error["error"], detail, error["msg"], error["title"]].find(
    (m): m is string => typeof m === "string" && m !== "",
  );
  // Gateways put the upstream's own words here.
  const raw = fields(error["metadata"])?.["raw"];
  return typeof raw === "string" && message !== undefined ? `${message}: ${raw}` : message;
}

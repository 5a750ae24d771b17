/** Asks a model server who is there: whether it can be reached, takes the key, and knows the model. */
import { classifyError } from "../adapters/model/classify.ts";
import { openaiSettings, type OpenAISettings } from "../adapters/model/openai-options.ts";
import { providerError } from "../adapters/model/provider-error.ts";
import { scrub } from "../adapters/model/secrets.ts";
import { plural } from "../core/plural.ts";
import type { Check } from "./doctor.ts";

/** How long a server may take to say which models it has. */
const TIMEOUT_MS = 10_000;
/** Names that are offered when one is not known. */
const OFFERED = 5;

type Answer = { ids: string[] } | { check: Check };

/** One request, to `GET /models` with the key. No check shows the key, or more of the address than its host. */
export async function* askServer(options: {
  model: string;
  baseURL: string | undefined;
}): AsyncGenerator<Check, void, void> {
  const { model, baseURL } = options;
  const settings = openaiSettings({ model, ...(baseURL === undefined ? {} : { baseURL }) });
  const answer = await ask(settings);
  if ("check" in answer) return yield answer.check;
  const { ids } = answer;
  yield { check: "server", status: "ok", says: `${settings.host} answers, with ${plural(ids.length, "model")}` };
  yield modelCheck(model, ids, settings.host);
}

async function ask(settings: OpenAISettings): Promise<Answer> {
  const { host } = settings;
  let response: Response;
  let body: unknown;
  try {
    response = await fetch(modelsUrl(settings.baseURL), {
      headers: { authorization: `Bearer ${settings.apiKey}`, accept: "application/json" },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    body = parse(text) ?? text;
  } catch (error) {
    return { check: unreachable(error, settings) };
  }
  const { status } = response;
  const says = `${host} has no list of models (${status})`;
  if (status === 404 || status === 405)
    return {
      check: {
        check: "server",
        status: "warning",
        says,
        mend: "Some servers have none. If runs fail, too: is the address complete, such as http://host/v1?",
      },
    };
  if (!response.ok) {
    const { message } = classifyError(providerError(body, status, response.headers), settings);
    const mend =
      status === 401 || status === 403
        ? "Set OPENAI_API_KEY to a key of this server, or name its own server with --base-url."
        : "Try again later; if it stays so, ask whoever runs the server.";
    return { check: { check: "server", status: "failed", says: message, mend } };
  }
  const ids = idsOf(body);
  if (ids) return { ids };
  const mend = "Is the address complete, such as http://host/v1?";
  return { check: { check: "server", status: "failed", says: `${host} answers, but not with a list of models`, mend } };
}

function unreachable(error: unknown, { host, secrets }: OpenAISettings): Check {
  const mend = "Check --base-url (or OPENAI_BASE_URL), the network, and whether the server runs.";
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  const says =
    name === "TimeoutError"
      ? `${host} did not answer within ${TIMEOUT_MS / 1_000} seconds`
      : scrub(`${host} could not be reached (${cause?.code ?? cause?.message ?? message})`, secrets);
  return { check: "server", status: "failed", says, mend };
}

/** The address of the list; what the address has of a query stays. */
function modelsUrl(baseURL: string): URL {
  const url = new URL(baseURL);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/models`;
  return url;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function idsOf(body: unknown): string[] | undefined {
  const data = typeof body === "object" && body !== null && "data" in body ? body.data : body;
  if (!Array.isArray(data)) return undefined;
  return data.flatMap((item: { id?: unknown } | null) => (typeof item?.id === "string" ? [item.id] : []));
}

function modelCheck(model: string, ids: readonly string[], host: string): Check {
  // Some servers put a path before the name.
  if (ids.some((id) => id === model || id.endsWith(`/${model}`))) return { check: "model", status: "ok", says: model };
  const offered = nearest(model, ids).join(", ");
  const mend = `Name another with --model${offered ? `, such as ${offered}` : ""}.`;
  return { check: "model", status: "failed", says: `${host} does not know ${model}`, mend };
}

/** Those that begin like it first. */
function nearest(model: string, ids: readonly string[]): string[] {
  const shared = (id: string) => {
    let n = 0;
    while (n < id.length && id[n] === model[n]) n++;
    return n;
  };
  return [...ids].sort((a, b) => shared(b) - shared(a)).slice(0, OFFERED);
}

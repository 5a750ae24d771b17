/** Which model a command asks: a real one where there is a key or an address, else the demo model. */
import { openai } from "../adapters/model/openai.ts";
import type { ModelPort } from "../ports.ts";
import { Problem } from "./problem.ts";
import { say } from "./say.ts";

export type ModelFlags = { model?: string; baseUrl?: string; api?: "chat" | "responses" };
/** `name` is for people. `close` lets go of what was started for it. */
export type ChosenModel = { model: ModelPort; name: string; close(): Promise<void> };

export const DEFAULT_MODEL = "gpt-5.2";

/**
 * Chooses by flags and environment. The demo model is started in this process, and stderr says that it is one.
 * @throws Problem for a name, an address or a key that cannot be one
 */
export async function chooseModel({ model, baseUrl, api }: ModelFlags): Promise<ChosenModel> {
  if (model?.trim() === "") throw new Problem("--model wants the name of a model, such as gpt-5.2.");
  const { named, key } = checkServer(baseUrl);
  if (named === undefined && key === undefined) return demoModel(model);
  const port = openai({
    model: model ?? DEFAULT_MODEL,
    ...(named === undefined ? {} : { baseURL: named }),
    ...(api === undefined ? {} : { api }),
  });
  return { model: port, name: port.id, close: async () => {} };
}

/** The address and the key that flags and environment give, as far as they do. @throws Problem for what cannot be one */
export function checkServer(baseUrl: string | undefined): { named: string | undefined; key: string | undefined } {
  const named = baseUrl ?? fromEnvironment("OPENAI_BASE_URL");
  const key = fromEnvironment("OPENAI_API_KEY");
  if (key !== undefined) checkKey(key);
  if (named !== undefined) checkAddress(named, baseUrl === undefined ? "OPENAI_BASE_URL" : "--base-url");
  return { named, key };
}

const fromEnvironment = (name: string): string | undefined => process.env[name]?.trim() || undefined;

/** The key itself is not repeated. */
function checkKey(key: string): void {
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new Problem(
      "OPENAI_API_KEY holds a space, a line break or another character that no key has. Set it again, to the key alone.",
    );
}

/** The address itself is not repeated: it may hold a password. */
function checkAddress(text: string, source: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new Problem(`${source} wants an http(s) address, such as http://127.0.0.1:11434/v1.`);
  if (url.username || url.password)
    throw new Problem(`${source} cannot hold a user name or password; put the key into OPENAI_API_KEY.`);
}

async function demoModel(wanted: string | undefined): Promise<ChosenModel> {
  const { startDemoModel } = await import("../adapters/model/demo.ts");
  const { apiKey, baseURL, model, close } = await startDemoModel();
  say(
    `no OPENAI_API_KEY, so this is the demo model: fixed rules on this machine, not an LLM.${
      wanted === undefined ? "" : ` --model ${wanted} is not used.`
    }`,
  );
  say("for a real one set OPENAI_API_KEY, or name a server with --base-url (and --model).");
  return { model: openai({ model, baseURL, apiKey }), name: `${model} (demo, not an LLM)`, close };
}

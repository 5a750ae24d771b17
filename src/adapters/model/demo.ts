/** The demo model: a small OpenAI-compatible server on this machine, so that everything can be tried without a key. */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseObject } from "./json-object.ts";
import { demoAnswer, readDemoRequest } from "./demo-rules.ts";
import { completion, completionChunks } from "./demo-wire.ts";

/** What it is called in requests and records. */
export const DEMO_MODEL = "rcra-demo";

/** Bytes of a request body that are read; more is refused. */
const MAX_BODY = 32 * 1024 * 1024;

/** A running demo model. `apiKey` is made anew at every start; without it nothing is answered. */
export type DemoServer = { baseURL: string; apiKey: string; model: string; close(): Promise<void> };

/**
 * Starts the demo model on 127.0.0.1: `POST /v1/chat/completions` (streaming or not) and `GET /v1/models`. It is a set of
 * fixed rules over messages and tools, no LLM: equal requests get equal answers. `port` 0 takes a free one.
 */
export async function startDemoModel(options: { port?: number } = {}): Promise<DemoServer> {
  const apiKey = randomBytes(24).toString("base64url");
  const server = createServer((request, response) => {
    serve(request, response, apiKey).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { baseURL: `http://127.0.0.1:${port}/v1`, apiKey, model: DEMO_MODEL, close: () => close(server) };
}

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

async function serve(request: IncomingMessage, response: ServerResponse, apiKey: string): Promise<void> {
  // A web page that points a name of its own at this address is stopped by the name.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? ""))
    return refuse(response, 403, "The demo model answers this machine only.", "forbidden_host");
  if (!knows(request.headers.authorization, apiKey))
    return refuse(response, 401, "The demo model wants the key it was started with.", "invalid_api_key");
  const route = `${request.method} ${request.url?.split("?")[0]}`;
  if (route === "GET /v1/models")
    return sendJson(response, 200, {
      object: "list",
      data: [{ id: DEMO_MODEL, object: "model", owned_by: "rcra" }],
    });
  if (route !== "POST /v1/chat/completions")
    return refuse(response, 404, `The demo model has no ${route}.`, "not_found");
  const text = await bodyOf(request);
  if (text === undefined) return refuse(response, 413, "The request body is too large.", "request_too_large");
  const parsed = readDemoRequest(parseObject(text));
  if (typeof parsed === "string") return refuse(response, 400, parsed, "invalid_request_error");
  const answer = demoAnswer(parsed);
  if (!parsed.stream) return sendJson(response, 200, completion(DEMO_MODEL, parsed, answer));
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  for (const chunk of completionChunks(DEMO_MODEL, parsed, answer)) {
    if (response.destroyed) return;
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    // One piece at a time, as a model would; also lets other sessions be served in between.
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end("data: [DONE]\n\n");
}

function knows(header: string | undefined, apiKey: string): boolean {
  const given = Buffer.from(header ?? "");
  const expected = Buffer.from(`Bearer ${apiKey}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size <= MAX_BODY) pieces.push(piece);
  }
  return size > MAX_BODY ? undefined : Buffer.concat(pieces).toString("utf8");
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

const refuse = (response: ServerResponse, status: number, message: string, code: string): void =>
  sendJson(response, status, { error: { message, type: code, param: null, code } });

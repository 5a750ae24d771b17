/** Recorded streams of eight providers, sent over real HTTP in pieces of seven bytes. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openai } from "../../src/openai.ts";
import { ask, request, tool, user } from "./chat-fixture.ts";

const root = "../shared/data/sse/ai-sdk";
const recorded = existsSync(root) ? chatStreams() : [];

/** Streams of Chat Completions, told from others by what their chunks say they are. */
function chatStreams(): string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.(chunks\.txt|sse)$/.test(path))
    .filter((path) => /"object":"chat\.completion\.chunk"/.test(readFileSync(join(root, path), "utf8")))
    .sort();
}

type Delta = { content?: string | null; reasoning_content?: string | null; reasoning?: string | null };
type Chunk = {
  model?: string;
  usage?: { prompt_tokens?: number; completion_tokens?: number } | null;
  choices?: {
    delta?: Delta & { tool_calls?: { function?: { name?: string; arguments?: string } }[] };
    finish_reason?: string | null;
  }[];
};

function read(path: string): { body: string; chunks: Chunk[] } {
  const text = readFileSync(join(root, path), "utf8");
  const lines = text.split("\n").map((line) => line.replace(/^data: /, ""));
  const chunks = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Chunk);
  const framed = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  return { body: path.endsWith(".sse") ? text : `${framed}data: [DONE]\n\n`, chunks };
}

describe.skipIf(recorded.length === 0)("recorded chat streams (needs the shared recordings)", () => {
  let server: Server;
  let baseURL: string;

  beforeAll(async () => {
    server = createServer((incoming, response) => {
      const path = decodeURIComponent(incoming.url!.replace(/^\//, "").replace(/\/chat\/completions$/, ""));
      const bytes = Buffer.from(read(path).body);
      incoming.resume();
      response.socket!.setNoDelay(true);
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  test.each(recorded)("§5 a recorded stream gives its parts and its finish: %s", async (path) => {
    const { chunks } = read(path);
    const port = openai({ model: "any", baseURL: `${baseURL}/${encodeURIComponent(path)}`, apiKey: "test-key-1234" });
    const reply = await ask(port, request([user("hi")], { tools: [tool("weather"), tool("read_file")] }));
    const deltas = chunks.map((c) => c.choices?.[0]?.delta ?? {});
    const pieces = deltas.flatMap((d) => d.tool_calls ?? []);
    expect(reply.failure).toBeUndefined();
    expect(reply.text).toBe(deltas.map((d) => d.content ?? "").join(""));
    expect(reply.thinking).toBe(deltas.map((d) => d.reasoning_content ?? d.reasoning ?? "").join(""));
    expect(reply.calls.map((c) => c.text).join("")).toBe(pieces.map((p) => p.function?.arguments ?? "").join(""));
    expect(reply.calls.map((c) => c.name)).toEqual(pieces.flatMap((p) => p.function?.name || []));
    for (const call of reply.calls) {
      expect(() => JSON.parse(call.text)).not.toThrow();
      expect(call.wireId).not.toBe("");
    }
    const finish = chunks.findLast((c) => c.choices?.[0]?.finish_reason)!.choices![0]!.finish_reason;
    expect(reply.finish).toBe(finish === "tool_calls" ? "tool-calls" : finish);
    const usage = chunks.findLast((c) => c.usage)?.usage;
    expect(reply.usage?.input).toBe(usage?.prompt_tokens);
    if (usage) expect(reply.usage!.output).toBeGreaterThanOrEqual(usage.completion_tokens!);
    expect(reply.chunks.at(-1)?.type).toBe("finish");
    expect(reply.chunks.filter((c) => c.type === "usage").length).toBe(usage ? 1 : 0);
  });

  test("§10 reasoning that a provider leaves out of its completion is counted as output", async () => {
    const path = "openai-compatible/chat_xai-tool-call.chunks.txt";
    const port = openai({ model: "any", baseURL: `${baseURL}/${encodeURIComponent(path)}`, apiKey: "test-key-1234" });
    const { usage } = await ask(port, request([user("hi")], { tools: [tool("weather")] }));
    expect(usage).toEqual({ input: 307, output: 253, cacheRead: 306, reasoning: 227 });
  });
});

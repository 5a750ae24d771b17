/** Every recording of the shared set over real HTTP in pieces of seven bytes; the table beside this file says what each gives. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openai } from "../../src/openai.ts";
import { ask, request, tool, user, type Reply } from "./chat-fixture.ts";

const root = "../shared/data/sse/ai-sdk";
const table = new URL("recorded-streams.txt", import.meta.url);
const files = existsSync(root)
  ? readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((path) => /\.(chunks\.txt|sse|json)$/.test(path))
      .sort()
  : [];

/** As the provider would send it: a stream, a document, or an error with its status. */
function wire(path: string): { status: number; type: string; body: string } {
  const text = readFileSync(join(root, path), "utf8");
  if (path.endsWith(".sse")) return { status: 200, type: "text/event-stream", body: text };
  if (path.endsWith(".json")) return { status: /error/.test(path) ? 400 : 200, type: "application/json", body: text };
  const events = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => `data: ${line}\n\n`)
    .join("");
  return { status: 200, type: "text/event-stream", body: `${events}data: [DONE]\n\n` };
}

const apiOf = (path: string) => (/\/responses_/.test(path) ? "responses" : "chat");

/** One line of the table. */
function rowOf(path: string, reply: Reply): string {
  const counts: { [part: string]: number } = {};
  const keys = new Set<string>();
  for (const chunk of reply.chunks)
    if (chunk.type === "text" || chunk.type === "thinking" || chunk.type === "tool-call") {
      const key = `${chunk.type} ${"key" in chunk ? chunk.key : ""}`;
      if (!keys.has(key)) counts[chunk.type] = (counts[chunk.type] ?? 0) + 1;
      keys.add(key);
    }
  const parts = Object.entries(counts).map(([type, n]) => `${n} ${type}`);
  const { input, output, cacheRead, reasoning } = reply.usage ?? {};
  const usage = reply.usage ? [input, output, cacheRead, reasoning].map((n) => n ?? "–").join("/") : "none";
  return [
    path,
    apiOf(path),
    parts.join(" + ") || "nothing",
    `${reply.text.length}/${reply.thinking.length} chars`,
    `${reply.opaque.length} opaque`,
    `calls ${reply.calls.map((c) => `${c.name}${c.text}`).join(" ") || "none"}`,
    `usage ${usage}`,
    reply.failure
      ? `${reply.failure.class}: ${reply.failure.message.replace(/127\.0\.0\.1:\d+/g, "HOST").slice(0, 160)}`
      : `finish ${reply.finish}`,
  ].join(" | ");
}

describe.skipIf(files.length === 0)("recordings (need the shared data)", () => {
  let server: Server;
  let baseURL: string;
  const rows: string[] = [];

  beforeAll(async () => {
    server = createServer((incoming, response) => {
      const path = decodeURIComponent(incoming.url!.split("/")[1]!);
      const { status, type, body } = wire(path);
      const bytes = Buffer.from(body);
      incoming.resume();
      response.socket!.setNoDelay(true);
      response.writeHead(status, { "content-type": type });
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  test(
    "§5 each gives the parts, calls, usage and ending that are in it, or a failure of its class",
    { timeout: 120_000 },
    async () => {
      for (const path of files) {
        const port = openai({
          api: apiOf(path),
          model: "any",
          baseURL: `${baseURL}/${encodeURIComponent(path)}`,
          apiKey: "test-key-1234",
        });
        const reply = await ask(port, request([user("hi")], { tools: [tool("weather"), tool("read_file")] }));
        expect(reply.chunks.at(-1)?.type, path).toMatch(/^(finish|failed)$/);
        expect(reply.chunks.filter((c) => c.type === "usage").length, path).toBeLessThan(2);
        if (!reply.failure) for (const call of reply.calls) expect(() => JSON.parse(call.text), path).not.toThrow();
        rows.push(rowOf(path, reply));
      }
      console.log(rows.join("\n"));
      const text = `${rows.join("\n")}\n`;
      if (process.env["UPDATE_TABLE"]) writeFileSync(table, text);
      expect(text).toBe(readFileSync(table, "utf8"));
    },
  );
});

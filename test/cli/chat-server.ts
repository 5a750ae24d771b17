/** A small server that speaks Chat Completions and answers as a test says. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export type Asked = {
  headers: IncomingHttpHeaders;
  body: {
    model: string;
    messages: { role: string; content?: unknown; tool_calls?: { id: string }[]; tool_call_id?: string }[];
  };
};
/** `status` answers with an error instead; `error` breaks the stream off with one. */
export type Answer = {
  text?: string;
  calls?: { name: string; args: object }[];
  status?: number;
  error?: object;
};

export type ChatServer = { url: string; asked: Asked[]; args: string[] };

/** Starts it for one test. `answers` are given in turn; the last one again and again. */
export async function chatServer(answers: Answer[] | ((asked: Asked, index: number) => Answer)): Promise<ChatServer> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request.setEncoding("utf8")) text += piece as string;
    const now: Asked = { headers: request.headers, body: JSON.parse(text) as Asked["body"] };
    const index = asked.push(now) - 1;
    send(response, typeof answers === "function" ? answers(now, index) : (answers[index] ?? answers.at(-1)!));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { url, asked, args: ["--base-url", url, "--model", "m"] };
}

function send(response: ServerResponse, { text, calls = [], status, error }: Answer): void {
  if (status !== undefined) {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = (delta: object, finish: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  if (text !== undefined) chunk({ content: text });
  for (const [index, { name, args }] of calls.entries())
    chunk({
      tool_calls: [
        { index, id: `wire_${index}`, type: "function", function: { name, arguments: JSON.stringify(args) } },
      ],
    });
  if (error) response.write(`data: ${JSON.stringify({ error })}\n\n`);
  else chunk({}, calls.length ? "tool_calls" : "stop");
  response.end(error ? undefined : "data: [DONE]\n\n");
}

/** A call of `run_command`. */
export const command = (line: string) => ({ name: "run_command", args: { command: line } });
/** A call of `write_file`. */
export const write = (path: string, content: string) => ({ name: "write_file", args: { path, content } });

/** Whether every call in a request has its result right behind it. */
export function isPaired({ body }: Asked): boolean {
  const calls = body.messages.flatMap((m) => m.tool_calls?.map((c) => c.id) ?? []);
  const results = body.messages.flatMap((m) => (m.tool_call_id === undefined ? [] : [m.tool_call_id]));
  return calls.length === results.length && calls.every((id, i) => results[i] === id);
}

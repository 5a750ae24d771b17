/** Servers that break, over real HTTP: every break has its class, and none is an empty success. */
import { getLocal } from "mockttp";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openai } from "../../src/openai.ts";
import { ask, request, user, type Reply } from "./chat-fixture.ts";

const server = getLocal();
beforeEach(() => server.start());
afterEach(() => server.stop());

const KEY = "sk-test-0123456789abcdef";
const SSE = { "content-type": "text/event-stream" };
// Chunked: without it the end of the connection would be the end of the body.
const CHUNKED = { ...SSE, "transfer-encoding": "chunked" };
const port = () => openai({ model: "m", baseURL: `${server.url}/v1`, apiKey: KEY });
const route = () => server.forPost("/v1/chat/completions");
const hi = request([user("hi")]);

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const says = (content: string, finish_reason: string | null = null) =>
  event({ model: "m", choices: [{ index: 0, delta: { content }, finish_reason }] });

async function answered(status: number, body: string, headers: Record<string, string> = SSE): Promise<Reply> {
  await route().thenReply(status, body, headers);
  return ask(port(), hi);
}
const failedAs = (reply: Reply) => {
  expect(reply.finish).toBeUndefined();
  expect(reply.chunks.filter((c) => c.type === "failed").length).toBe(1);
  expect(reply.chunks.at(-1)?.type).toBe("failed");
  expect(JSON.stringify(reply.failure)).not.toContain("0123456789");
  return reply.failure;
};

describe("streams that end badly", () => {
  test("C3 a clean end of stream without a finish reason is malformed", async () => {
    const reply = await answered(200, says("Hel"));
    expect(failedAs(reply)).toMatchObject({ class: "malformed", message: expect.stringContaining("no finish reason") });
    expect(reply.text).toBe("Hel");
  });

  test("C3 an end with [DONE] but without a finish reason is malformed", async () => {
    expect(failedAs(await answered(200, `${says("Hel")}data: [DONE]\n\n`))?.class).toBe("malformed");
  });

  test("C3 a stream with nothing in it is malformed", async () => {
    expect(failedAs(await answered(200, ""))?.class).toBe("malformed");
    expect(failedAs(await answered(200, "data: [DONE]\n\n"))?.class).toBe("malformed");
  });

  test("C3 a response with no body at all is malformed", async () => {
    await route().thenReply(204);
    expect(failedAs(await ask(port(), hi))?.class).toBe("malformed");
  });

  test("C3 an answer without [DONE] is whole when it has a finish reason", async () => {
    const reply = await answered(200, says("Hello", "stop"));
    expect(reply).toMatchObject({ text: "Hello", finish: "stop", failure: undefined });
  });

  test("§5 a connection reset in the middle of the body is malformed", async () => {
    const body = new PassThrough();
    await route().thenStream(200, body, CHUNKED);
    body.write(says("Hel"));
    const reply = await ask(port(), hi, { onChunk: () => body.destroy(new Error("cut")) });
    expect(failedAs(reply)).toMatchObject({ class: "malformed", message: expect.stringContaining("broke off") });
    expect(reply.text).toBe("Hel");
  });

  test("§5 a reset after the finish reason leaves the answer whole", async () => {
    const body = new PassThrough();
    await route().thenStream(200, body, CHUNKED);
    body.write(says("Hello", "stop"));
    const reply = await ask(port(), hi, { onChunk: () => body.destroy(new Error("cut")) });
    expect(reply).toMatchObject({ text: "Hello", finish: "stop", failure: undefined });
  });

  test("§5 a line that is not JSON is malformed, and nothing is printed", async () => {
    expect(failedAs(await answered(200, `${says("Hel")}data: {"choices":[{"del\n\n`))).toMatchObject({
      class: "malformed",
      message: expect.stringContaining("not valid JSON"),
    });
  });

  test("C2 half of a tool call's arguments is passed on as it is, never mended", async () => {
    const call = { index: 0, id: "c1", function: { name: "read", arguments: '{"path":"a' } };
    const reply = await answered(200, event({ choices: [{ delta: { tool_calls: [call] } }] }) + says("", "length"));
    expect(reply).toMatchObject({ finish: "length", calls: [{ name: "read", text: '{"path":"a', wireId: "c1" }] });
  });
});

describe("answers that are no streams", () => {
  test("C5 an HTML page with status 200 is malformed and says so", async () => {
    const page = "<!doctype html><html><title>Sign in</title><body>Welcome to the proxy</body></html>";
    const failure = failedAs(await answered(200, page, { "content-type": "text/html; charset=utf-8" }));
    expect(failure?.class).toBe("malformed");
    expect(failure?.message).toMatch(/web page.*baseURL/);
  });

  test("C5 a whole completion as JSON instead of a stream is malformed and says that stream was ignored", async () => {
    const whole = { object: "chat.completion", choices: [{ message: { content: "Hello" }, finish_reason: "stop" }] };
    const failure = failedAs(await answered(200, JSON.stringify(whole), { "content-type": "application/json" }));
    expect(failure).toMatchObject({ class: "malformed", message: expect.stringContaining("ignored `stream: true`") });
  });

  test("C5 an error as JSON with status 200 has the error's class", async () => {
    const error = { error: { message: "Slow down", code: 429 } };
    const failure = failedAs(await answered(200, JSON.stringify(error), { "content-type": "application/json" }));
    expect(failure).toMatchObject({ class: "timeout", status: 429 });
  });

  test("C5 text that is no event stream is malformed", async () => {
    expect(failedAs(await answered(200, "All good here.", { "content-type": "text/plain" }))?.class).toBe("malformed");
  });

  test("§5 a stream that is declared as plain text is read all the same", async () => {
    expect(await answered(200, says("Hello", "stop"), { "content-type": "text/plain" })).toMatchObject({
      text: "Hello",
      finish: "stop",
    });
  });
});

describe("errors inside a stream with status 200", () => {
  const cases: [string, unknown, string][] = [
    ["of the server", { message: "The server had an error", type: "server_error" }, "timeout"],
    ["of a gateway with a status as its code", { message: "Bad gateway", code: 502 }, "timeout"],
    ["about the context", { message: "too long", code: "context_length_exceeded" }, "overflow"],
    ["about the quota", { message: "You exceeded your current quota", code: "insufficient_quota" }, "fatal"],
    ["about the content", { message: "flagged", code: "content_filter" }, "refused"],
    ["that explains nothing", { message: "oops" }, "malformed"],
    ["that is only a string", "oops", "malformed"],
  ];
  test.each(cases)("C5 an error %s is classified", async (_, error, expected) => {
    const reply = await answered(200, says("Hel") + event({ error }));
    expect(failedAs(reply)?.class).toBe(expected);
    expect(reply.text).toBe("Hel");
  });

  test("C5 an error event is classified", async () => {
    const body = `${says("Hel")}event: error\n${event({ message: "overloaded", type: "overloaded_error" })}`;
    expect(failedAs(await answered(200, body))?.class).toBe("timeout");
  });

  test("C5 an error after the finish reason takes the answer back", async () => {
    const body = says("Hello", "stop") + event({ error: { message: "dropped", type: "server_error" } });
    expect(failedAs(await answered(200, body))?.class).toBe("timeout");
  });

  test("§5 usage that was reported before a failure is kept", async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 1 };
    const reply = await answered(200, event({ usage, choices: [{ delta: { content: "Hel" } }] }));
    expect(failedAs(reply)?.class).toBe("malformed");
    expect(reply.usage).toEqual({ input: 9, output: 1 });
  });
});

describe("error statuses", () => {
  const json = { "content-type": "application/json" };
  const cases: [string, number, unknown, string][] = [
    [
      "a wrong key",
      401,
      { error: { message: `Incorrect API key provided: ${KEY}.`, code: "invalid_api_key" } },
      "auth",
    ],
    ["a wrong key that some call a bad request", 400, [{ error: { message: "API key not valid." } }], "auth"],
    ["a missing permission", 403, { error: { message: "Project has no access" } }, "auth"],
    ["moderation", 403, { error: { message: "Your input was flagged", code: 403 } }, "refused"],
    ["content that was filtered", 400, { error: { message: "filtered", code: "content_filter" } }, "refused"],
    ["no money", 402, { error: { message: "Insufficient Balance" } }, "fatal"],
    ["no quota", 429, { error: { message: "quota", code: "insufficient_quota" } }, "fatal"],
    ["too many requests", 429, { error: { message: "Rate limit reached: too many tokens per minute" } }, "timeout"],
    ["a request timeout", 408, "", "timeout"],
    ["a conflict", 409, { message: "lock timeout" }, "timeout"],
    ["an overloaded server", 529, { error: { message: "Overloaded" } }, "timeout"],
    ["a page of a broken gateway", 502, "<html><h1>502 Bad Gateway</h1><hr>nginx</html>", "timeout"],
    ["an unknown model", 404, { error: { message: "The model `x` does not exist" } }, "fatal"],
    ["an unsupported parameter", 400, { error: { message: "Unsupported parameter: 'max_tokens'" } }, "fatal"],
    ["an argument list of a framework", 422, { detail: [{ msg: "field required" }] }, "fatal"],
    ["a body that is too large", 413, "", "overflow"],
  ];
  test.each(cases)("§5 %s (%i) is classified", async (_, status, body, expected) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const failure = failedAs(await answered(status, text, typeof body === "string" ? {} : json));
    expect(failure).toMatchObject({ class: expected, status });
    expect(failure!.message).not.toContain("<");
    expect(failure!.message).toContain("localhost");
  });

  const tooLong = [
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Please reduce the length of the messages or completion.",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "the request exceeds the available context size. try increasing the context size",
    "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens",
    "Input is too long for requested model.",
    "Invalid request: Your request exceeded model token limit: 8192",
    "prompt token count of 92221 exceeds the limit of 64000",
    "Range of input length should be [1, 30720]",
    "Prompt exceeds max length",
  ];
  test.each(tooLong)("§5 a prompt that is too long is overflow in the words of: %s", async (message) => {
    const failure = failedAs(await answered(400, JSON.stringify({ error: { message } }), json));
    expect(failure).toMatchObject({ class: "overflow", status: 400 });
  });

  const notTooLong = [
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
    "Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40",
    "Invalid 'tools': array too long. Expected an array with maximum length 128",
  ];
  test.each(notTooLong)("§5 another limit is not overflow: %s", async (message) => {
    expect(failedAs(await answered(400, JSON.stringify({ error: { message } }), json))?.class).toBe("fatal");
  });

  test("§5 one request above the tokens of a minute is overflow: waiting does not mend it", async () => {
    const message = "Request too large for m on tokens per min (TPM): Limit 30000, Requested 50000.";
    expect(failedAs(await answered(429, JSON.stringify({ error: { message } }), json))?.class).toBe("overflow");
  });

  test("C7 Retry-After is read as seconds, milliseconds or a date", async () => {
    const waits = async (headers: Record<string, string>) => failedAs(await answered(429, "{}", headers))?.retryAfterMs;
    expect(await waits({ "retry-after": "1.5" })).toBe(1500);
    expect(await waits({ "retry-after-ms": "250", "retry-after": "1" })).toBe(250);
    const date = "Tue, 01 Dec 2026 00:00:00 GMT";
    expect(await waits({ date, "retry-after": "Tue, 01 Dec 2026 00:00:07 GMT" })).toBe(7000);
    expect(await waits({ "retry-after": "soon" })).toBeUndefined();
  });

  test("§12 no failure message shows a key, nor a part of one, nor a secret header", async () => {
    const secret = "tok_Zk93hHq0PpL2";
    const shown = `Incorrect key sk-te***cdef (${KEY}) Bearer ${KEY}, sk-test-01…cdef, header ${secret}, abcdef****wxyz`;
    const headers = { "x-auth-token": secret };
    const odd = openai({ model: "m", baseURL: `${server.url}/v1`, apiKey: KEY, headers });
    await route().thenReply(401, JSON.stringify({ error: { message: shown } }), json);
    const { failure } = await ask(odd, hi);
    expect(failure?.class).toBe("auth");
    for (const part of ["sk-te", "cdef", "Zk93", "abcdef", "wxyz"]) expect(failure!.message).not.toContain(part);
  });

  test("§12 a long error page is cut", async () => {
    const failure = failedAs(await answered(500, "x ".repeat(5000), { "content-type": "text/plain" }));
    expect(failure!.message.length).toBeLessThan(600);
  });
});

describe("connections", () => {
  test("§5 a refused connection is a timeout that names the host and what to check", async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const { port: free } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const gone = openai({ model: "m", baseURL: `http://127.0.0.1:${free}/v1`, apiKey: KEY });
    const failure = failedAs(await ask(gone, hi));
    expect(failure?.class).toBe("timeout");
    expect(failure?.message).toContain(`127.0.0.1:${free} (ECONNREFUSED)`);
    expect(failure?.message).toMatch(/baseURL/);
  });

  test("§5 a connection that is reset before it answers is a timeout", async () => {
    await route().thenResetConnection();
    expect(failedAs(await ask(port(), hi))?.class).toBe("timeout");
  });

  test("§5 an abort ends a stalled body as cancelled", async () => {
    const body = new PassThrough();
    await route().thenStream(200, body, CHUNKED);
    body.write(says("Hel"));
    const abort = new AbortController();
    const reply = await ask(port(), hi, { signal: abort.signal, onChunk: () => abort.abort() });
    expect(failedAs(reply)?.class).toBe("cancelled");
    expect(reply.text).toBe("Hel");
    body.destroy();
  });

  test("§5 an abort ends a request that was not answered yet as cancelled", async () => {
    const abort = new AbortController();
    await route().thenCallback(() => {
      abort.abort();
      return { statusCode: 200, headers: SSE, body: says("late", "stop") };
    });
    expect(failedAs(await ask(port(), hi, { signal: abort.signal }))?.class).toBe("cancelled");
  });

  test("§5 a request whose signal is aborted already is cancelled", async () => {
    expect(failedAs(await ask(port(), hi, { signal: AbortSignal.abort() }))?.class).toBe("cancelled");
  });
});

/** What goes out: messages, ids, names, settings; and histories that come from elsewhere. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ChatRequests } from "../../src/adapters/model/chat-request.ts";
import { toolNames, wireName } from "../../src/adapters/model/tool-names.ts";
import type { AssistantMessage, Message, ToolMessage } from "../../src/core/message.ts";
import { fromOpenAIMessages } from "../../src/openai.ts";
import { request, user } from "./chat-fixture.ts";

describe("the request", () => {
  const settings = { model: "m", official: false, hostname: "h" };
  const call = (callId: string, more: object = {}) =>
    ({ type: "tool-call", callId, name: "read", args: { path: "a" }, ...more }) as const;
  const assistant = (id: string, ...parts: AssistantMessage["parts"]): AssistantMessage => ({
    id,
    role: "assistant",
    parts,
  });
  const results = (id: string, ...callIds: string[]): ToolMessage => ({
    id,
    role: "tool",
    parts: callIds.map((callId) => ({
      type: "tool-result",
      callId,
      name: "read",
      status: "ok",
      output: [{ type: "text", text: `of ${callId}` }],
    })),
  });
  type Wire = { role: string; content: unknown; [key: string]: any };
  const wire = (messages: Message[]) => new ChatRequests(settings).body(request(messages))["messages"] as Wire[];

  test("§5 equal requests are equal bytes, and a longer one begins with the shorter one", () => {
    const history: Message[] = [user("a"), assistant("m1", call("c1")), results("r1", "c1"), user("b", "u2")];
    const requests = new ChatRequests(settings);
    const bytes = (n: number) => JSON.stringify(requests.body(request(history.slice(0, n)))["messages"]);
    const fresh = JSON.stringify(new ChatRequests(settings).body(request(structuredClone(history)))["messages"]);
    expect(bytes(4)).toBe(fresh);
    for (const n of [1, 3]) expect(bytes(4).startsWith(bytes(n).slice(0, -1))).toBe(true);
  });

  test("§5 mapping a history costs nothing the second time", () => {
    const history: Message[] = [user("a"), assistant("m1", call("c1")), results("r1", "c1")];
    const requests = new ChatRequests(settings);
    const first = requests.body(request(history))["messages"] as unknown[];
    const second = requests.body(request([...history, user("b", "u2")]))["messages"] as unknown[];
    for (let i = 1; i < first.length; i++) expect(second[i]).toBe(first[i]);
  });

  test("A6 ids are the provider's own on the wire; one given twice is replaced by ours, in call and result", () => {
    const [, , calls, first, second] = wire([
      user("a"),
      assistant("m1", call("c1", { wireId: "x" }), call("c2", { wireId: "x" })),
      results("r1", "c1", "c2"),
    ]);
    expect(calls!["tool_calls"].map((c: { id: string }) => c.id)).toEqual(["x", "c2"]);
    expect([first!["tool_call_id"], second!["tool_call_id"]]).toEqual(["x", "c2"]);
  });

  test("A6 an id that every round repeats goes back to its own round", () => {
    const messages = wire([
      assistant("m1", call("c1", { wireId: "0" })),
      results("r1", "c1"),
      assistant("m2", call("c2", { wireId: "0" })),
      results("r2", "c2"),
    ]);
    expect(messages.map((m) => [m.role, m["tool_call_id"], m.content])).toEqual([
      ["system", undefined, "Be brief."],
      ["assistant", undefined, null],
      ["tool", "0", "of c1"],
      ["assistant", undefined, null],
      ["tool", "0", "of c2"],
    ]);
  });

  test("A8 arguments that are no JSON object go back as an empty object, so that the history stays sendable", () => {
    const texts = [{ args: undefined, raw: '{"path":' }, { args: [1] }, { args: "x" }, { args: { a: 1 } }].map(
      (more) => wire([assistant("m1", call("c1", more))])[1]!["tool_calls"][0].function.arguments,
    );
    expect(texts).toEqual(["{}", "{}", "{}", '{"a":1}']);
  });

  test("§5 media that a tool returned follow its results, which stay together", () => {
    const image = { type: "image", mediaType: "image/png", data: "QUJD" } as const;
    const shot = results("r1", "c1", "c2");
    shot.parts[0]!.output.push(image);
    const messages = wire([assistant("m1", call("c1"), call("c2")), shot]);
    expect(messages.slice(1).map((m) => m.role)).toEqual(["assistant", "tool", "tool", "user"]);
    expect(messages[4]!.content).toContainEqual({
      type: "image_url",
      image_url: { url: "data:image/png;base64,QUJD" },
    });
  });

  test("§5 a user's images, files and sounds go out as parts", () => {
    const [, message] = wire([
      {
        ...user("see"),
        parts: [
          { type: "text", text: "see" },
          { type: "image", mediaType: "image/png", url: "https://x/y.png" },
          { type: "file", mediaType: "application/pdf", name: "a.pdf", data: "QQ==" },
          { type: "audio", mediaType: "audio/mpeg", data: "QQ==" },
        ],
      },
    ]);
    expect(message!.content).toEqual([
      { type: "text", text: "see" },
      { type: "image_url", image_url: { url: "https://x/y.png" } },
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,QQ==" } },
      { type: "input_audio", input_audio: { data: "QQ==", format: "mp3" } },
    ]);
  });

  test("C6 reasoning goes back in the field it came in, to the host it came from, and nowhere else", () => {
    const opaque = (data: object) => ({ provider: "openai-chat", data: data as never });
    const message = assistant(
      "m1",
      { type: "thinking", text: "hm", opaque: opaque({ field: "reasoning_content", host: "h" }) },
      { type: "thinking", text: "", opaque: opaque({ field: "reasoning_details", host: "h", value: [{ data: "e" }] }) },
      { type: "thinking", text: "secret", opaque: opaque({ field: "reasoning", host: "other" }) },
      { type: "thinking", text: "foreign", opaque: { provider: "else", data: {} } },
      { type: "text", text: "done" },
    );
    expect(wire([message])[1]).toEqual({
      role: "assistant",
      content: "done",
      reasoning_content: "hm",
      reasoning_details: [{ data: "e" }],
    });
  });

  test("§5 the limit of the answer has the name that its server knows", () => {
    const more = { settings: { maxOutputTokens: 5 } };
    expect(new ChatRequests({ ...settings, official: true }).body(request([], more))).toHaveProperty(
      "max_completion_tokens",
      5,
    );
    expect(new ChatRequests(settings).body(request([], more))).toHaveProperty("max_tokens", 5);
  });
});

describe("tool names", () => {
  const awkward = [
    "math.gcd",
    "math gcd",
    "math_gcd",
    "a".repeat(65),
    "a".repeat(66),
    "日本",
    "",
    "x",
    wireName("math.gcd"),
  ];

  test("G2 every name is accepted, none meets another, and all come back", () => {
    const wires = awkward.map(wireName);
    for (const w of wires) expect(w).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(new Set(wires).size).toBe(awkward.length);
    const back = toolNames(awkward.map((name) => ({ name })));
    expect(wires.map(back)).toEqual(awkward);
    expect(wireName("read_file")).toBe("read_file");
    expect(back("invented")).toBe("invented");
  });

  const rows = "../shared/data/bfcl/BFCL_v4_parallel.json";
  test.skipIf(!existsSync(rows))("G2 the function names of a public collection are mapped and mapped back", () => {
    const names = new Set(
      readFileSync(rows, "utf8")
        .split("\n")
        .filter(Boolean)
        .flatMap((line) => (JSON.parse(line) as { function: { name: string }[] }).function.map((f) => f.name)),
    );
    const back = toolNames([...names].map((name) => ({ name })));
    for (const name of names) {
      expect(wireName(name)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(back(wireName(name))).toBe(name);
    }
  });
});

describe("imported histories", () => {
  const call = (id: string, args = "{}") => ({ id, type: "function", function: { name: "f", arguments: args } });

  test("§1 system messages are skipped, and calls meet their results in call order", () => {
    const ours = fromOpenAIMessages([
      { role: "system", content: "x" },
      { role: "user", content: "do" },
      { role: "assistant", content: null, tool_calls: [call("a", '{"n":1}'), call("b")] },
      { role: "tool", tool_call_id: "b", content: "B" },
      { role: "tool", tool_call_id: "a", content: "A" },
      { role: "assistant", content: "done" },
    ]);
    expect(ours.map((m) => m.role)).toEqual(["user", "assistant", "tool", "assistant"]);
    const tools = ours[2] as ToolMessage;
    expect(tools.parts.map((p) => [p.callId, p.status, p.output])).toEqual([
      ["a", "ok", [{ type: "text", text: "A" }]],
      ["b", "ok", [{ type: "text", text: "B" }]],
    ]);
  });

  test("A2 a call without a result gets one that is unknown, a result without a call is dropped", () => {
    const history = [
      { role: "tool", tool_call_id: "ghost", content: "?" },
      { role: "assistant", tool_calls: [call("a"), call("b", "{bad")] },
      { role: "tool", tool_call_id: "a", content: "A" },
      { role: "tool", tool_call_id: "a", content: "again" },
      { role: "user", content: "next" },
      { role: "tool", tool_call_id: "b", content: "too late" },
    ];
    const ours = fromOpenAIMessages(history);
    expect(ours.map((m) => m.role)).toEqual(["assistant", "tool", "user"]);
    expect((ours[1] as ToolMessage).parts.map((p) => [p.callId, p.status])).toEqual([
      ["a", "ok"],
      ["b", "unknown"],
    ]);
    expect((ours[0] as AssistantMessage).parts[1]).toMatchObject({ callId: "b", raw: "{bad" });
    expect(fromOpenAIMessages(history)).toEqual(ours);
  });

  test("A6 ids that a history repeats become ours, and go back as they were", () => {
    const round = [
      { role: "assistant", tool_calls: [call("0")] },
      { role: "tool", tool_call_id: "0", content: "A" },
    ];
    const ours = fromOpenAIMessages([...round, ...round]);
    const ids = ours.flatMap((m) => (m.role === "tool" ? m.parts.map((p) => p.callId) : []));
    expect(new Set(ids).size).toBe(2);
    const wire = new ChatRequests({ model: "m", official: false, hostname: "h" }).body(request(ours))["messages"];
    expect((wire as { tool_call_id?: string }[]).flatMap((m) => m.tool_call_id ?? [])).toEqual(["0", "0"]);
  });

  test("§12 what is no message is refused with its path", () => {
    expect(() => fromOpenAIMessages([{ role: "robot" }])).toThrow(
      expect.objectContaining({ code: "invalid_options", message: expect.stringContaining("messages.0.role") }),
    );
  });
});

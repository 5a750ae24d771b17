/** F1–F8 with the real client over real HTTP: what counts is what is in the bodies of its requests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createAgent, tool, workspaceTools, type AgentOptions, type Session } from "../../src/index.ts";
import { openai } from "../../src/openai.ts";
import { chatServer, isPaired, type Answer, type Asked, type ChatServer } from "../cli/chat-server.ts";

type Wire = { role: string; content?: unknown; tool_calls?: { function: { name: string; arguments: string } }[] };
const wire = ({ body }: Asked) => body.messages as Wire[];
const saidIn = (asked: Asked): string =>
  wire(asked)
    .map((m) => String(m.content ?? ""))
    .join("\n");
const isSummary = (asked: Asked): boolean =>
  /Write that summary|needs a summary/.test(String(wire(asked).at(-1)!.content));
const tooLong: Answer = {
  status: 400,
  error: {
    message: "This model's maximum context length is exceeded",
    code: "context_length_exceeded",
    type: "invalid_request_error",
  },
};
const turnsOf = ({ asked }: ChatServer) => asked.filter((one) => !isSummary(one));
const summariesOf = ({ asked }: ChatServer) => asked.filter(isSummary);
const PROMPT = "This is where the conversation needs a summary.";

type Setup = {
  answer: (asked: Asked, index: number) => Answer;
  output?: string;
  /** Its results are never elided, so that only a summary helps. */
  retain?: boolean;
  options?: Partial<AgentOptions>;
};

/** A session whose model is a server, with a tool that says `output`. */
async function open({
  answer,
  output = "seen",
  retain = false,
  options = {},
}: Setup): Promise<{ session: Session; server: ChatServer }> {
  const server = await chatServer(answer);
  const look = tool({
    description: "Looks.",
    input: z.object({ n: z.number() }),
    readOnly: true,
    retain,
    execute: () => output,
  });
  const agent = createAgent({
    model: openai({ model: "m", baseURL: server.url, apiKey: "k", window: 8_000 }),
    tools: { look },
    logger: { warn: () => {} },
    ...options,
  });
  return { session: await agent.createSession(), server };
}
const look = (n: number): Answer => ({ calls: [{ name: "look", args: { n } }] });
const summary = (text = "the gist"): Answer => ({ text: `[summary]${text}[/summary]` });

describe("compaction, as a provider sees it", () => {
  test("F1 the cut never separates a call from its result", async () => {
    let n = 0;
    const answer = (asked: Asked): Answer =>
      isSummary(asked) ? summary() : ++n % 15 === 0 ? { text: "done" } : look(n);
    const { session, server } = await open({ answer, output: "a line of a long file\n".repeat(250) });
    for (let i = 0; i < 5; i++) expect((await session.run(`task ${i}`).result).status).toBe("completed");
    expect(summariesOf(server).length).toBeGreaterThan(1);
    for (const asked of server.asked) expect(isPaired(asked)).toBe(true);
    const elided = turnsOf(server).filter((asked) => /\[… \d+ characters omitted …\]/.test(saidIn(asked)));
    expect(elided.length).toBeGreaterThan(0);
    expect(saidIn(server.asked.at(-1)!)).toContain("[context_summary]\nthe gist\n[/context_summary]");
  });

  test("F2 what cannot be made to fit ends the run after a few requests, whatever the provider says", async () => {
    const refusing = await open({ answer: (asked) => (isSummary(asked) ? summary() : tooLong) });
    expect(await refusing.session.run("go").result).toMatchObject({
      status: "failed",
      error: { code: "context_exhausted" },
    });
    expect(refusing.server.asked.length).toBeLessThanOrEqual(3);

    // A server that miscounts: each answer is followed by "too long", until the run is given up.
    let n = 0;
    const grudging = await open({
      answer: (asked) => (isSummary(asked) ? summary() : ++n % 2 === 0 ? tooLong : look(n)),
      output: "words ".repeat(900),
      options: { limits: { maxTurns: 20 } },
    });
    const result = await grudging.session.run("go").result;
    expect(["failed", "max_turns"]).toContain(result.status);
    expect(grudging.server.asked.length).toBeLessThan(20 * 6);
    for (const asked of grudging.server.asked) expect(isPaired(asked)).toBe(true);
  });

  test("F2 no model is asked when instructions and the newest prompt cannot fit, and nothing is lost", async () => {
    const { session, server } = await open({ answer: () => ({ text: "never" }) });
    const result = await session.run("much too long ".repeat(4_000)).result;
    expect(result).toMatchObject({ status: "failed", error: { code: "context_exhausted", retryable: false } });
    expect(server.asked).toEqual([]);
    expect(result.undelivered).toHaveLength(1);
  });

  test("F3 a constraint far behind the beginning of a prompt survives any number of compactions, word for word", async () => {
    const prompt = `${"Please tidy the deployment scripts, one after the other. ".repeat(20)}Never touch production.`;
    let n = 0;
    const { session, server } = await open({
      answer: (asked) => (isSummary(asked) ? summary("scripts were tidied") : ++n < 60 ? look(n) : { text: "done" }),
      output: "set -euo pipefail; deploy to staging\n".repeat(60),
      retain: true,
    });
    expect((await session.run(prompt).result).status).toBe("completed");
    expect(summariesOf(server).length).toBeGreaterThan(3);
    for (const asked of turnsOf(server)) {
      const mine = wire(asked).filter((m) => m.role === "user" && m.content === prompt);
      expect(mine).toHaveLength(1);
    }
  });

  test("F4 arguments are never elided, and a file tool refuses to write the line that stands for what was left out", async () => {
    const folder = mkdtempSync(join(tmpdir(), "rcra-f4-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const content = "export const answer = 42; // and a comment\n".repeat(40);
    const copied = `${content.slice(0, 350)}\n[… 1270 characters omitted …]\n`;
    const answers = [
      { calls: [{ name: "write_file", args: { path: "a.ts", content } }] },
      ...Array.from({ length: 5 }, () => ({ calls: [{ name: "read_file", args: { path: "a.ts" } }] })),
      { calls: [{ name: "write_file", args: { path: "b.ts", content: copied } }] },
      { text: "done" },
    ];
    let n = 0;
    const { session, server } = await open({
      answer: (asked) => (isSummary(asked) ? summary() : answers[n++]!),
      options: { tools: { ...workspaceTools(folder) }, compaction: { window: 8_000, maxContextTokens: 6_000 } },
    });
    await session.run("write it", { approve: "allow" }).unwrap();
    const calls = (asked: Asked) => wire(asked).flatMap((m) => m.tool_calls?.map((c) => c.function) ?? []);
    const last = turnsOf(server).at(-1)!;
    expect(turnsOf(server).some((asked) => saidIn(asked).includes("characters omitted …]"))).toBe(true);
    for (const asked of turnsOf(server))
      for (const { name, arguments: args } of calls(asked))
        if (name === "write_file" && args.includes("a.ts")) expect(JSON.parse(args)).toEqual({ path: "a.ts", content });
    expect(String(wire(last).findLast((m) => m.role === "tool")!.content)).toMatch(/Not written: .*characters omitted/);
  });

  test("F5 what is typed during a compaction is delivered right after it: steering in the same run, a prompt in the next", async () => {
    let n = 0;
    let typed = false;
    const { session, server } = await open({
      answer: (asked) => (isSummary(asked) ? summary() : ++n < 12 ? look(n) : { text: "done" }),
      output: "words ".repeat(1_200),
      retain: true,
      options: {
        middleware: [
          {
            name: "typing",
            beforeCompact: async ({ kind }) => {
              if (kind !== "summarize" || typed) return;
              typed = session.steer("and mind the gap") !== false;
            },
          },
        ],
      },
    });
    await session.run("go").unwrap();
    expect(typed).toBe(true);
    const first = server.asked.findIndex(isSummary);
    expect(saidIn(server.asked[first]!)).not.toContain("mind the gap");
    expect(saidIn(server.asked[first + 1]!)).toContain("[user_steering]\nand mind the gap\n[/user_steering]");

    const work = session.compact();
    const run = session.send("next please");
    expect(await work).toEqual({ status: "ok" });
    if ("result" in run) await run.result;
    expect(saidIn(server.asked.at(-1)!)).toContain("next please");
  });

  test("F6 a summary request that is answered with a tool call is asked again, and the next turn is valid", async () => {
    const replies: Answer[] = [look(99), { text: "" }, summary("third time lucky")];
    const { session, server } = await open({
      answer: (asked) => (isSummary(asked) ? replies[summariesOf(server).length - 1]! : { text: "ok" }),
      options: { compaction: { prompt: PROMPT } },
    });
    await session.run("one").unwrap();
    expect(await session.compact()).toEqual({ status: "ok" });
    await session.run("two").unwrap();
    const asked = summariesOf(server);
    expect(asked).toHaveLength(3);
    expect(String(wire(asked[1]!).at(-1)!.content)).toMatch(
      /could not be used: It called a tool\. Answer with text only/,
    );
    for (const one of server.asked) {
      expect(isPaired(one)).toBe(true);
      expect(wire(one).flatMap((m) => m.tool_calls ?? [])).toEqual([]);
    }
    expect(saidIn(server.asked.at(-1)!)).toContain("third time lucky");
  });

  test("F7 a Chinese conversation is compacted before the provider finds it too long", async () => {
    const window = 8_000;
    const exact = (asked: Asked) =>
      wire(asked).reduce(
        (sum, m) => sum + 4 + countTokens(`${m.content ?? ""}${JSON.stringify(m.tool_calls ?? "")}`),
        0,
      );
    let n = 0;
    let refused = 0;
    const { session, server } = await open({
      answer: (asked) => {
        if (exact(asked) > window && !isSummary(asked)) return (refused++, tooLong);
        return isSummary(asked) ? summary("总结") : ++n % 6 === 0 ? { text: "完成了，请继续。" } : look(n);
      },
      output: "会议安排在明天下午三点，请提前准备好演示文稿和销售数据。".repeat(25),
    });
    for (let i = 0; i < 6; i++) await session.run(`请整理第 ${i} 份报告，不要修改生产环境。`).unwrap();
    expect(refused).toBe(0);
    expect(
      summariesOf(server).length + turnsOf(server).filter((a) => saidIn(a).includes("omitted")).length,
    ).toBeGreaterThan(0);
  });

  test("F8 many notices do not stay for ever: they are summarized like everything else", async () => {
    const { session, server } = await open({
      answer: (asked) => (isSummary(asked) ? summary("300 builds were green") : { text: "ok" }),
    });
    await session.run("tell me when something breaks").unwrap();
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 100; i++)
        session.notify({
          kind: "info",
          text: `build ${round}.${i} is green, after some time, as it should be, says the build server in the basement`,
        });
      await session.run(`go on ${round}`).unwrap();
    }
    const last = saidIn(server.asked.at(-1)!);
    expect(last).toContain("300 builds were green");
    expect(last).not.toContain("build 0.5 ");
    expect(last).toContain("tell me when something breaks");
    expect(last).toContain("go on 2");
  });
});

/** Estimates against the tokenizer of the models that are asked most. */
import { readFileSync } from "node:fs";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { estimateMessages, estimateParts, estimateText, MEDIA_TOKENS } from "../../src/core/budget.ts";
import { text, type Message } from "../../src/core/message.ts";
import { createAgent } from "../../src/session/agent.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { gptTokenizer } from "../../src/tokenizer.ts";
import { codeOf } from "../session/support.ts";

const file = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const chinese = `压缩是为了让长时间运行的会话不会超出模型的上下文窗口。系统首先会缩短旧的工具结果，只保留开头和结尾，
中间用一行标记说明省略了多少字符。如果这样仍然不够，就请模型写一份摘要，用它来代替之前的对话。用户说过的话始终逐字保留，
最新的一条无论多长都不会丢失。任何时候都不会把一次工具调用和它的结果分开。请把报告发给张经理，并且不要修改生产环境的配置。
会议安排在明天下午三点，地点是二楼的会议室，请提前准备好演示文稿和上个季度的销售数据。`;

const fixtures: { [name: string]: string } = {
  "English prose": file("LICENSE"),
  "English with markup": file("docs/guarantees.md"),
  Chinese: chinese,
  "Chinese with English": `${chinese}\n\nThe summary is written by \`compaction.model\`, 默认使用同一个模型 (gpt-5.2).`,
  code: file("src/session/session.ts"),
  "other code": file("src/core/budget.ts"),
  JSON: file("package.json"),
  "JSON on one line": JSON.stringify(JSON.parse(file("package-lock.json"))).slice(0, 40_000),
};

describe("an estimate of tokens", () => {
  test.each(Object.entries(fixtures))("is within a quarter of the tokenizer on %s", (_, words) => {
    const exact = countTokens(words);
    expect(estimateText(words) / exact).toBeGreaterThan(0.75);
    expect(estimateText(words) / exact).toBeLessThan(1.25);
  });

  test("F7 Chinese is not taken for a quarter of a token a character", () => {
    expect(estimateText(chinese)).toBeGreaterThan(chinese.length * 0.6);
  });

  test("does not depend on where a text is cut by more than a token a piece", () => {
    const words = fixtures["code"]!;
    const pieces = words.match(/[\s\S]{1,1000}/g)!;
    const sum = pieces.reduce((total, piece) => total + estimateText(piece), 0);
    expect(Math.abs(sum - estimateText(words))).toBeLessThanOrEqual(pieces.length * 2);
  });

  test("charges a fixed price for media, whatever its size, and counts arguments and results", () => {
    const image = (data: string) => ({ type: "image" as const, mediaType: "image/png", data });
    expect(estimateParts([image("A".repeat(4_000_000))])).toBe(MEDIA_TOKENS);
    const messages: Message[] = [
      {
        id: "a",
        role: "assistant",
        parts: [{ type: "tool-call", callId: "c", name: "write", args: { content: chinese } }],
      },
      {
        id: "t",
        role: "tool",
        parts: [{ type: "tool-result", callId: "c", name: "write", status: "ok", output: [text(chinese)] }],
      },
    ];
    expect(estimateMessages(messages)).toBeGreaterThan(2 * estimateText(chinese));
  });

  test("of a whole request has instructions and tools in it, before anything is asked", async () => {
    const agent = createAgent({ model: scriptedModel([]), instructions: chinese });
    const session = await agent.createSession();
    expect((session.actor.getSnapshot() as any).context.pressure).toMatchObject({
      base: estimateText(chinese),
      view: 0,
    });
  });
});

describe("gptTokenizer", () => {
  test("counts exactly, and takes the names of special tokens for text", async () => {
    const tokenizer = await gptTokenizer();
    for (const words of Object.values(fixtures)) expect(tokenizer.count(words)).toBe(countTokens(words));
    expect(tokenizer.count("a <|endoftext|> b")).toBeGreaterThan(3);
    expect((await gptTokenizer({ encoding: "cl100k_base" })).count(chinese)).toBeGreaterThan(countTokens(chinese));
    expect(await codeOf(gptTokenizer({ encoding: "none" as never }))).toBe("invalid_options");
  });

  test("given to an agent, it measures what the runtime measures as a whole", async () => {
    const tokenizer = await gptTokenizer();
    const agent = createAgent({ model: scriptedModel([]), instructions: chinese, compaction: { tokenizer } });
    const history: Message[] = [{ id: "u", role: "user", kind: "prompt", parts: [text(chinese)] }];
    const session = await agent.createSession({ history });
    const exact = countTokens(chinese);
    const { pressure } = (session.actor.getSnapshot() as any).context;
    expect(pressure).toMatchObject({ base: exact, view: exact + 4 });
    expect(() => createAgent({ model: scriptedModel([]), compaction: { tokenizer: {} as never } })).toThrow(
      /compaction\.tokenizer: expected a tokenizer/,
    );
  });
});

/**
 * Real conversations are imported into windows that are too small for them and go on for fifty turns. All of the dialogues
 * with RCRA_ALL_HISTORIES=1, else some.
 */
import { describe, expect, test } from "vitest";
import { estimateMessages, estimateText } from "../../src/core/budget.ts";
import { thresholds, compactionSettings } from "../../src/core/limits.ts";
import { textOf, type Message } from "../../src/core/message.ts";
import { fromOpenAIMessages } from "../../src/openai.ts";
import { createAgent } from "../../src/session/agent.ts";
import type { ModelRequest } from "../../src/ports.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { readTool } from "../session/support.ts";
import { haveHistories, piSession, tauDialogues, type Foreign } from "./histories.ts";
import { refusalOf } from "./provider-rules.ts";

const WINDOWS = [8_000, 32_000, 128_000];
const TURNS = 50;
const everything = process.env["RCRA_ALL_HISTORIES"] === "1";

type Story = { requests: ModelRequest[]; summaries: number; ended: string[]; prompts: string[]; messages: Message[] };

const systemOf = ({ messages }: Foreign) => String(messages.find((m) => m.role === "system")?.content ?? "");
/** What a tool says: often little, sometimes a lot. */
const output = (n: number) => `result ${n}: ${"found a line of some length in it\n".repeat(n % 7 === 0 ? 250 : 3)}`;

/** Imports a history and goes on with it: each run has a prompt, a turn with a tool, and an answer. */
async function goOn(foreign: Foreign, window: number, usage: boolean): Promise<Story> {
  let turns = 0;
  let summaries = 0;
  const model = scriptedModel(
    (request) => {
      const tokens = estimateMessages(request.messages) + estimateText(request.instructions);
      if (request.purpose === "summary") {
        summaries++;
        return {
          text: `[summary]${"What was done, and what is open. ".repeat(20)}[/summary]`,
          usage: { input: tokens },
        };
      }
      const said = { usage: usage ? { input: Math.round(tokens * 1.1), output: 60 } : {} };
      return turns++ % 2 === 0
        ? { ...said, calls: [{ name: "look", args: { path: `file-${turns}.ts` } }] }
        : { ...said, text: `That was turn ${turns}.` };
    },
    { window },
  );
  const look = readTool(() => output(turns));
  const agent = createAgent({ model, tools: { look }, instructions: systemOf(foreign), logger: { warn: () => {} } });
  const history = fromOpenAIMessages(foreign.messages);
  const session = await agent.createSession({ history });
  const story: Story = { requests: model.requests, summaries: 0, ended: [], prompts: [], messages: history };
  for (let i = 0; i < TURNS / 2; i++) {
    const prompt = `Step ${i}: ${"please go on with the next one. ".repeat(1 + (i % 5))}`;
    story.prompts.push(prompt);
    const before = model.requests.length;
    const result = await session.run(prompt).result;
    story.ended.push(result.error?.code ?? result.status);
    if (result.error?.code === "context_exhausted") expect(model.requests).toHaveLength(before);
  }
  story.summaries = summaries;
  return story;
}

/** Everything that has to hold of what was sent. */
function check(story: Story, window: number, base: number): void {
  const { full } = thresholds(compactionSettings.parse({ window }));
  let prompt = -1;
  for (const { messages, purpose } of story.requests) {
    expect(refusalOf(messages)).toBeUndefined();
    if (purpose !== "turn") continue;
    expect(estimateMessages(messages) + base).toBeLessThan(full);
    const users = messages.flatMap((m) => (m.role === "user" && m.kind === "prompt" ? [textOf(m.parts)] : []));
    if (users.at(-1) !== story.prompts[prompt]) prompt++;
    expect(users.at(-1)).toBe(story.prompts[prompt]);
  }
}

describe.skipIf(!haveHistories)("a real history, imported", () => {
  const pi = haveHistories ? piSession() : { name: "pi", messages: [] };
  const all = haveHistories ? tauDialogues() : [];
  const reuses = ({ messages }: Foreign) => {
    const ids = messages.flatMap((m) => ((m["tool_calls"] as { id: string }[] | null) ?? []).map((c) => c.id));
    return new Set(ids).size < ids.length;
  };
  const dialogues = everything ? all : [...all.filter(reuses).slice(0, 4), ...all.slice(0, 4)];

  test("foreign orphans get one explicit result each, and nothing else is changed", () => {
    const messages = fromOpenAIMessages(pi.messages);
    const unanswered = messages.flatMap((m) =>
      m.role === "tool" ? m.parts.filter((p) => p.status === "unknown") : [],
    );
    expect(unanswered).toHaveLength(6);
    expect(new Set(unanswered.map((r) => r.callId)).size).toBe(6);
    expect(refusalOf(messages)).toBeUndefined();
    const calls = messages.flatMap((m) =>
      m.role === "assistant" ? m.parts.filter((p) => p.type === "tool-call") : [],
    );
    const results = messages.flatMap((m) => (m.role === "tool" ? m.parts : []));
    expect(results).toHaveLength(calls.length);
    const said = pi.messages.filter((m) => m.role === "user").length;
    expect(messages.filter((m) => m.role === "user")).toHaveLength(said);
    for (const dialogue of all) expect(refusalOf(fromOpenAIMessages(dialogue.messages))).toBeUndefined();
    expect(all.filter(reuses).length).toBeGreaterThan(10);
  });

  test.each(WINDOWS)(
    "goes on for fifty turns in a window of %i: every request is one a provider takes, and holds the newest prompt",
    async (window) => {
      const exhausted: string[] = [];
      for (const [i, foreign] of [pi, ...dialogues].entries()) {
        const story = await goOn(foreign, window, i % 2 === 0);
        check(story, window, estimateText(systemOf(foreign)));
        if (story.ended.includes("context_exhausted")) exhausted.push(foreign.name);
        else expect(new Set(story.ended)).toEqual(new Set(["completed"]));
        expect(story.requests.filter((r) => r.purpose === "turn")).toHaveLength(TURNS);
        if (foreign === pi) expect(story.summaries).toBeGreaterThan(0);
      }
      // None: what is kept whole in all of them, the newest prompt and the newest exchange's arguments, is small.
      expect(exhausted).toEqual([]);
    },
    everything ? 600_000 : 30_000,
  );

  test("a prompt that leaves no room ends the run before any model is asked, and takes nothing from the history", async () => {
    const model = scriptedModel(() => "ok", { window: 8_000 });
    const agent = createAgent({ model, logger: { warn: () => {} } });
    const session = await agent.createSession({ history: fromOpenAIMessages(pi.messages) });
    const before = session.messages();
    const result = await session.run("word ".repeat(9_000)).result;
    expect(result).toMatchObject({ status: "failed", error: { code: "context_exhausted" } });
    expect(result.error!.message).toMatch(/window 8000, full at 7600/);
    expect(model.requests).toEqual([]);
    expect(session.messages()).toEqual(before);
    // Taken back, it is no longer in the way.
    expect(session.unsteer(result.undelivered[0]!)).toBe(true);
    expect((await session.run("short").result).status).toBe("completed");
  });
});

/** The loop one writes in an afternoon: no states, no events, no validation, nothing kept but the messages. */
import { INSTRUCTIONS, PROMPT, WORD, type PlannedCall, type Script } from "../script.ts";
import type { Row } from "./row.ts";

type Chunk = { text: string } | { call: PlannedCall };

async function* ask(script: Script): AsyncGenerator<Chunk, void, void> {
  const { calls, words } = script.next();
  for (const call of calls) yield { call };
  for (let i = 0; i < words; i++) yield { text: WORD };
}

export const handWritten: Row = (script) => ({
  async open() {
    const messages: unknown[] = [{ role: "system", text: INSTRUCTIONS }];
    let deltas = 0;

    async function turn(): Promise<boolean> {
      let text = "";
      const calls: PlannedCall[] = [];
      for await (const chunk of ask(script)) {
        if ("call" in chunk) calls.push(chunk.call);
        else {
          text += chunk.text;
          deltas++;
          script.hear(chunk.text);
        }
      }
      messages.push({ role: "assistant", text, calls });
      const outputs = await Promise.all(calls.map((call) => script.stamp(call.args)));
      for (const [i, output] of outputs.entries()) messages.push({ role: "tool", id: calls[i]!.id, output });
      return calls.length > 0;
    }

    async function run(): Promise<void> {
      messages.push({ role: "user", text: PROMPT });
      while (await turn());
    }

    return {
      run,
      async watch() {
        deltas = 0;
        await run();
        return deltas;
      },
      snapshot: () => JSON.stringify(messages),
    };
  },
  async close() {},
});

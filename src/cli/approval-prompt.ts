/** Asks a person once for a whole batch. */
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";
import type { ApprovalRequest, Decision } from "../core/call.ts";
import type { Approve } from "../effects/host.ts";
import { bothEnds, styleFor } from "./terminal.ts";

type Streams = {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream & { isTTY?: boolean };
  color?: boolean | undefined;
};

/** Characters of arguments that are shown: nobody should allow a command whose end they have not seen. */
const SHOWN = 2_000;

/**
 * An approver that lists the batch and takes `y`, `n`, or the numbers to allow. An answer it cannot read is asked again;
 * the end of the input, and a cancelled run, allow nothing.
 */
export const askOnTerminal =
  (streams: Streams): Extract<Approve, (...args: never) => unknown> =>
  async (requests, { signal }) => {
    const { output } = streams;
    const style = styleFor(output, streams.color);
    // What led here is shown first.
    await setImmediate();
    const what = requests.length === 1 ? "this call" : `these ${requests.length} calls`;
    output.write(`\n${style.bold(`Allow ${what}?`)}\n`);
    for (const [i, { name, args, reason }] of requests.entries())
      output.write(
        `  ${i + 1}. ${style.cyan(bothEnds(name, 100))} ${bothEnds(JSON.stringify(args), SHOWN)}${
          reason === undefined ? "" : style.dim(` (${bothEnds(reason, 200)})`)
        }\n`,
      );
    const choices = requests.length === 1 ? "[y/n] " : "[y = all, n = none, or the numbers to allow, such as 1,3] ";
    for (;;) {
      const answer = await question(streams, choices, signal);
      const decisions = answer === null ? decide(requests, () => false) : readAnswer(answer, requests);
      if (decisions) return decisions;
      output.write("Please answer y, n, or numbers of the list.\n");
    }
  };

/** Decisions that an answer stands for; nothing when it cannot be read. */
export function readAnswer(answer: string, requests: readonly ApprovalRequest[]): Decision[] | undefined {
  const text = answer.trim().toLowerCase();
  if (text === "y" || text === "yes") return decide(requests, () => true);
  if (text === "n" || text === "no") return decide(requests, () => false);
  if (!/^\d+([\s,]+\d+)*$/.test(text)) return undefined;
  const numbers = text.split(/[\s,]+/).map(Number);
  if (numbers.some((n) => n < 1 || n > requests.length)) return undefined;
  return decide(requests, (i) => numbers.includes(i + 1));
}

const decide = (requests: readonly ApprovalRequest[], allows: (i: number) => boolean): Decision[] =>
  requests.map(({ callId }, i) => ({ callId, decision: allows(i) ? "allow" : "deny" }));

/** One line of input; null when the run was cancelled or the input ended. */
function question({ input, output }: Streams, prompt: string, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(null);
    const lines = createInterface({ input, output });
    const done = (answer: string | null) => {
      signal.removeEventListener("abort", stop);
      // Before closing, which is heard as the end of the input.
      resolve(answer);
      lines.close();
    };
    const stop = () => done(null);
    signal.addEventListener("abort", stop, { once: true });
    lines.once("close", () => done(null));
    // A terminal in readline's hands does not raise the signal by itself.
    lines.on("SIGINT", () => process.emit("SIGINT"));
    lines.question(prompt, done);
  });
}

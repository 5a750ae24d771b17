/** Cuts a tool's output to what a model should read; the whole of it goes to a file of the session. */
import { text, type ContentPart } from "../core/message.ts";
import { messageOf } from "./effect.ts";
import type { Host } from "./host.ts";

/** Characters kept of the end of a long output; the rest of the budget shows its beginning. */
const TAIL_SHARE = 0.2;

const textSize = (output: readonly ContentPart[]): number =>
  output.reduce((size, part) => (part.type === "text" ? size + part.text.length : size), 0);

/** Whether an output may be shown as it is. */
export const isShort = (host: Host, output: readonly ContentPart[]): boolean =>
  textSize(output) <= host.limits.maxOutputChars;

/** The output as the model reads it. A file that cannot be written costs the rest of the text, never the result. */
export async function cutOutput(host: Host, callId: string, output: ContentPart[]): Promise<ContentPart[]> {
  const size = textSize(output);
  if (size <= host.limits.maxOutputChars) return output;
  const whole = output.flatMap((p) => (p.type === "text" ? [p.text] : [])).join("\n");
  let where: string;
  try {
    where = `The whole output is in ${await host.store.putFile(host.id, `${callId}.txt`, whole)}.`;
  } catch (error) {
    host.logger.warn(`The output of ${callId} could not be written to a file: ${messageOf(error)}`);
    where = "The rest was not kept.";
  }
  const tail = Math.floor(host.limits.maxOutputChars * TAIL_SHARE);
  const head = host.limits.maxOutputChars - tail;
  const shown = `${whole.slice(0, boundary(whole, head))}\n[… ${size - head - tail} of ${size} characters left out. ${where} …]\n${whole.slice(boundary(whole, whole.length - tail))}`;
  return [text(shown), ...output.filter((p) => p.type !== "text")];
}

/** The place nearest before `at` that does not split a character in two. */
const boundary = (value: string, at: number): number =>
  at > 0 && at < value.length && (value.charCodeAt(at) & 0xfc00) === 0xdc00 ? at - 1 : at;

/** The output without its rest, for when there is no time to write a file. */
export function cutShort(host: Host, output: ContentPart[]): ContentPart[] {
  if (isShort(host, output)) return output;
  const whole = output.flatMap((p) => (p.type === "text" ? [p.text] : [])).join("\n");
  return [text(`${whole.slice(0, boundary(whole, host.limits.maxOutputChars))}\n[… the rest was not kept …]`)];
}

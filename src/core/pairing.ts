/** Whether a history is one a provider accepts: every call has its result right behind it, every result its call. */
import { callsOf, type Message } from "./message.ts";

/** What is wrong with a history, as a sentence; nothing when every call is paired. */
export function pairingFault(messages: readonly Message[]): string | undefined {
  let open: string[] = [];
  for (const [i, message] of messages.entries()) {
    if (message.role === "tool") {
      const results = message.parts.map((p) => p.callId);
      const stray = results.find((id) => !open.includes(id));
      if (stray !== undefined) return `message ${i}: the result of ${stray} has no call before it`;
      if (new Set(results).size !== results.length) return `message ${i}: a call has two results`;
      open = open.filter((id) => !results.includes(id));
      continue;
    }
    if (open.length) return `message ${i}: the call ${open[0]} has no result`;
    open = message.role === "assistant" ? callsOf(message.parts).map((c) => c.callId) : [];
  }
  return open.length ? `the call ${open[0]} has no result` : undefined;
}

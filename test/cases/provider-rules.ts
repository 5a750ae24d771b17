/** What providers refuse, written down apart from the runtime: nothing of it is shared with what it judges. */
import type { Message } from "../../src/core/message.ts";

/** Why a provider would answer 400 to these messages; nothing when it would not. */
export function refusalOf(messages: readonly Message[]): string | undefined {
  if (messages.length === 0) return "there is no message";
  if (messages[0]!.role !== "user") return `it begins with ${messages[0]!.role}`;
  for (let i = 0; i < messages.length; i++) {
    const m = messages[i]!;
    if (m.role === "assistant") {
      const asked = m.parts.flatMap((p) => (p.type === "tool-call" ? [p.callId] : []));
      if (new Set(asked).size !== asked.length) return `message ${i} has a call twice`;
      const after = messages[i + 1];
      const told = after?.role === "tool" ? after.parts.map((p) => p.callId) : [];
      if (asked.toSorted().join() !== told.toSorted().join()) return `message ${i}: calls ${asked}, results ${told}`;
    }
    if (m.role === "tool" && messages[i - 1]?.role !== "assistant") return `message ${i}: results without an answer`;
    if (m.role === "tool" && m.parts.length === 0) return `message ${i} is empty`;
  }
  return undefined;
}

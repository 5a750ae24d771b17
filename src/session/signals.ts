/** What other processes may leave for a session: decisions, inputs, a cancel. */
import { decision } from "../core/call.ts";
import { asked } from "../core/batch.ts";
import type { InputEvent } from "../core/event.ts";
import { contentPart } from "../core/message.ts";
import { settleDecisions } from "../effects/ask-approval.ts";
import type { Host } from "../effects/host.ts";
import type { Signal } from "../ports.ts";
import type { SessionContext } from "../../machines/session/index.ts";

/** The inputs a signal stands for. Payloads are parsed: they come from outside. */
export async function signalEvents(
  host: Host & { readonly state: SessionContext },
  signal: Signal,
): Promise<InputEvent[]> {
  switch (signal.type) {
    case "decide": {
      const decisions = decision.array().safeParse(signal.payload);
      if (!decisions.success) break;
      const calls = asked(host.state.draft?.calls ?? []);
      return [{ type: "approval.settled", decisions: await settleDecisions(host, calls, decisions.data, "user") }];
    }
    case "input": {
      const parts = contentPart.array().safeParse(signal.payload);
      if (!parts.success) break;
      return [{ type: "input.received", id: signal.key, kind: "prompt", parts: parts.data, steering: true }];
    }
    case "cancel":
      return [{ type: "cancel.requested", reason: typeof signal.payload === "string" ? signal.payload : "cancelled" }];
  }
  host.logger.warn(`A signal of type ${JSON.stringify(signal.type)} was not understood and is dropped.`);
  return [];
}

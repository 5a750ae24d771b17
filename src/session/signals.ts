/** What other processes may leave for a session: decisions, inputs, a cancel. */
import { decision } from "../core/call.ts";
import { asked } from "../core/batch.ts";
import type { InputEvent } from "../core/event.ts";
import { contentPart } from "../core/message.ts";
import { settleDecisions } from "../effects/ask-approval.ts";
import { messageOf } from "../effects/effect.ts";
import type { Host } from "../effects/host.ts";
import type { Signal } from "../ports.ts";
import type { Engine } from "./engine.ts";
import type { SessionContext } from "../../machines/session/index.ts";

/** The inputs a signal stands for. Payloads are parsed: they come from outside. */
async function signalEvents(host: Host & { readonly state: SessionContext }, signal: Signal): Promise<InputEvent[]> {
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

/** Feeds the machine what reached the session from outside while somebody else was busy. */
export async function takeSignals(engine: Engine): Promise<readonly Signal[]> {
  const { journal, store } = engine;
  if (!journal.lease) return [];
  try {
    const signals = await store.pending(journal.lease);
    for (const signal of signals) {
      const events = await signalEvents(engine, signal);
      journal.consume([signal.key]);
      for (const event of events) engine.send(event);
    }
    if (signals.length) await journal.flush();
    return signals;
  } catch (error) {
    engine.logger.warn(`Signals of ${engine.id} could not be read: ${messageOf(error)}`);
    return [];
  }
}

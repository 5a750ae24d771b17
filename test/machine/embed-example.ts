/** The machine by itself: your own effects, no agent, no store. Two turns with a tool. */
import { createActor, fromCallback, waitFor, type EventObject } from "xstate";
import { compactionSettings, limits, sessionMachine, Transcript, type InputEvent } from "../../machines/index.ts";

const text = (words: string) => [{ type: "text" as const, text: words }];
const call = { type: "tool-call" as const, callId: "c1", name: "weather", args: { city: "Oslo" } };
const reviews = { input: false, stop: false };
const config = { limits: limits.parse({}), compaction: compactionSettings.parse({}), reviews };
const options = { approvals: { mode: "deny", unanswered: "deny", onSteer: "queue" } };

export async function embed(words: string): Promise<Transcript> {
  const transcript = new Transcript();
  let seq = 0;
  // What the machine takes and announces, numbered, is the journal. Here only the transcript reads it.
  const record = (event: object): never => {
    const taken = { ...event, seq: ++seq } as never;
    transcript.append(taken);
    return taken;
  };
  // An effect settles exactly once, with an input event. The machine says when it starts.
  const effect = (work: () => Promise<InputEvent>) =>
    fromCallback<EventObject, any>(({ sendBack }) => void work().then((event) => sendBack(record(event))));
  const actors = {
    prepareRequest: effect(async () => ({ type: "request.prepared", catalogue: "1", tools: ["weather"], tokens: 0 })),
    callModel: effect(async () => {
      const isAnswered = transcript.view.at(-1)?.role === "tool";
      const message = { id: `m${seq}`, role: "assistant" as const, parts: isAnswered ? text("No coat.") : [call] };
      return { type: "model.completed", message, finishReason: isAnswered ? "stop" : "tool-calls" };
    }),
    reviewCalls: effect(async () => ({ type: "calls.reviewed", calls: [{ ...call, verdict: "allow", hash: "1" }] })),
    runTool: effect(async () => ({ ...call, type: "tool.settled", status: "ok", output: text("18 °C and dry") })),
  };
  const actor = createActor(sessionMachine.provide({ actors }), { input: { id: "embedded", config } });
  actor.on("*", (event) => void (event.type.startsWith("phase.") || record(event)));
  actor.start();
  actor.send(record({ type: "input.received", id: "p1", kind: "prompt", parts: text(words) }));
  actor.send(record({ type: "run.requested", runId: "r1", options }));
  await waitFor(actor, (snapshot) => snapshot.matches({ receive: "idle" }));
  return transcript;
}

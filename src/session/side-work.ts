/** Model work between runs: compaction on demand, and titles. */
import { text, type Message } from "../core/message.ts";
import { sideRequest } from "../effects/side-request.ts";
import type { Engine } from "./engine.ts";

export type Compactability = "ok" | "unsupported" | "empty" | "just_compacted" | "busy";

/**
 * Whether a compaction has anything to do; `busy` is for the session to say. `unsupported`: nothing can be discarded while
 * an exchange is open, since the model could not know what its results are for.
 */
export function compactabilityOf({ transcript, state, compaction }: Engine, mode = compaction.mode): Compactability {
  const { entries, compactedAt } = transcript;
  if (entries.length === 0) return "empty";
  if (compactedAt > 0 && !entries.slice(compactedAt).some((e) => e.kind === "exchange")) return "just_compacted";
  return mode === "discard" && state.draft?.answer ? "unsupported" : "ok";
}

/** Compacts now; the caller has made sure that nothing else runs. */
export async function compactNow(
  engine: Engine,
  mode?: "summarize" | "discard",
): Promise<{ status: "ok" | "failed"; message?: string }> {
  const before = engine.transcript.directives.length;
  let message = "It was cancelled.";
  engine.journal.onTake = (event) => {
    if (event.type === "compaction.failed") message = event.message;
    if (event.type === "compaction.completed" && !event.directive) message = "There is nothing to compact.";
  };
  try {
    await engine.whileHeld(async () => {
      engine.send({ type: "compaction.requested", ...(mode === undefined ? {} : { mode }) });
      await untilIdle(engine);
    });
  } finally {
    engine.journal.onTake = null;
  }
  return engine.transcript.directives.length > before ? { status: "ok" } : { status: "failed", message };
}

function untilIdle(engine: Engine): Promise<void> {
  return new Promise((resolve) => {
    if (!engine.actor || engine.isIdle) return resolve();
    const watch = engine.actor.subscribe(() => {
      if (!engine.isIdle) return;
      watch.unsubscribe();
      resolve();
    });
  });
}

/** Messages a title is made from: the beginning says what a conversation is about. */
const TITLE_FROM = 4;

/** @throws Error when the model has no title to give */
export async function titleOf(engine: Engine): Promise<string> {
  const ask: Message = {
    id: "title-request",
    role: "user",
    kind: "prompt",
    parts: [text("Give this conversation a title of at most six words. Answer with the title only.")],
  };
  const reply = await sideRequest(engine, {
    model: engine.run.model,
    purpose: "title",
    instructions: "",
    messages: [...engine.transcript.view.filter((m) => m.role === "user").slice(0, TITLE_FROM), ask],
    tools: [],
    signal: new AbortController().signal,
  });
  const title = reply.text.trim().replace(/^["']|["']$/g, "");
  if (reply.failure || !title) throw new Error(`No title: ${reply.failure?.message ?? "the model said nothing"}`);
  const event = { type: "title.generated" as const, title, ...(reply.usage ? { usage: reply.usage } : {}) };
  await engine.whileHeld(() => engine.send(event));
  return title;
}

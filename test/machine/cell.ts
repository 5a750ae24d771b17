/** What one event does in one place: a cell of the table of events and states. */
import { isDeepStrictEqual } from "node:util";
import type { InputEvent } from "../../machines/index.ts";
import { cancel, notice, prompt } from "./events.ts";
import { executing, reach, requesting, suspended } from "./reach.ts";
import type { Walk } from "./walk.ts";

/** Every state that can be rested in, and those in which it matters how the walk came there. */
export const places: { readonly [place: string]: () => Walk } = {
  ...reach,
  "receive.idle, suspended": suspended,
  "reason.requesting, cancelled": () => requesting().feed(cancel()),
  "act.executing, cancelled": () => executing().feed(cancel()),
};

/** What the transcript tells, and the words that wait to enter it. */
export function toldBy({ transcript, context }: Walk, ...ids: string[]): unknown {
  const waiting = [...context.inbox.map((i) => i.id), ...ids].map((id) => [id, transcript.waiting(id)]);
  const { entries, view, directives } = transcript;
  return structuredClone({ entries, view, directives, waiting });
}

/** A walk with something in its inbox, where that does not move it. */
const furnished = (walk: Walk): Walk =>
  walk.feed(
    ...(walk.state === "receive.admitting" ? [] : [walk.state === "receive.idle" ? prompt("p0") : notice("n0")]),
  );

export type Cell = { kind: string; contextKept: boolean; before: unknown; after: unknown };

/**
 * Feeds an event (its sample may first prepare the walk for it) and says what became of it: `→ state` when the machine ends elsewhere, `handled` when it stays and
 * remembers, announces or starts something, `deferred` when it only queues, `refused` when nothing changes.
 */
export function cell(start: Walk, sample: (walk: Walk) => InputEvent): Cell {
  const walk = furnished(start);
  const event = sample(walk);
  const { state, context } = walk;
  const named = "feedback" in event ? event.feedback.map((f) => f.id) : [];
  const before = toldBy(walk, ...named);
  walk.feed(event);
  const contextKept = isDeepStrictEqual(walk.context, context);
  const after = toldBy(walk, ...named);
  return { kind: kindOf(walk, state, context, contextKept), contextKept, before, after };
}

function kindOf(walk: Walk, state: string, context: Walk["context"], contextKept: boolean): string {
  if (walk.state !== state) return `→ ${walk.state}`;
  const acted = walk.announced.length + walk.started.length + walk.stopped.length + walk.aborted.length > 0;
  if (contextKept && !acted) return "refused";
  const { inbox, ...rest } = walk.context;
  const { inbox: inboxBefore, ...restBefore } = context;
  const queued = inbox.length > inboxBefore.length && isDeepStrictEqual(rest, restBefore);
  return queued && !acted ? "deferred" : "handled";
}

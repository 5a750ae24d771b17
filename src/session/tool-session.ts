/** What tools and hosts may do to a session beside running it: leave notices, and hand back work that goes on. */
import { AgentError } from "../core/errors.ts";
import type { InputOf } from "../core/event.ts";
import { text } from "../core/message.ts";
import { messageOf } from "../effects/effect.ts";
import type { ToolContext } from "../ports.ts";
import { toContent } from "../tool.ts";
import type { Engine } from "./engine.ts";

/** Feeds the machine at once while a run holds the lease, else as a small write of its own. */
function feed(engine: Engine, what: string, write: () => void): void {
  if (engine.journal.lease) return write();
  engine
    .whileHeld(write)
    .catch((error: unknown) => engine.logger.warn(`${what} for ${engine.id} was lost: ${messageOf(error)}`));
}

/** Queues a notice: `defer` wakes the session, `info` waits for the next turn. */
export function notify(engine: Engine, input: { kind: "defer" | "info"; text: string }): void {
  const { kind } = input;
  if ((kind !== "defer" && kind !== "info") || typeof input.text !== "string")
    throw new AgentError("invalid_options", 'notify: expected { kind: "defer" | "info", text }');
  const event: InputOf<"input.received"> = {
    type: "input.received",
    id: engine.ids.next("in"),
    kind,
    parts: [text(input.text)],
  };
  feed(engine, "A notice", () => engine.send(event));
}

/** Takes an input back that nobody has taken yet. */
export const withdraw = (engine: Engine, id: string): void =>
  feed(engine, "A withdrawal", () => engine.send({ type: "input.withdrawn", ids: [id] }));

export const toolSession = (engine: Engine): ToolContext["session"] => ({
  id: engine.id,
  workspace: engine.workspace,
  notify: (input) => notify(engine, input),
  background(label) {
    const taskId = engine.ids.next("task");
    engine.send({ type: "task.opened", taskId, label: String(label ?? "background work") });
    let open = true;
    return {
      taskId,
      settle(words) {
        if (!open) return;
        open = false;
        feed(engine, `The report of ${taskId}`, () => {
          engine.send({ type: "input.received", id: taskId, kind: "defer", parts: toContent(words) });
          engine.send({ type: "task.settled", taskId });
        });
      },
    };
  },
});

/** What holds in every state, and the two states outside the phases. */
import { expect } from "vitest";
import * as e from "../events.ts";
import { begun, executing, requesting, suspended } from "../reach.ts";
import { configOf, Walk } from "../walk.ts";
import { results, scenario, told, type Scenario } from "./scenario.ts";

export const anywhere: readonly Scenario[] = [
  scenario(
    " / input.received",
    "An input that arrives in the middle of a request waits for the next turn.",
    () => requesting(),
    e.prompt("p2", { steering: true }),
    (walk) => {
      expect(walk.state).toBe("reason.requesting");
      walk.feed(e.answer());
      expect(told(walk, "turn.started")).toMatchObject({ turn: 2, inputs: ["p2"] });
    },
  ),
  scenario(
    " / input.withdrawn",
    "A waiting input can be taken back.",
    () => requesting().feed(e.prompt("p2"), e.prompt("p3")),
    e.withdrawn("p2"),
    (walk) => expect(walk.context.inbox.map((i) => i.id)).toEqual(["p3"]),
  ),
  scenario(
    " / task.opened",
    "Background work may begin at any time.",
    () => executing(),
    e.opened("t7"),
    (walk) => expect(walk.context.tasks).toEqual(["t7"]),
  ),
  scenario(
    " / task.settled",
    "Background work that is done in the middle of a turn is not waited for.",
    () => requesting().feed(e.opened("t7")),
    e.done("t7"),
    (walk) => {
      walk.feed(e.answer());
      expect(told(walk, "run.ended")).toMatchObject({ status: "completed" });
    },
  ),
  scenario(
    " / mode.changed",
    "A mode may change at any time.",
    () => executing(),
    e.modeChanged("plan"),
    (walk) => expect(walk.context.mode).toBe("plan"),
  ),
  scenario(
    " / approval.settled",
    "A decision about a suspended run is kept until it goes on.",
    suspended,
    e.decided(e.decisionOn("c1"), e.decisionOn("c2", "deny")),
    (walk) => {
      expect(walk.state).toBe("receive.idle");
      walk.feed(e.goOn(), e.settled("c1"));
      expect(results(walk)).toEqual({ c1: "ok", c2: "denied" });
    },
  ),
  scenario(
    " / session.resumed",
    "A journal that is opened again starts nothing: the run lies open, with the new settings.",
    () => executing(),
    e.resumed(configOf({ limits: { maxTurns: 7 } })),
    (walk) => {
      expect(walk.started).toEqual([]);
      expect(walk.stopped).toEqual(["tool.c1", "tool.c2"]);
      expect(walk.context.run).toMatchObject({ id: "r1", parked: true });
      expect(walk.context.config.limits.maxTurns).toBe(7);
    },
  ),
  scenario(
    "recovering / always",
    "Recovering ends at the one decision point, and there in rest.",
    () => begun(),
    e.resumed(new Walk().config),
    (walk) => expect(walk.trail).toEqual(["recovering", "receive.deciding", "receive.idle"]),
  ),
];

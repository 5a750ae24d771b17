/** What can be read off the machine's definition, and that it can be run. */
import { createActor, setup, transition } from "xstate";
import { describe, expect, test } from "vitest";
import { describeMachine, sessionMachine, toMermaid } from "../../machines/index.ts";
import { pairingFault } from "../../src/core/pairing.ts";
import { textOf } from "../../src/core/message.ts";
import { embed } from "./embed-example.ts";
import { prompt, run } from "./events.ts";
import { configOf, Walk } from "./walk.ts";

const graph = describeMachine();

describe("only receive ends a run", () => {
  test("no transition outside receive leads to idle or closed, nor to receive as a whole", () => {
    const outside = graph.transitions.filter((t) => t.from !== "receive" && !t.from.startsWith("receive."));
    // Entering `receive` itself would be entering `idle`, where it begins.
    const ends = ["receive", "receive.idle", "closed", ""];
    expect(outside.filter((t) => t.to !== null && ends.includes(t.to))).toEqual([]);
  });

  test("what re-enters receive re-enters it at its decision point", () => {
    const back = graph.transitions.filter((t) => t.to?.startsWith("receive") && !t.from.startsWith("receive"));
    expect(new Set(back.map((t) => t.to))).toEqual(new Set(["receive.deciding"]));
  });

  test("closed is final and hangs from idle alone", () => {
    expect(graph.states.filter((s) => s.type === "final").map((s) => s.path)).toEqual(["closed"]);
    expect(graph.transitions.filter((t) => t.to === "closed").map((t) => t.from)).toEqual(["receive.idle"]);
  });
});

describe("the phases", () => {
  test("compact, reason and act announce their start and their end, whatever leads in and out", () => {
    for (const phase of ["compact", "reason", "act"]) {
      const name = phase[0]!.toUpperCase() + phase.slice(1);
      const { entry, exit } = graph.states.find((s) => s.path === phase)!;
      expect(entry[0]).toBe(`start${name}`);
      expect(exit).toEqual([`end${name}`]);
    }
  });
});

describe("the description", () => {
  test("it has always-transitions, those of the root, and what is named", () => {
    expect(graph.transitions).toContainEqual({
      from: "receive.deciding",
      to: "receive.idle",
      event: "always",
      guard: "isEnding",
      actions: ["endAsAsked"],
    });
    expect(graph.transitions).toContainEqual({ from: "", to: null, event: "mode.changed", actions: ["changeMode"] });
    expect(graph.states.find((s) => s.path === "reason.requesting")).toMatchObject({
      id: "session.reason.requesting",
      parent: "reason",
      invokes: ["callModel"],
    });
  });

  test.each([
    ["guard", { on: { go: { guard: () => true, target: "b" } } }],
    ["action", { on: { go: { actions: () => {}, target: "b" } } }],
    ["action", { entry: () => {} }],
    ["guard", { always: { guard: () => false, target: "b" } }],
  ])("an inline %s is refused", (kind, a) => {
    const machine = setup({}).createMachine({ initial: "a", states: { a: a as never, b: {} } });
    expect(() => describeMachine(machine)).toThrow(`inline ${kind}`);
  });

  test("the chart names every state once and every phase's beginning", () => {
    const chart = toMermaid(graph);
    for (const { path } of graph.states.filter((s) => s.path !== ""))
      expect(chart.match(new RegExp(` as ${path.replace(".", "_")}( \\{)?$`, "gm")), path).toHaveLength(1);
    expect(chart).toContain("[*] --> receive_idle");
    expect(chart).toContain("closed --> [*]");
    expect(toMermaid(describeMachine())).toBe(chart);
  });
});

describe("the machine runs", () => {
  test("an actor of it starts idle and starts nothing", () => {
    const actor = createActor(sessionMachine, { input: { id: "s", config: configOf() } }).start();
    expect(actor.getSnapshot()).toMatchObject({ value: { receive: "idle" }, children: {}, status: "active" });
    actor.stop();
  });

  test("an effect that nobody provided says so", () => {
    const walk = new Walk().feed(prompt());
    const actor = createActor(sessionMachine, { snapshot: walk.snapshot, input: undefined as never });
    const errors: unknown[] = [];
    actor.subscribe({ error: (error) => errors.push(error) });
    actor.start().send({ ...run(), seq: 3 } as never);
    expect(String(errors[0])).toContain("prepareRequest");
  });

  test("a walk by steps ends where a transition does", () => {
    const walk = new Walk().feed(prompt());
    const [next] = transition(sessionMachine, walk.snapshot, { ...run(), seq: walk.head + 1 } as never);
    walk.feed(run());
    expect(walk.snapshot.value).toEqual(next.value);
    expect(walk.context).toEqual(next.context);
  });

  test("embedded with effects of one's own it runs two turns with a tool", async () => {
    const transcript = await embed("Do I need a coat in Oslo?");
    expect(transcript.entries.map((e) => e.kind)).toEqual(["user", "exchange", "exchange"]);
    expect(transcript.messages()[2]).toMatchObject({ role: "tool", parts: [{ callId: "c1", status: "ok" }] });
    expect(textOf(transcript.messages().at(-1)!.parts)).toBe("No coat.");
    expect(pairingFault(transcript.view)).toBeUndefined();
  });
});

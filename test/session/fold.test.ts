import { describe, expect } from "vitest";
import { SessionFold } from "../../src/session/fold.ts";
import type { Session } from "../../src/session/session.ts";
import { call, gate, look, readTool, settled, test, write, type World } from "./support.ts";

const distinct = (contexts: readonly unknown[]): string[] => {
  const seen: string[] = [];
  for (const context of contexts) {
    const text = JSON.stringify(context);
    if (seen.at(-1) !== text) seen.push(text);
  }
  return seen;
};

/** Keeps what the live machine remembered after each event. */
function remember(session: Session): unknown[] {
  const contexts: unknown[] = [session.actor.getSnapshot()!.context];
  session.actor.subscribe({ next: (snapshot: any) => contexts.push(snapshot.context) });
  return contexts;
}

/** The machine's memory after each record of a journal, and how what was said grew. */
async function folded(world: World): Promise<{ contexts: unknown[]; views: number[] }> {
  const fold = new SessionFold();
  const contexts: unknown[] = [];
  const views: number[] = [];
  for (const record of await world.records()) {
    fold.append(record);
    contexts.push(fold.context);
    views.push(fold.transcript.entries.length);
  }
  fold.stop();
  return { contexts, views };
}

async function compare(world: World, live: unknown[]): Promise<void> {
  for (let i = 0; i < 3; i++) await settled();
  const { contexts, views } = await folded(world);
  expect(distinct(contexts)).toEqual(distinct(live));
  expect(views).toEqual([...views].sort((a, b) => a - b));
}

describe("the fold of a journal equals the live state at every record", () => {
  test("over tools, approvals one by one, a steer and a second run", async ({ world }) => {
    const { session } = await world.open([look("a"), write("b", "c"), "one", look("d"), "two"]);
    const live = remember(session);
    const run = session.run("go", { approvals: "wait" });
    await world.until(() => session.state === "awaiting_approval");
    for (const { callId } of session.pending()) await session.decide([{ callId, decision: "allow" }]);
    session.steer("and then");
    await run.result;
    await session.run("again", { maxTurns: 1 }).result;
    await session.continue().result;
    await compare(world, live);
  });

  test("over a retry, an abort, a cut answer and a failure", async ({ world }) => {
    const script = [
      { text: "half", fails: { class: "timeout" as const } },
      { text: "cut ", finish: "length" as const },
      "off",
      { text: "stopped", hangs: true },
      { text: "broken", fails: { class: "fatal" as const } },
      "end",
    ];
    const { session } = await world.open(script);
    const live = remember(session);
    const first = session.run("1");
    await world.clock.advance(250);
    await first.unwrap();
    const second = session.run("2");
    await world.until(() => session.stateValue === "reason.requesting");
    await settled();
    second.cancel("enough");
    await second.result;
    await session.run("3").result;
    await session.continue().unwrap();
    await compare(world, live);
  });

  test("over a cancel in the middle of tools, abandoned ones and late values", async ({ world }) => {
    const late = gate();
    const tools = { ...world.tools, deaf: readTool(() => late.promise) };
    const { session } = await world.open([{ calls: [call("look", "a"), call("deaf", "b")] }, "ok"], { tools });
    const live = remember(session);
    const run = session.run("go");
    await world.until(() => session.stateValue === "act.executing");
    run.cancel();
    await world.clock.advance(250);
    await run.result;
    late.open();
    await settled();
    await session.continue().unwrap();
    await compare(world, live);
  });

  test("over background work, notices, memory and compactions", async ({ world }) => {
    const handles: ((text: string) => void)[] = [];
    const tools = {
      start: readTool((_, { session }) => {
        handles.push(session.background("b").settle);
        return "started";
      }),
    };
    const script = (r: { purpose: string }, i: number) =>
      r.purpose === "summary" ? "[summary]s[/summary]" : i === 0 ? { calls: [call("start", "a")] } : "ok";
    const { session } = await world.open(script, { tools, compaction: { maxSessionTurns: 3 } });
    const live = remember(session);
    const run = session.run("go");
    await world.until(() => session.state === "waiting");
    session.notify({ kind: "info", text: "fyi" });
    handles[0]!("ready");
    await run.unwrap();
    await session.memory.set("k", [1]);
    await session.run("again").unwrap();
    await session.compact();
    session.notify({ kind: "defer", text: "late" });
    await settled();
    await session.continue().unwrap();
    await compare(world, live);
  });

  test("over a store that fails and comes back, and a suspension", async ({ world }) => {
    const store = world.faulty();
    const { session } = await world.open([look("a"), write("b"), "done"], { store });
    const live = remember(session);
    store.fail((records) => records.some((r) => r.type === "exchange.committed"), 2);
    await session.run("go").result;
    await session.continue({ approvals: "suspend" }).result;
    await session.decide([{ callId: session.pending()[0]!.callId, decision: "deny", reason: "no" }]);
    await session.continue().unwrap();
    await compare(world, live);
  });
});

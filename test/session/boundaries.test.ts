import { describe, expect } from "vitest";
import { textOf, type Message } from "../../src/core/message.ts";
import type { ModelRequest, Store } from "../../src/ports.ts";
import type { ScriptedAnswer } from "../../src/testing/scripted-model.ts";
import { FaultyStore } from "./faulty-store.ts";
import { call, readTool, said, test, told, writeTool, type Opened, type World } from "./support.ts";

/** Answers by what it is shown, so that a request asked again is answered again alike. */
function script({ messages }: ModelRequest): ScriptedAnswer {
  const answers = messages.filter((m) => m.role === "assistant").length;
  if (answers === 0) return { text: "I look.", calls: [call("look", "a"), call("write", "b"), call("look", "c")] };
  if (answers === 1) return { text: "cut he", finish: "length" };
  if (answers === 2) return { calls: [call("write", "d"), { name: "look", raw: "{" }] };
  return "done";
}

const toolsOf = (world: World) => ({
  look: readTool(({ path }) => `seen ${path}`, { onUnknown: "retry" }),
  write: writeTool(({ path }) => (world.ran.push(path), `written ${path}`), { onUnknown: "retry" }),
});

/** What was said and done, without the names of attempts. */
const gist = (messages: readonly Message[]) => [
  ...messages.map((m) => (m.role === "tool" ? "" : `${m.role} ${textOf(m.parts)}`)),
  ...told(messages),
];

/** Ends of runs that did something: who dies after the last write leaves nothing to go on with. */
const endings = async (world: World, id: string) =>
  (await world.records(id)).filter((r) => r.type === "run.ended" && r.turns > 0);

async function finish({ session }: Opened): Promise<void> {
  await session.continue({ approve: "allow" }).unwrap();
}

/** Runs the scenario in a chain of processes, each of which dies after some number of writes. */
async function livesOf(world: World, base: Store, writes: number): Promise<Opened & { lives: number }> {
  const tools = toolsOf(world);
  for (let lives = 1; ; lives++) {
    const store = new FaultyStore(base);
    let left = writes;
    const opened = await (lives === 1
      ? world.open(script, { store, tools, session: { id: "s1" } })
      : world.reopen(script, { store, tools }));
    store.killAfter(() => left-- <= 1);
    const run =
      lives === 1 ? opened.session.run("go", { approve: "allow" }) : opened.session.continue({ approve: "allow" });
    let over = false;
    void run.result.then(() => (over = true));
    await world.until(() => over || store.isDead);
    if (!store.isDead) return { ...opened, lives };
    if (lives > 60) throw new Error("it gets nowhere");
  }
}

describe("a process that dies", () => {
  test("at every write in turn leaves the same history as one that lives", async ({ world }) => {
    const whole = await world.open(script, { tools: toolsOf(world), session: { id: "whole" } });
    await whole.session.run("go", { approve: "allow" }).unwrap();
    const expected = gist(whole.session.messages());
    const writes = (await world.records("whole")).length;
    const base = world.store;
    let tried = 0;
    for (let n = 1; n <= writes; n++) {
      const store = new FaultyStore(base);
      const id = `dies-${n}`;
      const first = await world.open(script, { store, tools: toolsOf(world), session: { id } });
      let left = n;
      store.killAfter(() => left-- <= 1);
      let over = false;
      void first.session.run("go", { approve: "allow" }).result.then(() => (over = true));
      await world.until(() => over || store.isDead);
      if (!store.isDead) break;
      tried++;
      const second = await world.reopen(script, { tools: toolsOf(world) }, id);
      await finish(second);
      expect(gist(second.session.messages()), `after write ${n}`).toEqual(expected);
      expect(await endings(world, id), `after write ${n}`).toHaveLength(1);
    }
    expect(tried).toBeGreaterThan(8);
  });

  test.for([3, 4, 5])("after every %i writes, again and again, comes to the same end", async (writes, { world }) => {
    const { session, lives } = await livesOf(world, world.store, writes);
    expect(lives).toBeGreaterThan(1);
    expect(told(session.messages()).map((t) => t.split(" ")[0])).toEqual(["ok", "ok", "ok", "ok", "failed"]);
    expect(said(session.messages()).at(-1)).toBe("assistant done");
    expect(await endings(world, "s1")).toHaveLength(1);
  });

  test("on disk too: the lease of a dead one is free, and its journal is whole", async ({ world }) => {
    const { store } = world.folder();
    const { session, lives } = await livesOf(world, store, 4);
    expect(lives).toBeGreaterThan(1);
    expect(said(session.messages()).at(-1)).toBe("assistant done");
    expect(await store.check("s1")).toMatchObject({ ok: true });
  });
});

import { expect } from "vitest";
import { cassette, type Cassette } from "../../src/adapters/cassette.ts";
import { fallback } from "../../src/adapters/model/fallback.ts";
import { scriptedModel, type Script } from "../../src/testing/scripted-model.ts";
import { readTool, test, write, look, type Setup, type World } from "../session/support.ts";

/** A session, played to its end; its cassette. */
async function recorded(world: World, script: Script, setup: Setup = {}, options = {}): Promise<Cassette> {
  const { session } = await world.open(script, { instructions: "Be brief.", ...setup });
  await session.run("go", options).result;
  return cassette(JSON.parse(JSON.stringify(await world.records())) as never);
}
const play = async (world: World, tape: Cassette, setup: Setup = {}, prompt = "go") => {
  const { agent } = world.agent({ model: tape.model, tools: tape.tools(), instructions: tape.instructions, ...setup });
  const session = await agent.createSession({ id: "s2" });
  return { session, result: await session.run(prompt, { approve: tape.approve }).result };
};
const shown = (messages: readonly { id: string }[]) => messages.map((message) => ({ ...message, id: "" }));

test("a cassette plays the session again: same answers, same results, same conversation, no tool runs", async ({
  world,
}) => {
  const tape = await recorded(
    world,
    [
      { ...look("a", "b"), thinking: "hm", usage: { input: 7 } },
      write("c"),
      { text: ["do", "ne"], usage: { input: 9 } },
    ],
    {},
    { approve: "allow" },
  );
  const ran = [...world.ran];
  const { session, result } = await play(world, tape);
  expect(result).toMatchObject({ status: "completed", text: "done", usage: { input: 16 } });
  expect(world.ran).toEqual(ran);
  const before = (await world.agent().agent.read("s1")).messages;
  expect(shown(session.messages())).toEqual(shown(before));
  tape.assertDone();
});

test("a request that differs is a miss that shows the first difference", async ({ world }) => {
  const tape = await recorded(world, ["one"]);
  const { result } = await play(world, tape, {}, "stop");
  expect(result).toMatchObject({ status: "failed", error: { code: "fatal" } });
  expect(result.error!.message).toMatch(
    /^The cassette expects another request at record \d+: messages\[0\]\.parts\[0\]\.text was "go", and is "stop"\.$/,
  );
});

test("other instructions, other tools and one request too many are misses", async ({ world }) => {
  const one = await recorded(world, ["one"]);
  expect((await play(world, one, { instructions: "Be long." })).result.error!.message).toMatch(
    /instructions was "Be brief\."/,
  );
  const records = await world.records();
  const again = cassette(records);
  const { agent } = world.agent({ model: again.model, tools: {}, instructions: again.instructions });
  const bare = await agent.createSession({ id: "s3" });
  expect((await bare.run("go").result).error!.message).toMatch(/tools\[0\] was "look", and is nothing/);
  const third = cassette(records);
  const { agent: more } = world.agent({ model: third.model, tools: third.tools(), instructions: third.instructions });
  const session = await more.createSession({ id: "s4" });
  await session.run("go").unwrap();
  expect((await session.run("more").result).error!.message).toMatch(/one request more was made than it holds/);
});

test("a call with other arguments is a failed result that shows the difference", async ({ world }) => {
  const tape = await recorded(world, [look("a"), "done"]);
  const tools = tape.tools({ look: readTool(() => "never") });
  const noted: unknown[] = [];
  try {
    await tools["look"]!.execute({ path: "b" }, {
      callId: "call_1_1_0",
      signal: new AbortController().signal,
    } as never);
  } catch (error) {
    noted.push((error as Error).message);
  }
  expect(noted).toEqual(['The cassette expects another call call_1_1_0: args.path was "a", and is "b".']);
});

test("failures are played as they came, and so is the model that stood in", async ({ world }) => {
  const model = fallback([
    scriptedModel([{ text: "half", fails: { class: "auth" } }], { id: "a" }),
    scriptedModel(["whole"], { id: "b" }),
  ]);
  const tape = await recorded(world, [], { model });
  const { session, result } = await play(world, tape);
  expect(result).toMatchObject({ status: "completed", text: "whole" });
  expect(shown(session.messages())).toHaveLength(3);
  tape.assertDone();
});

test("a tool that failed fails again; decisions are made again", async ({ world }) => {
  const tools = { ...world.tools, look: readTool(() => Promise.reject(new Error("no such file"))) };
  const approve = async (requests: { callId: string }[]) =>
    requests.map(({ callId }, i) => ({
      callId,
      decision: i === 0 ? ("deny" as const) : ("allow" as const),
      reason: "no",
    }));
  const tape = await recorded(world, [look("a"), write("b", "c"), "done"], { tools }, { approve });
  const { session } = await play(world, tape);
  const before = (await world.agent().agent.read("s1")).messages;
  expect(shown(session.messages())).toEqual(shown(before));
  expect(JSON.stringify(session.messages())).toMatch(/no such file[^]*denied by user/);
});

test("a cassette that was not played to its end says so; what is no journal is refused", async ({ world }) => {
  const tape = await recorded(world, [look("a"), "done"]);
  expect(() => tape.assertDone()).toThrow(/request at record \d+ was never made/);
  expect(() => cassette([])).toThrow(/from session\.opened on/);
});

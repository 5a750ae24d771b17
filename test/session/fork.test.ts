import { describe, expect } from "vitest";
import type { JournalRecord } from "../../src/core/event.ts";
import { replay } from "../../src/session/replay.ts";
import { codeOf, look, readTool, said, test, write } from "./support.ts";
import { content } from "../../src/tool.ts";

describe("a fork", () => {
  test("begins with the other's records, says so, and goes its own way; the other is not touched", async ({
    world,
  }) => {
    const { session, agent } = await world.open([look("a"), "one", "two here", "two there"]);
    await session.run("1").unwrap();
    const before = await world.records();
    const fork = await agent.forkSession("s1", { id: "s2" });
    expect(fork.messages()).toEqual(session.messages());
    expect((await session.run("2").unwrap()).text).toBe("two here");
    expect((await fork.run("2").unwrap()).text).toBe("two there");
    const records = await world.records("s2");
    expect(records[0]).toMatchObject({
      type: "session.opened",
      id: "s2",
      forkedFrom: { id: "s1", seq: before.length },
    });
    expect(records.slice(1, before.length)).toEqual(before.slice(1));
    expect((await replay(records)).divergences).toEqual([]);
  });

  test("at a record: what came after it never was, and an open run goes on", async ({ world }) => {
    const { session, agent } = await world.open([look("a"), "one", "another one"]);
    await session.run("1").unwrap();
    const records = await world.records();
    const at = records.find((r) => r.type === "tool.settled")!.seq;
    const fork = await agent.forkSession("s1", { at });
    expect(fork.state).toBe("suspended");
    expect(said(fork.messages())).toEqual(["user 1", "assistant ", "tool seen a"]);
    expect((await fork.continue().unwrap()).text).toBe("another one");
    expect(world.ran).toEqual(["look a"]);
  });

  test("at every record of a session: the fork replays and can be gone on with", async ({ world }) => {
    const { session, agent } = await world.open((_, i) => (i === 0 ? look("a", "b") : `answer ${i}`));
    await session.run("1").unwrap();
    const { length } = await world.records();
    for (let at = 1; at <= length; at++) {
      const fork = await agent.forkSession("s1", { at, id: `f${at}` });
      expect((await replay(await world.records(`f${at}`))).divergences).toEqual([]);
      expect(await fork.continue().result).toMatchObject({ status: "completed" });
    }
  });

  test("decisions after it are dropped: the approval is open again", async ({ world }) => {
    const { session, agent } = await world.open([write("a"), "done", "not done"]);
    const run = session.run("1", { approvals: "wait" });
    await world.until(() => session.pending().length === 1);
    const at = (await world.records()).find((r) => r.type === "approval.requested")!.seq;
    await session.decide([{ callId: session.pending()[0]!.callId, decision: "allow" }]);
    await run.unwrap();
    const fork = await agent.forkSession("s1", { at });
    expect(fork.pending()).toHaveLength(1);
    await fork.decide([{ callId: fork.pending()[0]!.callId, decision: "deny" }]);
    expect((await fork.continue().unwrap()).text).toBe("not done");
    expect(world.ran).toEqual(["write a"]);
  });

  test("files that its records name are its own", async ({ world }) => {
    const image = { type: "image" as const, mediaType: "image/x-raw", data: new Uint8Array(20_000).fill(1) };
    const tools = { look: readTool(() => content([image])) };
    const { session, agent, model } = await world.open([look("a"), "one", "two"], { tools });
    await session.run("1").unwrap();
    const fork = await agent.forkSession("s1");
    await agent.deleteSession("s1");
    await fork.run("2").unwrap();
    expect(JSON.stringify(model.requests.at(-1)!.messages)).toContain("AQEBAQEB".repeat(100));
    world.skips.fold = true;
  });

  test("a place that is not there, an unknown session and a taken id are refused, and nothing is made", async ({
    world,
  }) => {
    const { session, agent } = await world.open(["one"]);
    await session.run("1").unwrap();
    for (const at of [0, -1, 1.5, 1_000])
      expect(await codeOf(agent.forkSession("s1", { at, id: "s2" }))).toBe("invalid_options");
    expect(await codeOf(agent.forkSession("nobody"))).toBe("not_found");
    expect(await codeOf(agent.forkSession("s1", { id: "s1" }))).toBe("invalid_options");
    expect(await codeOf(agent.forkSession("s1", { id: "../x" }))).toBe("invalid_options");
    expect((await agent.listSessions()).map((s) => s.id)).toEqual(["s1"]);
  });

  test("a journal that breaks in the middle is forked before the place where it breaks", async ({ world }) => {
    const { store } = world.folder();
    const { session, agent } = await world.open(["one", "two"], { store });
    await session.run("1").unwrap();
    const end = (await world.records()).findLast((r) => r.type === "run.ended")!.seq;
    await session.run("2").unwrap();
    const file = (await store.putFile("s1", "x", "x")).replace(/\.files\/x$/, "_001.jsonl");
    const { readFileSync, writeFileSync } = await import("node:fs");
    const lines = readFileSync(file, "utf8").split("\n");
    lines[end + 1] = "garbage";
    writeFileSync(file, lines.join("\n"));
    world.skips = { fold: true, journal: true, partials: true };
    expect(await codeOf(agent.forkSession("s1"))).toBe("journal_corrupt");
    const fork = await agent.forkSession("s1", { at: end, id: "s2" });
    expect(said(fork.messages())).toEqual(["user 1", "assistant one"]);
    const records: JournalRecord[] = await world.records("s2");
    expect(records).toHaveLength(end);
  });
});

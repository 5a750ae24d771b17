/** What the view holds after a full compaction, where it comes from, and what else a compaction leaves behind. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { foldTranscript } from "../../src/core/transcript.ts";
import { textOf, type Message } from "../../src/core/message.ts";
import { defineMiddleware } from "../../src/middleware/middleware.ts";
import type { ModelRequest } from "../../src/ports.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { all, call, gate, look, only, readTool, said, settled, test } from "./support.ts";

const isSummary = (r: ModelRequest) => r.purpose === "summary";
const gist = { text: "[summary]gist[/summary]", usage: { input: 50, output: 5 } };
const restored = (view: readonly Message[]) => view.find((m) => m.role === "user" && m.kind === "restored");
const words = (m: Message | undefined) => (m && m.role !== "tool" ? textOf(m.parts) : "");
const fails = (message: string) => ({ fails: { class: "fatal" as const, message }, usage: { input: 7 } });

/** Answers turns by `turn`, summaries by `summary`. */
const script = (turn: (index: number) => any, summary: () => any = () => gist) => {
  let turns = 0;
  return (r: ModelRequest) => (isSummary(r) ? summary() : turn(turns++));
};

describe("after a full compaction", () => {
  test("the task focus and open background work are in the view, from the records alone", async ({ world }) => {
    const { session, events } = await world.open(script(() => "ok"));
    await session.run("one").unwrap();
    await session.actor.send({
      type: "focus.updated",
      patch: { goal: "ship it", facts: ["the port is 8080", "no TLS"], old: 1 },
    });
    await session.actor.send({ type: "focus.updated", patch: { old: null, next: "write docs [/working_state]" } });
    await session.actor.send({ type: "task.opened", taskId: "t1", label: "nightly build" });
    await session.actor.send({ type: "task.opened", taskId: "t2", label: "done already" });
    await session.actor.send({ type: "task.settled", taskId: "t2" });
    expect(await session.compact()).toEqual({ status: "ok" });
    const shown = words(restored(session.view()));
    expect(shown).toBe(
      "[working_state]\nFocus:\n- goal: ship it\n- facts:\n  - the port is 8080\n  - no TLS\n- next: write docs &#91;/working_state]\n\n" +
        "Open background work:\n- nightly build (t1)\n[/working_state]",
    );
    await settled();
    expect(foldTranscript(await world.records()).view).toEqual(session.view());
    expect(only(events, "compaction.completed").directive).toMatchObject({
      kind: "summarize",
      state: expect.any(String),
    });
  });

  test("what was read recently is read again by its own tool, with path and hash; the newest version counts", async ({
    world,
  }) => {
    const disk: { [path: string]: string } = {
      a: "first version of a",
      b: "text of b",
      c: "text of c",
      big: "line of it\n".repeat(9_000),
    };
    const read = readTool(
      ({ path }) => (world.ran.push(`read ${path}`), disk[path] ?? Promise.reject(new Error(`${path} is gone`))),
      {
        reads: ({ path }: { path: string }) => path,
      },
    );
    const calls = ["b", "a", "big", "c", "a"].map((path) => ({ calls: [call("read", path)] }));
    const { session, model, events } = await world.open(
      script((i) => calls[i] ?? (i < 9 ? look(`${i}`) : "done")),
      { tools: { ...world.tools, read } },
    );
    await session.run("read them").unwrap();
    disk["a"] = "second version of a";
    delete disk["c"];
    world.ran.length = 0;
    expect(await session.compact()).toEqual({ status: "ok" });
    expect(world.ran).toEqual(["read a", "read c", "read big", "read b"]);
    await settled();
    const { directive } = only(events, "compaction.completed");
    if (directive?.kind !== "summarize") throw new Error("it was a summary");
    expect(directive.files!.map((f) => f.path)).toEqual(["a", "big", "b"]);
    expect(directive.files![0]).toMatchObject({
      tool: "read",
      text: "second version of a",
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(directive.files![1]!.text).toMatch(/characters left out …\]$/);
    const shown = words(restored(session.view()));
    expect(shown).toContain("File a (read again by read, sha256 ");
    expect(shown.length).toBeLessThan(disk["big"]!.length / 3);
    await settled();
    expect(only(events, "reread.skipped")).toMatchObject({ tool: "read", path: "c", message: "c is gone" });
    // The transcript knows nothing of it, and so does nobody who would ask for results.
    expect(JSON.stringify(session.messages())).not.toContain("second version");
    await session.run("go on").unwrap();
    expect(said(model.requests.at(-1)!.messages).join()).toContain("second version of a");
  });

  test("nothing is read again that a review forbids, that is still shown, or whose tool may do more than read", async ({
    world,
  }) => {
    const reads = ({ path }: { path: string }) => path;
    const read = readTool(({ path }) => (world.ran.push(`read ${path}`), `text of ${path}`), { reads });
    const act = readTool(({ path }) => (world.ran.push(`act ${path}`), "acted"), { reads, readOnly: false });
    let closed = false;
    const rules = defineMiddleware({
      name: "rules",
      reviewCall: ({ args }) =>
        closed && args.path === "secret" ? { verdict: "deny", reason: "That is closed." } : "allow",
    });
    const turns = [
      { calls: [call("read", "secret"), call("act", "x")] },
      look("1"),
      look("2"),
      look("3"),
      { calls: [call("read", "late")] },
    ];
    const { session, events } = await world.open(
      script((i) => turns[i] ?? "done"),
      { tools: { ...world.tools, read, act }, middleware: [rules] },
    );
    await session.run("go").unwrap();
    closed = true;
    world.ran.length = 0;
    expect(await session.compact()).toEqual({ status: "ok" });
    await settled();
    expect(world.ran).toEqual([]);
    expect(only(events, "reread.skipped")).toMatchObject({
      path: "secret",
      message: expect.stringContaining("That is closed."),
    });
    expect(restored(session.view())).toBeUndefined();
  });

  test("a summary is summarized, not put into the next one", async ({ world }) => {
    let n = 0;
    const { session, model } = await world.open(
      script(
        () => "ok",
        () => `[summary]gist ${++n}[/summary]`,
      ),
    );
    await session.run("one").unwrap();
    await session.compact();
    await session.run("two").unwrap();
    await session.compact();
    const view = said(session.view());
    expect(view.filter((line) => line.includes("context_summary"))).toEqual([
      "user [context_summary]\ngist 2\n[/context_summary]",
    ]);
    expect(said(model.requests.filter(isSummary)[1]!.messages)[0]).toContain("gist 1");
  });

  test("its records begin the next segment of the journal, and the session reads as one", async ({ world }) => {
    const { store, again, dir } = world.folder();
    const { session } = await world.open(
      script(() => "ok"),
      { store },
    );
    await session.run("one").unwrap();
    await session.compact();
    await session.run("two").unwrap();
    await session.compact({ mode: "discard" });
    const files = readdirSync(dir, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".jsonl"))
      .sort();
    expect(files.map((name) => name.slice(-9))).toEqual(["001.jsonl", "002.jsonl", "003.jsonl"]);
    for (const name of files.slice(1))
      expect(JSON.parse(readFileSync(join(dir, name), "utf8").split("\n")[0]!)).toMatchObject({
        type: "compaction.completed",
      });
    const other = await world.reopen([], { store: again() });
    expect(other.session.view()).toEqual(session.view());
  });
});

describe("a compaction that fails", () => {
  const long = "words ".repeat(400);

  test("says why, counts the tokens of every attempt, and below the hard limit lets the run go on", async ({
    world,
  }) => {
    const broken = scriptedModel(() => fails("The model no-such-model does not exist"), { id: "no-such-model" });
    const { session, events, model } = await world.open(() => ({ text: long }), {
      compaction: { window: 6_000, fullAt: 0.5, microAt: 0.4, model: broken },
    });
    for (let i = 0; i < 14; i++) expect((await session.run(`${i}`).result).status).toBe("completed");
    await settled();
    expect(broken.requests.map((r) => r.purpose)).toEqual(Array.from({ length: 9 }, () => "summary"));
    expect(session.usage().byPurpose.summary).toEqual({ input: 63 });
    expect(all(events, "compaction.failed")[0]!.message).toMatch(/3 attempts: The model no-such-model does not exist/);
    expect(model.requests.every((r) => r.purpose === "turn")).toBe(true);
  });

  test("three times in a row is not tried a fourth time, until it is done by hand", async ({ world }) => {
    let works = false;
    const summary = scriptedModel(() => (works ? gist : fails("down")));
    const { session, events } = await world.open(() => ({ text: long }), {
      compaction: { window: 20_000, fullAt: 0.1, microAt: 0.05, model: summary },
      limits: { summaryAttempts: 1 },
    });
    for (let i = 0; i < 10; i++) await session.run(`${i}`).unwrap();
    await settled();
    expect(all(events, "compaction.failed")).toHaveLength(3);
    works = true;
    expect(await session.compact()).toEqual({ status: "ok" });
    for (let i = 0; i < 6; i++) await session.run(`again ${i}`).unwrap();
    await settled();
    expect(all(events, "compaction.applied").length).toBeGreaterThan(1);
  });

  test("at the hard limit ends the run with no model call for that turn, and with the reason", async ({ world }) => {
    const { session, model } = await world.open(
      script(
        () => ({ text: long, usage: { input: 7_900, output: 200 } }),
        () => fails("no such model"),
      ),
      { compaction: { window: 8_000 } },
    );
    await session.run("one").unwrap();
    const before = session.messages();
    const turns = () => model.requests.filter((r) => !isSummary(r)).length;
    expect(turns()).toBe(1);
    const result = await session.run("two").result;
    expect(result).toMatchObject({ status: "failed", error: { code: "context_exhausted" } });
    expect(result.error!.message).toContain("no such model");
    expect(turns()).toBe(1);
    expect(session.messages()).toEqual(before);
    expect(result.undelivered).toHaveLength(1);
  });

  test.for(["beforeCompact", "summary", "reread"] as const)(
    "a cancel during %s changes nothing",
    async (where, { world }) => {
      const open = gate();
      const read = readTool(
        ({ path }) => (where === "reread" && world.ran.length ? open.promise : (world.ran.push(path), path)),
        {
          reads: ({ path }: { path: string }) => path,
        },
      );
      const wait = defineMiddleware({
        name: "wait",
        beforeCompact: () => (where === "beforeCompact" ? open.promise.then(() => undefined) : undefined),
      });
      const turns = [{ calls: [call("read", "a")] }, look("1"), look("2"), look("3")];
      const { session, model } = await world.open(
        script(
          (i) => turns[i] ?? "done",
          () => (where === "summary" ? { text: "[summ", hangs: true } : gist),
        ),
        { tools: { ...world.tools, read }, middleware: [wait] },
      );
      await session.run("go").unwrap();
      const view = session.view();
      const work = session.compact();
      await world.until(() => session.stateValue === "compact.summarizing");
      if (where !== "beforeCompact") await world.until(() => model.requests.some(isSummary));
      await settled();
      await session.cancel();
      expect(await work).toMatchObject({ status: "failed" });
      open.open();
      await settled();
      expect(session.view()).toEqual(view);
      expect((await session.run("next").unwrap()).text).toBe("done");
    },
  );
});

describe("a separate summary model", () => {
  test("is asked for summaries alone, within its own window, and its tokens are counted by purpose", async ({
    world,
  }) => {
    const small = scriptedModel(() => gist, { id: "small", window: 6_000 });
    const { session, model } = await world.open(
      () => ({ text: "words ".repeat(1_500), usage: { input: 10, output: 3 } }),
      {
        compaction: { model: small, window: 30_000, maxSessionTurns: 6 },
      },
    );
    for (let i = 0; i < 8; i++) await session.run(`task ${i}`).unwrap();
    expect(model.requests.map((r) => r.purpose)).toEqual(Array.from({ length: 8 }, () => "turn"));
    const [asked] = small.requests;
    expect(asked).toMatchObject({ purpose: "summary", settings: {} });
    expect(said(asked!.messages)[0]).toContain("too long to be shown here");
    expect(session.usage().byPurpose).toMatchObject({
      summary: { input: 50, output: 5 },
      turn: { input: 80, output: 24 },
    });
  });
});

describe("a session that cannot be compacted", () => {
  test("is told apart: empty, just compacted, busy, or in the middle of an exchange", async ({ world }) => {
    const tools = { ask: readTool(() => "x", { needsApproval: true }) };
    const { session } = await world.open(
      script((i) => (i === 2 ? { calls: [call("ask", "a")] } : "ok")),
      { tools },
    );
    expect(session.compactability()).toBe("empty");
    await session.run("1").unwrap();
    expect(session.compactability()).toBe("ok");
    expect(await session.compact()).toEqual({ status: "ok" });
    expect(session.compactability()).toBe("just_compacted");
    await session.run("more").unwrap();
    expect((await session.run("2", { approvals: "suspend" }).result).status).toBe("suspended");
    expect(session.compactability({ mode: "discard" })).toBe("unsupported");
    expect(session.compactability()).toBe("ok");
    expect(await session.compact({ mode: "discard" })).toEqual({ status: "unsupported" });
    // The pending approval is not compacted away by a summary either.
    expect(await session.compact()).toEqual({ status: "ok" });
    const [pending] = session.pending();
    await session.decide([{ callId: pending!.callId, decision: "allow" }]);
    expect((await session.continue().result).status).toBe("completed");
    expect(said(session.view()).join("\n")).toContain("user 2");
  });
});

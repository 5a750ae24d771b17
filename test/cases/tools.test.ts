import { describe, expect } from "vitest";
import { defineMiddleware } from "../../src/middleware/middleware.ts";
import { all, call, gate, only, readTool, settled, test, told, writeTool } from "../session/support.ts";

describe("tools", () => {
  test("G1 two approved edits of one file in one batch: one after the other, both changes present", async ({
    world,
  }) => {
    const files = new Map([["f", "one two"]]);
    const steps: string[] = [];
    let open = 0;
    let most = 0;
    const edit = (from: string, to: string) =>
      writeTool(
        async ({ path }) => {
          most = Math.max(most, ++open);
          steps.push(`read for ${from}`);
          const text = files.get(path)!;
          await settled();
          files.set(path, text.replace(from, to));
          steps.push(`write ${to}`);
          open--;
          return "edited";
        },
        { lockKey: ({ path }: { path: string }) => [path] },
      );
    const tools = { first: edit("one", "1"), second: edit("two", "2") };
    const { session } = await world.open([{ calls: [call("first", "f"), call("second", "f")] }, "done"], { tools });
    await session.run("go", { approve: "allow" }).unwrap();
    expect(files.get("f")).toBe("1 2");
    expect(steps).toEqual(["read for one", "write 1", "read for two", "write 2"]);
    expect(most).toBe(1);
  });

  test("G1 lock keys are of the arguments that run, and other keys do not wait", async ({ world }) => {
    const gates: { [path: string]: ReturnType<typeof gate<void>> } = { a: gate(), b: gate() };
    const tools = {
      edit: writeTool(
        async ({ path }) => {
          world.ran.push(path);
          await gates[path]!.promise;
        },
        { lockKey: ({ path }: { path: string }) => [path] },
      ),
    };
    const { session } = await world.open([{ calls: ["a", "b", "a", "b"].map((p) => call("edit", p)) }, "done"], {
      tools,
    });
    const run = session.run("go", {
      approve: (requests) =>
        requests.map((r, i) => ({
          callId: r.callId,
          decision: "allow" as const,
          ...(i === 3 ? { args: { path: "a" } } : {}),
        })),
    });
    await world.until(() => world.ran.length === 2);
    await settled();
    expect(world.ran).toEqual(["a", "b"]);
    gates.b!.open();
    await settled();
    expect(world.ran).toEqual(["a", "b"]);
    gates.a!.open();
    await run.unwrap();
    expect(world.ran).toEqual(["a", "b", "a", "a"]);
  });

  test("G1 a tool that cannot name its lock keys does not run", async ({ world }) => {
    const tools = {
      edit: readTool(() => world.ran.push("edit"), {
        lockKey: () => {
          throw new Error("no such path");
        },
      }),
    };
    const { session } = await world.open([{ calls: [call("edit", "a")] }, "done"], { tools });
    await session.run("go").unwrap();
    expect(world.ran).toEqual([]);
    expect(told(session.messages())).toEqual([expect.stringMatching(/^denied .*no such path/)]);
  });

  test("G3 a slow tool does not hold back the fast one's event: events by completion, history in call order", async ({
    world,
  }) => {
    const slow = gate<string>();
    const tools = { slow: readTool(() => slow.promise), fast: readTool(({ path }) => `fast ${path}`) };
    const script = [{ calls: [call("slow", "a"), call("fast", "b"), call("fast", "c")] }, "done"];
    const { session, events } = await world.open(script, { tools });
    const run = session.run("go");
    await world.until(() => all(events, "tool.settled").length === 2);
    expect(all(events, "exchange.committed")).toEqual([]);
    slow.open("slow at last");
    await run.unwrap();
    await settled();
    expect(all(events, "tool.settled").map((e) => e.name)).toEqual(["fast", "fast", "slow"]);
    expect(told(session.messages())).toEqual(["ok slow at last", "ok fast b", "ok fast c"]);
    const committed = all(events, "exchange.committed")[0]!;
    expect(committed.results.map((r) => r.name)).toEqual(["slow", "fast", "fast"]);
    for (const result of committed.results) {
      const settledBy = all(events, "tool.settled").find((e) => e.callId === result.callId)!;
      expect(result).toMatchObject({ status: "ok", seq: settledBy.seq });
    }
  });

  test("G3 progress is live only and comes between start and end of its call", async ({ world }) => {
    const tools = {
      slow: readTool(async (_, { progress }) => {
        progress({ percent: 50 });
        await settled();
        progress({ percent: 100 });
        return "x";
      }),
    };
    const { session, events } = await world.open([{ calls: [call("slow", "a")] }, "done"], { tools });
    await session.run("go").unwrap();
    await settled();
    const kinds = events.map((e) => e.type).filter((t) => t.startsWith("tool."));
    expect(kinds).toEqual(["tool.started", "tool.progress", "tool.progress", "tool.settled"]);
    expect(JSON.stringify(await world.records())).not.toContain("percent");
  });

  test("one tool's throw never touches its siblings, and what afterCall adds stays with its call", async ({
    world,
  }) => {
    const tools = {
      ...world.tools,
      bad: readTool(() => {
        throw new Error("broken pipe");
      }),
    };
    const notes = defineMiddleware({ name: "notes", afterCall: (c, r) => ({ note: ` (${c.name} was ${r.status})` }) });
    const script = [{ calls: [call("look", "a"), call("bad", "b"), call("look", "c")] }, "done"];
    const { session, events } = await world.open(script, { tools, middleware: [notes] });
    await session.run("go").unwrap();
    await settled();
    expect(told(session.messages())).toEqual([
      "ok seen a (look was ok)",
      "failed broken pipe (bad was failed)",
      "ok seen c (look was ok)",
    ]);
    expect(
      only(
        events.filter((e) => e.type !== "exchange.committed" || e.results.length > 0),
        "exchange.committed",
      ).results,
    ).toHaveLength(3);
  });
});

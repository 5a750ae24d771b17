import { describe, expect } from "vitest";
import { createAgent } from "../../src/session/agent.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { defineMiddleware, type Middleware } from "../../src/middleware/middleware.ts";
import { call, newest, readTool, settled, test, told, writeTool } from "../session/support.ts";

const plugin: Middleware = defineMiddleware({
  name: "plugin",
  tools: {
    direct: readTool(() => "direct ran"),
    hidden: readTool(() => "hidden ran", { deferred: true, description: "finds lost umbrellas" }),
  },
  contribute: () => "The plugin is here.",
  reviewCall: (c) => (c.name === "look" ? { verdict: "deny", reason: "the plugin says no" } : undefined),
});

describe("closure", () => {
  test("removing a middleware removes its tools, its prompt text and its reviews, search included", async ({
    world,
  }) => {
    const script = [
      { calls: [call("look", "a"), call("direct", "b"), { name: "search_tools", args: { query: "umbrellas" } }] },
      { calls: [{ name: "call_tool", args: { name: "hidden", arguments: { path: "x" } } }] },
      "done",
    ];
    const withIt = await world.open(script, { middleware: [plugin] });
    await withIt.session.run("go").unwrap();
    expect(withIt.model.requests[0]!.tools.map((t) => t.name)).toEqual([
      "call_tool",
      "direct",
      "look",
      "search_tools",
      "write",
    ]);
    expect(withIt.model.requests[0]!.instructions).toBe("The plugin is here.");
    expect(told(withIt.session.messages())).toEqual([
      "denied Tool call denied by policy. the plugin says no",
      "ok direct ran",
      expect.stringMatching(/^ok .*hidden/),
      "ok hidden ran",
    ]);

    const without = await world.open(script, { session: { id: "s2" } });
    await without.session.run("go").unwrap();
    expect(without.model.requests[0]!.tools.map((t) => t.name)).toEqual(["look", "write"]);
    expect(without.model.requests[0]!.instructions).toBe("");
    expect(told(without.session.messages()).map((t) => t.split(" ")[0])).toEqual(["ok", "failed", "failed", "failed"]);
    expect(JSON.stringify(without.model.requests[1]!.messages)).not.toContain("The tools are: direct");
  });

  test("a session resumed without it has none of it either, and says what is gone", async ({ world }) => {
    const first = await world.open(["ok"], { middleware: [plugin] });
    await first.session.run("go").unwrap();
    const second = await world.reopen([{ calls: [call("direct", "a"), call("look", "b")] }, "done"]);
    await second.session.run("more").unwrap();
    expect(told(second.session.messages())).toEqual([expect.stringMatching(/^failed There is no tool/), "ok seen b"]);
    const resumed = (await world.records()).find((r) => r.type === "session.resumed");
    expect(JSON.stringify(resumed)).toMatch(/tool removed: direct/);
  });

  test("names are unique, in the chain and among tools, and hooks are known ones", () => {
    const agent = (middleware: Middleware[]) => () =>
      createAgent({ model: scriptedModel([]), tools: { direct: readTool(() => "mine") }, middleware });
    expect(agent([{ name: "x" }, { name: "x" }])).toThrow(/two are named "x"/);
    expect(agent([plugin])).toThrow(/"plugin" brings the tool "direct"/);
    expect(agent([{ name: "x", onStart: () => {} } as never])).toThrow(/unknown hook "onStart"/);
    expect(agent([{ name: "" }])).toThrow(/name/);
    expect(agent([{ name: "x", onStop: "yes" } as never])).toThrow(/onStop must be a function/);
  });
});

describe("deferred tools", () => {
  test("are not in the request; search finds them by name and description with their parameters", async ({ world }) => {
    const tools = {
      ...world.tools,
      send_mail: writeTool(() => "sent", { deferred: true, description: "sends an e-mail" }),
      read_mail: readTool(() => "read", { deferred: true, description: "reads the inbox" }),
    };
    const { session, model } = await world.open(
      [
        {
          calls: [
            { name: "search_tools", args: { query: "mail" } },
            { name: "search_tools", args: { query: "xyzzy" } },
          ],
        },
        "done",
      ],
      { tools },
    );
    await session.run("go").unwrap();
    expect(model.requests[0]!.tools.map((t) => t.name)).toEqual(["call_tool", "look", "search_tools", "write"]);
    expect(newest(model.requests[1])).toMatch(/send_mail.*read_mail|read_mail.*send_mail/s);
    expect(newest(model.requests[1])).toContain('"path"');
  });

  test("D7 a wrapped call is judged, announced, approved, recorded and locked as its target", async ({ world }) => {
    const judged: unknown[] = [];
    const asked: unknown[] = [];
    const rule = defineMiddleware({
      name: "rule",
      reviewCall: (c) => {
        judged.push([c.name, c.args, c.via, c.readOnly]);
        return c.name === "drop" ? "deny" : undefined;
      },
    });
    const tools = {
      ...world.tools,
      send: writeTool(({ path }) => void world.ran.push(`send ${path}`), { deferred: true }),
      drop: writeTool(() => void world.ran.push("drop"), { deferred: true }),
      peek: readTool(({ path }) => `peeked ${path}`, { deferred: true }),
    };
    const via = (name: string, path: unknown) => ({ name: "call_tool", args: { name, arguments: { path } } as never });
    const { session, events } = await world.open(
      [
        {
          calls: [
            via("send", "a"),
            via("drop", "b"),
            via("peek", "c"),
            via("write", "d"),
            via("send", 7),
            via("nope", "e"),
          ],
        },
        "done",
      ],
      { tools, middleware: [rule] },
    );
    await session
      .run("go", {
        approve: (requests) => {
          asked.push(...requests.map((r) => [r.name, r.args, r.via]));
          return requests.map((r) => ({ callId: r.callId, decision: r.name === "write" ? "deny" : "allow" }) as const);
        },
      })
      .unwrap();
    await settled();
    expect(judged).toEqual([
      ["send", { path: "a" }, "call_tool", false],
      ["drop", { path: "b" }, "call_tool", false],
      ["peek", { path: "c" }, "call_tool", true],
      ["write", { path: "d" }, "call_tool", false],
    ]);
    expect(asked).toEqual([
      ["send", { path: "a" }, "call_tool"],
      ["write", { path: "d" }, "call_tool"],
    ]);
    expect(told(session.messages()).map((t) => t.split(" ")[0])).toEqual([
      "ok",
      "denied",
      "ok",
      "denied",
      "failed",
      "failed",
    ]);
    expect(world.ran).toEqual(["send a"]);
    const started = events.flatMap((e) => (e.type === "tool.started" ? [[e.name, e.args, e.via]] : []));
    expect(started).toEqual([
      ["send", { path: "a" }, "call_tool"],
      ["peek", { path: "c" }, "call_tool"],
    ]);
  });

  test("D7 a wrapper in a wrapper is no way round", async ({ world }) => {
    const rule = defineMiddleware({ name: "rule", reviewCall: (c) => (c.name === "drop" ? "deny" : "allow") });
    const tools = { drop: writeTool(() => void world.ran.push("drop"), { deferred: true }) };
    const inner = { name: "drop", arguments: { path: "x" } };
    const { session } = await world.open(
      [{ calls: [{ name: "call_tool", args: { name: "call_tool", arguments: inner } as never }] }, "done"],
      { tools, middleware: [rule] },
    );
    await session.run("go", { approve: "allow" }).unwrap();
    expect(world.ran).toEqual([]);
    expect(told(session.messages())[0]).toMatch(/^(denied|failed)/);
  });

  test("a provider may bring new deferred tools, and they can be called at once", async ({ world }) => {
    let more = false;
    const growing = defineMiddleware({
      name: "growing",
      tools: () => ({
        old: readTool(() => "old", { deferred: true }),
        ...(more ? { fresh: readTool(() => "fresh ran", { deferred: true, description: "something new" }) } : {}),
      }),
    });
    const { session } = await world.open(
      [
        "one",
        { calls: [{ name: "search_tools", args: { query: "new" } }] },
        { calls: [{ name: "call_tool", args: { name: "fresh", arguments: { path: "x" } } }] },
        "done",
      ],
      { middleware: [growing] },
    );
    await session.run("1").unwrap();
    more = true;
    await session.run("2").unwrap();
    expect(told(session.messages())).toEqual([expect.stringMatching(/^ok .*fresh/), "ok fresh ran"]);
  });

  test("a provider may change how a tool behaves without changing how it looks", async ({ world }) => {
    let readOnly = true;
    const changing = defineMiddleware({
      name: "changing",
      tools: () => ({ act: (readOnly ? readTool : writeTool)(() => (readOnly ? "old" : "new")) }),
    });
    const { session } = await world.open([{ calls: [call("act", "a")] }, "1", { calls: [call("act", "b")] }, "2"], {
      middleware: [changing],
    });
    await session.run("1").unwrap();
    readOnly = false;
    await session.run("2").unwrap();
    expect(told(session.messages()).map((t) => t.split(" ")[0])).toEqual(["ok", "denied"]);
  });
});

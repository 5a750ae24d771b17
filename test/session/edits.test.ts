import { describe, expect } from "vitest";
import { defineMiddleware } from "../../src/middleware/middleware.ts";
import type { Decision } from "../../src/ports.ts";
import { call, gate, look, only, settled, test, told, write, writeTool } from "./support.ts";

const allow = (callId: string, args?: unknown): Decision => ({
  callId,
  decision: "allow",
  ...(args === undefined ? {} : { args }),
});

describe("edited arguments", () => {
  test("are validated and reviewed again by the whole chain, and are what runs", async ({ world }) => {
    const seen: string[] = [];
    const rule = defineMiddleware({
      name: "rule",
      reviewCall: (c) => {
        seen.push(c.args.path);
        return c.args.path.startsWith("/etc") ? { verdict: "deny", reason: "system file" } : undefined;
      },
    });
    const { session, events } = await world.open([write("a", "b", "c"), "done"], { middleware: [rule] });
    await session
      .run("go", {
        approve: ([a, b, c]) => [
          allow(a!.callId, { path: "a2" }),
          allow(b!.callId, { path: "/etc/passwd" }),
          allow(c!.callId, { file: 1 }),
        ],
      })
      .unwrap();
    expect(seen).toEqual(["a", "b", "c", "a2", "/etc/passwd"]);
    expect(world.ran).toEqual(["write a2"]);
    expect(told(session.messages())).toEqual([
      "ok written a2",
      "denied Tool call denied by policy. system file",
      expect.stringMatching(/^denied .*not valid.*path/s),
    ]);
    await settled();
    expect(only(events, "tool.started").args).toEqual({ path: "a2" });
  });

  test("that a middleware would rewrite once more are a deny", async ({ world }) => {
    const rewriting = defineMiddleware({
      name: "rewriting",
      reviewCall: (c) => (c.args.path === "edited" ? { args: { path: "again" } } : "ask"),
    });
    const { session } = await world.open([write("a"), "done"], { middleware: [rewriting] });
    await session.run("go", { approve: ([a]) => [allow(a!.callId, { path: "edited" })] }).unwrap();
    expect(told(session.messages())).toEqual([expect.stringMatching(/^denied .*by policy.*rewritten twice/)]);
    expect(world.ran).toEqual([]);
  });
});

describe("the batch", () => {
  test("the mode is frozen: a change during an approval applies to the next batch", async ({ world }) => {
    const seen: string[] = [];
    const watching = defineMiddleware({
      name: "watching",
      reviewCall: (_, { session }) => void seen.push(session.mode),
    });
    const answer = gate<"allow">();
    const { session } = await world.open([write("a"), look("b"), "done"], { middleware: [watching] });
    const run = session.run("go", { approve: () => answer.promise });
    await world.until(() => session.state === "awaiting_approval");
    await session.actor.send({ type: "mode.changed", mode: "plan" });
    answer.open("allow");
    await run.unwrap();
    expect(seen).toEqual(["default", "plan"]);
  });

  test("act resolves against the catalogue that its request was made with", async ({ world }) => {
    const versions: string[] = [];
    let version = 1;
    const changing = defineMiddleware({
      name: "changing",
      tools: () => {
        const mine = version;
        return { act: { ...writeTool(() => void versions.push(`v${mine}`)), description: `version ${mine}` } };
      },
    });
    const { session, model } = await world.open(
      [{ calls: [call("act", "a")] }, { calls: [call("act", "b")] }, "done"],
      {
        middleware: [changing],
        tools: {},
      },
    );
    await session
      .run("go", {
        approve: () => {
          version++;
          return "allow";
        },
      })
      .unwrap();
    expect(model.requests.map((r) => r.tools[0]!.description)).toEqual(["version 1", "version 2", "version 3"]);
    expect(versions).toEqual(["v1", "v2"]);
  });
});

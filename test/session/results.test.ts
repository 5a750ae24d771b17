import { readFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { text } from "../../src/core/message.ts";
import { content, tool } from "../../src/tool.ts";
import { z } from "zod";
import { holds } from "./faulty-store.ts";
import { all, call, gate, look, newest, only, readTool, settled, test, told, writeTool } from "./support.ts";

describe("results", () => {
  test("all eight statuses, each with the words that the model reads", async ({ world }) => {
    const store = world.faulty();
    const tools = {
      ...world.tools,
      bad: readTool(() => {
        throw new Error("no such file");
      }),
      late: readTool(
        (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("part"))),
        {
          timeoutMs: 100,
        },
      ),
      deaf: readTool(() => new Promise(() => {}), { timeoutMs: 100 }),
      polite: readTool(
        (_, { signal }) =>
          new Promise((_r, reject) => signal.addEventListener("abort", () => reject(new Error("stop")))),
      ),
      crash: readTool(() => new Promise(() => {})),
    };
    const first = { calls: ["look", "bad", "write", "late", "deaf"].map((name) => call(name, "a")) };
    const script = [first, { ...look("b"), finish: "length" as const }, { calls: [call("polite", "c")] }];
    const one = await world.open(script, { tools, store });
    const run = one.session.run("go");
    await world.until(() => all(one.events, "tool.settled").length === 2);
    await world.clock.advance(350);
    await world.until(() => one.model.requests.length === 3 && one.session.stateValue === "act.executing");
    run.cancel();
    await run.result;
    store.killAfter(holds("tool.started"));
    const two = await world.reopen([{ calls: [call("crash", "d")] }], { tools, store });
    void two.session.continue();
    await world.until(() => store.isDead);
    world.store = store.base;
    const three = await world.reopen(["done"], { tools });
    await three.session.continue().unwrap();
    expect(told(three.session.messages())).toEqual([
      "ok seen a",
      "failed no such file",
      "denied Tool call denied by user. Nobody is there to approve it.",
      expect.stringMatching(/^timeout The tool was stopped after 100 ms\.part$/),
      expect.stringMatching(/^abandoned Outcome unknown/),
      expect.stringMatching(/^truncated Not executed/),
      "cancelled [interrupted: tool aborted by user]",
      expect.stringMatching(/^unknown Outcome unknown/),
    ]);
  });

  test("within the grace after a cancel a value is the real result; after a timeout it never is", async ({ world }) => {
    const answers = gate<string>();
    const tools = {
      quick: readTool(
        (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("made it"))),
      ),
      slow: readTool(() => answers.promise),
    };
    const { session } = await world.open([{ calls: [call("quick", "a"), call("slow", "b")] }], { tools });
    const run = session.run("go");
    await world.until(() => session.stateValue === "act.executing");
    run.cancel();
    await world.clock.advance(200);
    answers.open("just in time");
    await run.result;
    expect(told(session.messages())).toEqual(["ok made it", "ok just in time"]);
  });

  test("values, content and nothing at all become what the model reads", async ({ world }) => {
    const image = { type: "image" as const, mediaType: "image/png", data: "iVBORw0KGgo=" };
    const returning = (value: unknown) => readTool(() => value);
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    const tools = {
      text: returning("plain"),
      json: returning({ a: [1, null] }),
      nothing: returning(undefined),
      parts: returning(content([text("see"), image])),
      cyclic: returning(cyclic),
      big: returning(10n),
    };
    const names = Object.keys(tools);
    const { session, model } = await world.open([{ calls: names.map((n) => call(n, "x")) }, "done"], { tools });
    await session.run("go").unwrap();
    const lines = told(session.messages());
    expect(lines[0]).toBe("ok plain");
    expect(lines[1]).toBe('ok {"a":[1,null]}');
    expect(lines[2]).toMatch(/^ok /);
    expect(lines[4]).toMatch(/^(ok|failed) /);
    expect(lines[5]).toMatch(/^(ok 10|failed )/);
    expect(JSON.stringify(model.requests[1]!.messages)).toContain('"image/png"');
  });

  test("large outputs go to a file of the session, with a preview and a path", async ({ world }) => {
    const long = "x".repeat(500) + "MIDDLE" + "y".repeat(500);
    const tools = { big: readTool(() => long) };
    const { session, model } = await world.open([{ calls: [call("big", "a")] }, "done"], {
      tools,
      limits: { maxOutputChars: 300 },
    });
    await session.run("go").unwrap();
    const shown = newest(model.requests[1]);
    expect(shown.length).toBeLessThan(600);
    expect(shown).toMatch(/^tool x{240}\n\[… 706 of 1006 characters left out/);
    expect(shown).toMatch(/y{60}$/);
    const path = /whole output is in (\S+?)\.? …\]/.exec(shown)?.[1];
    expect(readFileSync(path!, "utf8")).toBe(long);
    expect(JSON.stringify(await world.records())).not.toContain("MIDDLE");
  });

  test("a file that cannot be written does not change the outcome", async ({ world }) => {
    const store = world.faulty();
    store.putFile = () => {
      throw new Error("disk full");
    };
    const tools = { big: readTool(() => "z".repeat(1_000)) };
    const { session } = await world.open([{ calls: [call("big", "a")] }, "done"], {
      tools,
      store,
      limits: { maxOutputChars: 300 },
    });
    expect((await session.run("go").unwrap()).text).toBe("done");
    expect(told(session.messages())[0]).toMatch(/^ok z+\n.*not kept/);
    expect(world.warnings.join()).toContain("disk full");
  });

  test("at most maxToolCallsPerTurn calls run; the others fail and say so", async ({ world }) => {
    const { session } = await world.open([look("a", "b", "c", "d"), "done"], { limits: { maxToolCallsPerTurn: 2 } });
    await session.run("go").unwrap();
    expect(world.ran).toEqual(["look a", "look b"]);
    expect(told(session.messages()).slice(2)).toEqual([
      expect.stringMatching(/^failed .*at most 2/),
      expect.stringMatching(/^failed .*at most 2/),
    ]);
  });

  test("at most toolConcurrency tools run at once, started in call order", async ({ world }) => {
    let open = 0;
    let most = 0;
    const tools = {
      slow: readTool(async ({ path }) => {
        world.ran.push(path);
        most = Math.max(most, ++open);
        await settled();
        open--;
      }),
    };
    const paths = ["a", "b", "c", "d", "e", "f", "g"];
    const { session } = await world.open([{ calls: paths.map((p) => call("slow", p)) }, "done"], {
      tools,
      limits: { toolConcurrency: 3 },
    });
    await session.run("go").unwrap();
    expect(most).toBe(3);
    expect(world.ran).toEqual(paths);
  });

  test("a cancel leaves tools that had not started unstarted", async ({ world }) => {
    const tools = {
      slow: readTool(({ path }, { signal }) => {
        world.ran.push(path);
        return new Promise((_r, reject) => signal.addEventListener("abort", () => reject(new Error("x"))));
      }),
    };
    const { session, events } = await world.open([{ calls: ["a", "b", "c"].map((p) => call("slow", p)) }], {
      tools,
      limits: { toolConcurrency: 1 },
    });
    const run = session.run("go");
    await world.until(() => world.ran.length === 1);
    run.cancel();
    await run.result;
    await settled();
    expect(world.ran).toEqual(["a"]);
    expect(only(events, "tool.started").args).toEqual({ path: "a" });
    expect(told(session.messages())).toEqual(Array(3).fill("cancelled [interrupted: tool aborted by user]"));
  });

  test("invalid and unknown calls reach no review and no approver", async ({ world }) => {
    const { session } = await world.open([
      {
        calls: [
          { name: "write", args: { file: "a" } },
          { name: "write", args: [] },
          call("nope", "b"),
          { name: "write", raw: "" },
        ],
      },
      "done",
    ]);
    let asked = 0;
    await session.run("go", { approve: () => (asked++, "allow") }).unwrap();
    expect(asked).toBe(0);
    expect(world.ran).toEqual([]);
    expect(told(session.messages()).map((t) => t.split(" ")[0])).toEqual(["failed", "failed", "failed", "failed"]);
    expect(told(session.messages())[0]).toMatch(/arguments of write are not valid.*path/s);
  });

  test("an empty arguments string means no arguments", async ({ world }) => {
    const ping = tool({ description: "p", input: z.object({}), readOnly: true, execute: () => "pong" });
    const { session } = await world.open(
      [
        {
          calls: [
            { name: "ping", raw: "" },
            { name: "ping", raw: "  " },
          ],
        },
        "done",
      ],
      {
        tools: { ping },
      },
    );
    await session.run("go").unwrap();
    expect(told(session.messages())).toEqual(["ok pong", "ok pong"]);
  });

  test("arguments are validated and converted before they reach a tool", async ({ world }) => {
    const seen: unknown[] = [];
    const convert = tool({
      description: "c",
      input: z.object({ n: z.coerce.number(), unit: z.string().default("cm") }),
      readOnly: true,
      execute: (args) => void seen.push(args),
    });
    const { session } = await world.open([{ calls: [{ name: "convert", args: { n: "4" } }] }, "done"], {
      tools: { convert },
    });
    await session.run("go").unwrap();
    expect(seen).toEqual([{ n: 4, unit: "cm" }]);
  });

  test("a schema that checks asynchronously and throws is a failed result, not a hanging run", async ({ world }) => {
    const fragile = tool({
      description: "f",
      input: z.object({
        path: z.string().refine(async () => {
          throw new Error("the checker is down");
        }),
      }),
      readOnly: true,
      execute: () => "never",
    });
    const { session } = await world.open([{ calls: [call("fragile", "a")] }, "done"], { tools: { fragile } });
    expect((await session.run("go").unwrap()).text).toBe("done");
    expect(told(session.messages())).toEqual([expect.stringMatching(/^failed .*checker is down/)]);
  });

  test("needsApproval that throws asks, and a tool gets its context", async ({ world }) => {
    const contexts: unknown[] = [];
    const tools = {
      odd: writeTool(
        (_, { callId, session, context }) => void contexts.push([callId, session.id, session.workspace, context]),
        {
          needsApproval: () => {
            throw new Error("x");
          },
        },
      ),
    };
    const { session } = await world.open([{ calls: [call("odd", "a")] }, "done"], {
      tools,
      session: { workspace: "/w", context: { db: 1 } },
    });
    let asked = 0;
    await session.run("go", { approve: () => (asked++, "allow") }).unwrap();
    expect(asked).toBe(1);
    expect(contexts).toEqual([["call_1_1_0", "s1", "/w", { db: 1 }]]);
  });
});

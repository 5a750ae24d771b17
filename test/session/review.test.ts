import { describe, expect } from "vitest";
import { defineMiddleware, type Middleware, type Opinion } from "../../src/middleware/middleware.ts";
import { all, call, look, only, readTool, settled, test, told, writeTool, World } from "./support.ts";

const opinion = (name: string, say: () => Opinion): Middleware => defineMiddleware({ name, reviewCall: say });

/** What becomes of one call under a chain: `ran`, `asked` (and then denied), or `denied`. */
async function fate(
  world: World,
  tool: { readOnly: boolean; needsApproval?: boolean },
  opinions: Opinion[],
): Promise<string> {
  const id = `fate-${world.ids.next("fate")}`;
  const { readOnly, ...extra } = tool;
  let ran = false;
  let asked = false;
  const act = (readOnly ? readTool : writeTool)(() => (ran = true), extra);
  const { session } = await world.open([{ calls: [call("act", "a")] }, "done"], {
    tools: { act },
    middleware: opinions.map((o, i) => opinion(`m${i}`, () => o)),
    session: { id },
  });
  await session.run("go", { approve: () => ((asked = true), "deny") }).unwrap();
  return ran ? "ran" : asked ? "asked" : "denied";
}

describe("verdicts", () => {
  test.for([
    [{ readOnly: true }, [], "ran"],
    [{ readOnly: false }, [], "asked"],
    [{ readOnly: true }, [undefined, "abstain"], "ran"],
    [{ readOnly: false }, [undefined, "abstain"], "asked"],
    [{ readOnly: false }, ["allow"], "ran"],
    [{ readOnly: true }, ["ask"], "asked"],
    [{ readOnly: true }, ["deny"], "denied"],
    [{ readOnly: true }, ["allow", "ask"], "asked"],
    [{ readOnly: true }, ["ask", "allow"], "asked"],
    [{ readOnly: true }, ["allow", "ask", "deny", "allow"], "denied"],
    [{ readOnly: true, needsApproval: true }, [], "asked"],
    [{ readOnly: true, needsApproval: true }, ["allow"], "asked"],
    [{ readOnly: true, needsApproval: true }, [{ verdict: "allow", lift: true }], "ran"],
    [{ readOnly: true, needsApproval: true }, [{ verdict: "allow", lift: true }, "ask"], "asked"],
    [{ readOnly: true, needsApproval: true }, [{ verdict: "allow", lift: true }, "deny"], "denied"],
    [{ readOnly: false, needsApproval: false }, [], "ran"],
    [{ readOnly: false, needsApproval: false }, ["ask"], "asked"],
  ] as [{ readOnly: boolean; needsApproval?: boolean }, Opinion[], string][])(
    "strictest wins; silence asks unless readOnly; needsApproval is a floor: %j",
    async ([tool, opinions, expected], { world }) => {
      expect(await fate(world, tool, opinions)).toBe(expected);
    },
  );

  test("a review that answers something unknown is a deny", async ({ world }) => {
    expect(await fate(world, { readOnly: true }, ["perhaps" as never])).toBe("denied");
    expect(await fate(world, { readOnly: true }, [{ verdict: "yes" } as never])).toBe("denied");
    expect(await fate(world, { readOnly: true }, [true as never])).toBe("denied");
  });

  test("needsApproval may look at the arguments", async ({ world }) => {
    const asked: unknown[] = [];
    const act = readTool(({ path }) => void world.ran.push(path), {
      needsApproval: (args: { path: string }) => args.path.startsWith("/"),
    });
    const { session } = await world.open([{ calls: [call("act", "/etc"), call("act", "here")] }, "done"], {
      tools: { act },
    });
    await session.run("go", { approve: (r) => (asked.push(r.map((one) => one.args)), "deny") }).unwrap();
    expect(asked).toEqual([[{ path: "/etc" }]]);
    expect(world.ran).toEqual(["here"]);
  });

  test("every middleware sees every call, in call order, in chain order, with its parsed arguments", async ({
    world,
  }) => {
    const seen: string[] = [];
    const watch = (name: string) =>
      defineMiddleware({
        name,
        reviewCall: (c, { session, runId }) => {
          seen.push(`${name} ${c.name} ${c.args.path} ${c.readOnly} ${session.id} ${runId}`);
          return "deny";
        },
      });
    const { session } = await world.open([look("a", "b"), "done"], { middleware: [watch("x"), watch("y")] });
    await session.run("go").unwrap();
    expect(seen).toEqual(["x look a", "y look a", "x look b", "y look b"].map((s) => `${s} true s1 run_1`));
  });

  test("a deny says who it is from and why", async ({ world }) => {
    const rule = opinion("rule", () => ({ verdict: "deny", reason: "outside the workspace" }));
    const { session } = await world.open([look("a"), "done"], { middleware: [rule] });
    await session.run("go").unwrap();
    expect(told(session.messages())).toEqual(["denied Tool call denied by policy. outside the workspace"]);
  });

  test("an ask tells its reason to the approver", async ({ world }) => {
    const careful = opinion("careful", () => ({ verdict: "ask", reason: "it is large" }));
    const { session } = await world.open([look("a"), "done"], { middleware: [careful] });
    let reason: unknown;
    await session.run("go", { approve: ([r]) => ((reason = r!.reason), "allow") }).unwrap();
    expect(reason).toBe("it is large");
  });
});

describe("rewrites", () => {
  test("rewritten arguments are validated, reviewed by the whole chain again, shown, and run", async ({ world }) => {
    const seen: string[] = [];
    const chain = [
      defineMiddleware({ name: "first", reviewCall: (c) => void seen.push(`first ${c.args.path}`) }),
      defineMiddleware({
        name: "home",
        reviewCall: (c) => (c.args.path.startsWith("~") ? { args: { path: "/home/u" } } : undefined),
      }),
      defineMiddleware({ name: "last", reviewCall: (c) => void seen.push(`last ${c.args.path}`) }),
    ];
    const { session, events } = await world.open([{ calls: [call("write", "~")] }, "done"], { middleware: chain });
    let asked: unknown;
    await session.run("go", { approve: ([r]) => ((asked = r!.args), "allow") }).unwrap();
    expect(seen).toEqual(["first ~", "last ~", "first /home/u", "last /home/u"]);
    expect(asked).toEqual({ path: "/home/u" });
    expect(world.ran).toEqual(["write /home/u"]);
    await settled();
    expect(only(events, "tool.started").args).toEqual({ path: "/home/u" });
  });

  test("a second rewrite is a deny, and so is one to arguments that are not valid", async ({ world }) => {
    const growing = defineMiddleware({ name: "growing", reviewCall: (c) => ({ args: { path: `${c.args.path}!` } }) });
    const one = await world.open([look("a"), "done"], { middleware: [growing] });
    await one.session.run("go").unwrap();
    expect(told(one.session.messages())).toEqual([expect.stringMatching(/^denied .*by policy.*rewritten twice/)]);
    const broken = defineMiddleware({ name: "broken", reviewCall: () => ({ args: { file: 1 } }) });
    const two = await world.open([look("a"), "done"], { middleware: [broken], session: { id: "s2" } });
    await two.session.run("go").unwrap();
    expect(told(two.session.messages())).toEqual([expect.stringMatching(/^denied .*not valid/s)]);
    expect(world.ran).toEqual([]);
  });

  test("the second look sees the new arguments: a deny rule is not passed by a rewrite", async ({ world }) => {
    const order = [
      defineMiddleware({ name: "rule", reviewCall: (c) => (c.args.path === "secret" ? "deny" : undefined) }),
      defineMiddleware({
        name: "alias",
        reviewCall: (c) => (c.args.path === "s" ? { args: { path: "secret" } } : undefined),
      }),
    ];
    const { session } = await world.open([look("s"), "done"], { middleware: order });
    await session.run("go").unwrap();
    expect(told(session.messages())).toEqual(["denied Tool call denied by policy."]);
  });

  test("a deny in the first look is final: no rewrite brings the call back", async ({ world }) => {
    const order = [
      opinion("rule", () => "deny"),
      defineMiddleware({
        name: "alias",
        reviewCall: () => ({ args: { path: "harmless" }, verdict: "allow" as const }),
      }),
    ];
    const { session, events } = await world.open([look("s"), "done"], { middleware: order });
    await session.run("go").unwrap();
    await settled();
    expect(all(events, "tool.started")).toEqual([]);
  });
});

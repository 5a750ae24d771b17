import { describe, expect, test } from "vitest";
import { gatherTools } from "../../src/effects/catalogue.ts";
import { readTool, writeTool } from "../session/support.ts";

const one = readTool(() => "one");
const gather = (agent: Parameters<typeof gatherTools>[0]["agent"], rest: object = {}) =>
  gatherTools({ agent, chain: [], sessionId: "s", ...rest });

describe("a catalogue", () => {
  test("offers direct tools by name, whatever order they came in, and equal tools make equal catalogues", () => {
    const a = gather({ zebra: one, apple: one });
    const b = gather({ apple: one, zebra: one });
    expect(a.names).toEqual(["apple", "zebra"]);
    expect(JSON.stringify(b.specs)).toBe(JSON.stringify(a.specs));
    expect(b.hash).toBe(a.hash);
    expect(gather({ apple: one }).hash).not.toBe(a.hash);
    expect(gather({}).specs).toEqual([]);
  });

  test("a run's tools replace the agent's of the same name", () => {
    const mine = writeTool(() => "mine");
    const made = gather({ act: one, look: one }, { run: { act: mine } });
    expect(made.get("act")).toBe(mine);
    expect(made.get("look")).toBe(one);
    expect(made.get("toString")).toBeUndefined();
  });

  test("a middleware must not bring a name that is taken, by the agent, the run or another middleware", () => {
    const brings = (name: string) => ({ name, tools: { act: one } });
    expect(() => gather({ act: one }, { chain: [brings("m")] })).toThrow(/"m" brings the tool "act"/);
    expect(() => gather({}, { run: { act: one }, chain: [brings("m")] })).toThrow(/"act"/);
    expect(() => gather({}, { chain: [brings("m"), brings("n")] })).toThrow(/"n" brings/);
  });

  test("search_tools and call_tool are there only when something is deferred", () => {
    const deferred = readTool(() => "x", { deferred: true });
    expect(gather({ a: one }).names).toEqual(["a"]);
    const made = gather({ a: one, b: deferred });
    expect(made.names).toEqual(["a", "call_tool", "search_tools"]);
    expect(made.get("b")).toBe(deferred);
  });
});

import { describe, expect } from "vitest";
import { test } from "./support.ts";

describe("session.pressure()", () => {
  test("is an estimate until the provider has counted, then its count plus what came since", async ({ world }) => {
    const usage = { input: 400, output: 100 };
    const { session } = await world.open([{ text: "ok", usage }], {
      compaction: { window: 1_000, maxContextTokens: 0 },
    });
    expect(session.pressure()).toMatchObject({ window: 1_000 });
    const before = session.pressure().tokens;
    expect(before).toBeLessThan(100);
    await session.run("go").unwrap();
    const { tokens, share } = session.pressure();
    expect(tokens).toBeGreaterThanOrEqual(400);
    expect(tokens).toBeLessThanOrEqual(510);
    expect(share).toBeCloseTo(tokens / 1_000);
  });

  test("is the same when the session is opened again, and reading it writes nothing", async ({ world }) => {
    const { agent, session } = await world.open([{ text: "ok", usage: { input: 400, output: 100 } }]);
    await session.run("go").unwrap();
    const counted = session.pressure();
    await session.close();
    const { length } = await world.records();
    const again = await agent.resumeSession(session.id);
    expect(again.pressure()).toEqual(counted);
    expect((await world.records()).length).toBe(length);
  });
});

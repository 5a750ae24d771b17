import { expect, test } from "vitest";
import { createAgent } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

test("a prompt that was too long uses up no retry of its turn", async () => {
  const timeout = { fails: { class: "timeout" } } as const;
  const model = scriptedModel(["one", { fails: { class: "overflow" } }, timeout, timeout, "two"]);
  const agent = createAgent({ model, limits: { backoffMs: 0, retries: 2 }, compaction: { mode: "discard" } });
  const session = await agent.createSession();
  await session.run("first").unwrap();
  expect((await session.run("second").unwrap()).text).toBe("two");
  model.assertDone();
});

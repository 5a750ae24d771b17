/** Agents that die in the middle of something. */
import { defineMiddleware } from "../../src/middleware/middleware.ts";
import type { RunOptions } from "../../src/session/options.ts";
import type { Script } from "../../src/testing/scripted-model.ts";
import { FaultyStore } from "./faulty-store.ts";
import { readTool, settled, type Setup, type World } from "./support.ts";

/** A first agent dies right after the write of a record; what is left is for the next one. */
export async function crashed(
  world: World,
  script: Script,
  when: Parameters<FaultyStore["killAfter"]>[0],
  { options, ...setup }: Setup & { options?: RunOptions } = {},
): Promise<void> {
  const store = new FaultyStore(world.store);
  const { session } = await world.open(script, { ...setup, store });
  store.killAfter(when);
  session.run("go", options);
  await world.until(() => store.isDead, "the first agent died");
}

/** Keeps what comes after the answer out of the answer's write. */
export const pondering = defineMiddleware({ name: "pondering", reviewCall: () => settled() });

/** Starts, and never comes back. */
export const endless = (world: World, extra: Parameters<typeof readTool>[1] = {}) =>
  readTool(({ path }) => {
    world.ran.push(`endless ${path}`);
    return new Promise(() => {});
  }, extra);

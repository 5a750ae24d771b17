import { describe, expect, test } from "vitest";
import { chatServer, command, isPaired } from "./chat-server.ts";
import { Folder, ofType, until } from "./command.ts";

/** Runs until the file `hold` is gone, but no longer than half a minute. */
const WAITS = "for i in $(seq 300); do [ -e hold ] || exit 0; sleep 0.1; done";
const note = (word: string) => `echo ${word} >> done.txt`;

describe("kill -9 in the middle of a batch", () => {
  test("going on leaves no call without a result, runs no settled tool again, and completes", async () => {
    const folder = new Folder({ hold: "" });
    const server = await chatServer([
      { calls: [command(note("quick")), command(`${note("slow")}; ${WAITS}`)] },
      { text: "Done." },
    ]);
    const run = folder.start(["run", "go", "--yes", ...server.args]);
    await until(
      () => folder.read("done.txt")?.includes("slow") && ofType(folder.records(), "tool.settled").length === 1,
    );
    run.child.kill("SIGKILL");
    expect((await run.ended).signal).toBe("SIGKILL");

    const resumed = await folder.rcra(["run", "--resume", folder.id(), "--yes", ...server.args]);
    expect(resumed.code).toBe(0);
    expect(folder.read("done.txt")!.trim().split("\n").sort()).toEqual(["quick", "slow"]);
    const records = folder.records();
    const [committed] = ofType(records, "exchange.committed");
    expect(committed!.results.map((r) => r.status)).toEqual(["ok", "unknown"]);
    expect(ofType(records, "run.started")).toHaveLength(1);
    expect(ofType(records, "run.ended")).toMatchObject([{ status: "completed" }]);
    expect(server.asked.every(isPaired)).toBe(true);
    expect(resumed.stdout).toMatch(/✗ run_command unknown Outcome unknown/);
    folder.remove("hold");
  });

  test("a new prompt settles what was open and ends the cut run first", async () => {
    const folder = new Folder({ hold: "" });
    const server = await chatServer([{ calls: [command(`${note("slow")}; ${WAITS}`)] }, { text: "Done." }]);
    const run = folder.start(["run", "go", "--yes", ...server.args]);
    await until(() => folder.read("done.txt"));
    run.child.kill("SIGKILL");
    await run.ended;
    const resumed = await folder.rcra(["run", "something else", "--resume", folder.id(), "--json", ...server.args]);
    expect(resumed.code).toBe(0);
    const ends = ofType(folder.records(), "run.ended").map((r) => [r.status, r.reason]);
    expect(ends).toEqual([
      ["cancelled", "interrupted"],
      ["completed", undefined],
    ]);
    expect(server.asked.every(isPaired)).toBe(true);
    folder.remove("hold");
  });
});

describe("Ctrl-C", () => {
  test.each(["SIGINT", "SIGTERM"] as const)(
    "%s cancels the run, pairs the history, and says how to go on",
    async (name) => {
      const folder = new Folder({ hold: "" });
      const server = await chatServer([{ calls: [command(`${note("slow")}; ${WAITS}`)] }, { text: "Done." }]);
      const run = folder.start(["run", "go", "--yes", ...server.args]);
      await until(() => folder.read("done.txt"));
      run.child.kill(name);
      const { code, stdout, stderr } = await run.ended;
      expect(code).toBe(130);
      expect(stdout).toContain("· cancelled");
      expect(stderr).toContain(`go on with: rcra run --resume ${folder.id()}`);
      expect(ofType(folder.records(), "exchange.committed")[0]!.results).toMatchObject([{ status: "cancelled" }]);
      expect(ofType(folder.records(), "run.ended")).toMatchObject([{ status: "cancelled" }]);
      const resumed = await folder.rcra(["run", "--resume", folder.id(), ...server.args]);
      expect(resumed.code).toBe(0);
      expect(server.asked.every(isPaired)).toBe(true);
    },
  );

  test("a second one leaves at once", async () => {
    const folder = new Folder({ hold: "" });
    const server = await chatServer([{ calls: [command(`trap '' TERM; ${note("deaf")}; ${WAITS}`)] }]);
    const run = folder.start(["run", "go", "--yes", ...server.args]);
    await until(() => folder.read("done.txt"));
    run.child.kill("SIGINT");
    await run.says(/once more to leave at once/);
    run.child.kill("SIGINT");
    expect((await run.ended).code).toBe(130);
  });
});

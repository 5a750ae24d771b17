import { describe, expect, test } from "vitest";
import { chatServer, command, isPaired } from "./chat-server.ts";
import { Folder, ofType, recordsOf, until } from "./command.ts";

/** Runs until the file `hold` is gone, but no longer than half a minute. */
const HOLD = "for i in $(seq 300); do [ -e hold ] || exit 0; sleep 0.1; done";

describe("kill -9", () => {
  test("of two processes in turn leaves every side effect once, every call one result, and one run that completes", async () => {
    const folder = new Folder({ hold: "" });
    const server = await chatServer([
      { calls: [command("echo 1 >> a"), command("echo 1 >> b"), command(`echo 1 >> c; ${HOLD}`)] },
      { calls: [command("echo 1 >> d"), command(`echo 1 >> e; ${HOLD}`)] },
      { text: "Done." },
    ]);
    const settled = (n: number) => ofType(folder.records(), "tool.settled").length === n;

    const first = folder.start(["run", "go", "--yes", ...server.args]);
    await until(() => folder.read("c") && settled(2));
    first.child.kill("SIGKILL");
    await first.ended;
    const listed = await folder.rcra(["sessions"]);
    expect(listed.stdout).toMatch(/interrupted/);

    const second = folder.start(["run", "--resume", folder.id(), "--yes", ...server.args]);
    await until(() => folder.read("e") && settled(3));
    second.child.kill("SIGKILL");
    await second.ended;
    const shown = await folder.rcra(["show", folder.id()]);
    expect(shown.stdout).toMatch(
      /✓ run_command[^]*… run_command was started and has not settled[^]*a run is open: rcra/,
    );

    const last = await folder.rcra(["run", "--resume", folder.id(), "--yes", "--json", ...server.args]);
    expect(last.code).toBe(0);
    expect(["a", "b", "c", "d", "e"].map((name) => folder.read(name))).toEqual(Array(5).fill("1\n"));
    const records = folder.records();
    expect(records.map((r) => r.seq)).toEqual(records.map((_, i) => i + 1));
    expect(records.slice(-recordsOf(last.stdout).length)).toEqual(recordsOf(last.stdout));
    const results = ofType(records, "exchange.committed").map((r) => r.results.map((c) => c.status));
    expect(results).toEqual([["ok", "ok", "unknown"], ["ok", "unknown"], []]);
    expect(ofType(records, "run.started")).toHaveLength(1);
    expect(ofType(records, "run.ended")).toMatchObject([{ status: "completed" }]);
    expect(server.asked).toHaveLength(3);
    expect(server.asked.every(isPaired)).toBe(true);
    folder.remove("hold");
  });

  test("of two processes that go on at the same time only one does, and the other says busy", async () => {
    const folder = new Folder({ hold: "" });
    const server = await chatServer([
      { calls: [command(`echo 1 >> a; ${HOLD}`)] },
      { calls: [command("echo 1 >> b")] },
      { text: "Done." },
    ]);
    const first = folder.start(["run", "go", "--yes", ...server.args]);
    await until(() => folder.read("a"));
    first.child.kill("SIGKILL");
    await first.ended;
    folder.remove("hold");
    const resume = ["run", "--resume", folder.id(), "--yes", ...server.args];
    const both = await Promise.all([folder.rcra(resume), folder.rcra(resume)]);
    // The second may also come when all is over: then there is nothing to go on with.
    expect(both.some((e) => e.code === 0)).toBe(true);
    for (const { code, stderr } of both)
      if (code !== 0) expect([code, stderr]).toEqual([1, expect.stringMatching(/in use elsewhere/)]);
    expect([folder.read("a"), folder.read("b")]).toEqual(["1\n", "1\n"]);
    expect(ofType(folder.records(), "run.ended")[0]).toMatchObject({ status: "completed" });
    expect(server.asked.every(isPaired)).toBe(true);
  });
});

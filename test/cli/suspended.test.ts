import { describe, expect, test } from "vitest";
import { chatServer, command, isPaired, write } from "./chat-server.ts";
import { Folder, ofType, onlyLine } from "./command.ts";

describe("a suspended session", () => {
  test("goes on with what was decided only: resumed without a decision it is suspended again, exit 5", async () => {
    const folder = new Folder();
    const server = await chatServer([{ calls: [write("a.txt", "x")] }, { text: "Done." }]);
    await folder.rcra(["run", "write", "--approvals", "suspend", ...server.args]);
    const resumed = await folder.rcra(["run", "--resume", folder.id(), "--approvals", "suspend", ...server.args]);
    expect(resumed.code).toBe(5);
    expect(resumed.stderr).toMatch(/rcra decide session_\w+ \S+ --allow/);
    expect([server.asked.length, folder.read("a.txt")]).toEqual([1, undefined]);
    const allowed = await folder.rcra(["run", "--resume", folder.id(), "--yes", ...server.args]);
    expect([allowed.code, folder.read("a.txt")]).toEqual([0, "x"]);
    expect(ofType(folder.records(), "run.ended")).toMatchObject([{ status: "completed" }]);
    const late = await folder.rcra(["decide", folder.id(), "call_none", "--allow", ...server.args]);
    expect(late.code).toBe(1);
    expect(onlyLine(late)).toMatch(/has no call call_none\. Waiting for a decision: none/);
  });

  test("decided by two processes at once goes on in one of them, and the call runs once", async () => {
    const folder = new Folder();
    const server = await chatServer([{ calls: [command("echo 1 >> once")] }, { text: "Done." }]);
    await folder.rcra(["run", "write", "--approvals", "suspend", ...server.args]);
    const { callId } = ofType(folder.records(), "approval.requested")[0]!.requests[0]!;
    const decide = (how: string) => folder.rcra(["decide", folder.id(), callId, how, ...server.args]);
    const both = await Promise.all([decide("--allow"), decide("--allow")]);
    for (const { code, stderr } of both) {
      expect(stderr).not.toMatch(/^\s+at |nobody expected/m);
      expect([code, stderr]).toEqual([0, expect.stringMatching(/^$|handed over|was decided before/)]);
    }
    expect(folder.read("once")).toBe("1\n");
    expect(ofType(folder.records(), "run.ended")).toMatchObject([{ status: "completed" }]);
    expect(server.asked).toHaveLength(2);
  });

  test("arguments that the tool cannot take are said to the model, and nothing runs", async () => {
    const folder = new Folder();
    const server = await chatServer([{ calls: [write("a.txt", "x")] }, { text: "Done." }]);
    await folder.rcra(["run", "write", "--approvals", "suspend", ...server.args]);
    const { callId } = ofType(folder.records(), "approval.requested")[0]!.requests[0]!;
    const edit = ["decide", folder.id(), callId, "--allow", "--args", '{"path":7}'];
    const ended = await folder.rcra([...edit, ...server.args]);
    expect(ended.stderr).not.toMatch(/^\s+at |nobody expected/m);
    expect(folder.read("a.txt")).toBeUndefined();
    expect(server.asked.every(isPaired)).toBe(true);
  });
});

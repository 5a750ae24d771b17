import { expect, test } from "vitest";
import { chatServer, command } from "./chat-server.ts";
import { Folder, recordsOf } from "./command.ts";

test("rcra sessions lists the newest first, as many as asked for, and says that an empty store is empty", async () => {
  const folder = new Folder();
  const none = await folder.rcra(["sessions"]);
  expect([none.code, none.stdout]).toEqual([0, 'No sessions in .rcra/sessions yet: rcra run "…" makes one.\n']);
  const server = await chatServer([{ text: "Yes." }]);
  for (let i = 0; i < 2; i++) await folder.rcra(["run", "hi", ...server.args]);
  const { stdout } = await folder.rcra(["sessions", "--json"]);
  const listed = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: string; updatedAt: number; lastRun: string });
  expect(listed).toHaveLength(2);
  expect(listed[0]!.updatedAt).toBeGreaterThanOrEqual(listed[1]!.updatedAt);
  expect(listed[0]).toMatchObject({ status: "idle", lastRun: "completed" });
  const one = await folder.rcra(["sessions", "--limit", "1"]);
  expect(one.stdout).toMatch(new RegExp(`^${listed[0]!.id}  .*completed`));
  expect(one.stdout).toContain("and older ones: rcra sessions --limit 2");
});

test("rcra show tells the conversation, the calls and their results, how runs ended, and usage; --json has the records", async () => {
  const folder = new Folder();
  const server = await chatServer([
    { text: "Let me see.", calls: [command("echo hello"), { name: "list_files", args: {} }] },
    { text: "All done." },
  ]);
  await folder.rcra(["run", "do it", ...server.args]);
  const { code, stdout, stderr } = await folder.rcra(["show", folder.id().slice(0, 14)]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/user {2}do it[^]*assistant {2}Let me see\.[^]*→ run_command \{"command":"echo hello"\}/);
  expect(stdout).toMatch(/✗ run_command denied Tool call denied by user[^]*✓ list_files[^]*assistant {2}All done\./);
  expect(stdout).toMatch(/· run_\w+ completed after 2 turns\n· tokens: not reported/);
  const json = await folder.rcra(["show", folder.id(), "--json"]);
  expect(recordsOf(json.stdout)).toEqual(folder.records());
});

test("rcra show of a suspended session names the calls that wait and the command that allows them", async () => {
  const folder = new Folder();
  const server = await chatServer([{ calls: [command("echo hello")] }]);
  await folder.rcra(["run", "do it", "--approvals", "suspend", ...server.args]);
  const { stdout, stderr } = await folder.rcra(["show", folder.id()]);
  expect(stdout).toMatch(/needs approval: \S+ run_command \{"command":"echo hello"\}/);
  expect(stderr).toMatch(/rcra decide session_\w+ \S+ --allow/);
});

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chatServer, command } from "./chat-server.ts";
import { Folder, recordsOf } from "./command.ts";

async function recorded(folder: Folder): Promise<string> {
  const server = await chatServer([
    { calls: [{ name: "list_files", args: {} }, command("echo x")] },
    { text: "Done." },
  ]);
  await folder.rcra(["run", "do it", ...server.args]);
  const [day] = readdirSync(folder.store);
  return join(folder.store, day!, `${folder.id()}_001.jsonl`);
}

test("rcra replay tells events, states and runs of a session or a file, and that the machine decides the same", async () => {
  const folder = new Folder();
  const file = await recorded(folder);
  const byId = await folder.rcra(["replay", folder.id().slice(0, 14)]);
  expect([byId.code, byId.stderr]).toEqual([0, ""]);
  expect(byId.stdout).toMatch(/^session_\w+ · \d+ records\nevents {2}.*tool\.settled 1.*\nstates {2}.*receive\.idle/);
  expect(byId.stdout).toMatch(
    /run_\w+ completed · 2 turns · records \d+–\d+\n✓ the machine decides what is recorded\n$/,
  );
  const copy = join(folder.path, "copy.jsonl");
  writeFileSync(copy, readFileSync(file));
  for (const path of [file, "copy.jsonl"]) expect((await folder.rcra(["replay", path])).stdout).toBe(byId.stdout);
  const json = JSON.parse((await folder.rcra(["replay", file, "--json"])).stdout) as object;
  expect(json).toMatchObject({ session: folder.id(), divergences: [], runs: [{ status: "completed", turns: 2 }] });
});

test("rcra replay shows the first difference with its record, what is recorded and what the machine says; exit 1", async () => {
  const folder = new Folder();
  const file = await recorded(folder);
  const lines = readFileSync(file, "utf8").split("\n");
  const at = lines.findIndex((line) => line.includes('"exchange.committed"'));
  lines[at] = lines[at]!.replace('"status":"denied"', '"status":"ok"');
  writeFileSync(join(folder.path, "changed.jsonl"), lines.join("\n"));
  const { code, stdout } = await folder.rcra(["replay", "changed.jsonl"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    new RegExp(`record ${at + 1}: results\\[\\d\\]\\.status differs\n  recorded  "ok"\n  replayed  "denied"`),
  );
  expect(stdout).toMatch(/✗ 1 divergence: the machine would not decide what is recorded/);
});

test("rcra replay of what is no journal says what it is, and touches nothing", async () => {
  const folder = new Folder({
    "notes.md": "# Notes\n",
    "empty.jsonl": "",
    "data.jsonl": '{"a":1}\n',
    "new.jsonl": '{"v":99,"seq":1}\n',
  });
  const of = async (name: string) => {
    const { code, stdout, stderr } = await folder.rcra(["replay", name]);
    return [code, stdout, stderr.trim().split("\n").length, stderr] as const;
  };
  for (const [name, says] of [
    ["./notes.md", /no journal: it is text that begins with "# Notes"/],
    ["empty.jsonl", /no journal: it is empty/],
    ["data.jsonl", /not a journal but text that begins with/],
    ["new.jsonl", /version 99/],
    ["gone.jsonl", /there is no file/],
    [".", /no journal: it is a folder/],
    ["nobody", /There is no session "nobody"/],
  ] as const)
    expect(await of(name), name).toEqual([1, "", 1, expect.stringMatching(says)]);
  expect(folder.read("data.jsonl")).toBe('{"a":1}\n');
});

test("rcra fork prints the id of a session that begins as the other did, and how to go on", async () => {
  const folder = new Folder();
  await recorded(folder);
  const from = folder.id();
  const before = folder.records();
  const at = before.find((r) => r.type === "tool.settled")!.seq;
  const { code, stdout, stderr } = await folder.rcra(["fork", from, "--at", String(at), "--id", "branch"]);
  expect([code, stdout]).toEqual([0, "branch\n"]);
  expect(stderr).toMatch(new RegExp(`forked from ${from} with \\d+ records; go on with: rcra run --resume branch`));
  const server = await chatServer([{ text: "Done otherwise." }]);
  const gone = await folder.rcra(["run", "--resume", "branch", ...server.args]);
  expect(gone.code).toBe(0);
  expect(gone.stdout).toContain("Done otherwise.");
  expect((await folder.rcra(["replay", "branch"])).code).toBe(0);
  expect(recordsOf((await folder.rcra(["show", from, "--json"])).stdout)).toEqual(before);
  const wrong = await folder.rcra(["fork", from, "--at", "9999"]);
  expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
  expect(wrong.stderr).toMatch(/has \d+ records, there is no 9999/);
});

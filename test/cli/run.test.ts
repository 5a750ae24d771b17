import { describe, expect, test } from "vitest";
import { exitCodeOf } from "../../src/cli/exit-codes.ts";
import { chatServer, write } from "./chat-server.ts";
import { Folder, ofType, onlyLine, recordsOf } from "./command.ts";

const SOURCES = {
  "src/gate.ts": "// approval of calls\nexport const approval = 1;\nexport const other = 2;\n",
  "src/list.ts": "// no match here\n",
  "src/ask.ts": "import { approval } from './gate.ts';\nexport const ask = approval;\n",
};
const PROMPT = "Find the TypeScript files that mention approval, read the two longest, and write a summary to notes.md";

const isDense = (records: { seq: number }[], from = 1) => records.every((r, i) => r.seq === i + from);

describe("rcra run", () => {
  test("without a key the demo model searches, reads in parallel, writes, answers, and says that it is no LLM", async () => {
    const folder = new Folder(SOURCES);
    const { code, stdout, stderr } = await folder.rcra(["run", PROMPT, "--yes"]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/demo model: fixed rules on this machine, not an LLM/);
    expect(stderr).toMatch(/OPENAI_API_KEY.*--base-url/);
    expect(folder.read("notes.md")).toMatch(/gate\.ts/);
    expect(stdout).toContain(`session ${folder.id()}`);
    expect(stdout).toContain(folder.path);
    expect(stdout).toMatch(/· reason\n[^]*→ search_text \{[^]*✓ search_text [^]*· act\n/);
    expect(stdout).toMatch(/· completed · \d turns · tokens: \d+ in, \d+ out/);
    expect(stdout).toContain(`rcra run --resume ${folder.id()}`);
    expect(stdout).not.toContain("\u001b");
    const reads = ofType(folder.records(), "tool.started").filter((r) => r.name === "read_file");
    const settled = ofType(folder.records(), "tool.settled").filter((r) => r.name === "read_file");
    expect(reads).toHaveLength(2);
    expect(reads[1]!.seq).toBeLessThan(settled[0]!.seq);
  });

  test("--json prints the records of the journal and nothing else: dense seq, one run.ended", async () => {
    const folder = new Folder(SOURCES);
    const first = await folder.rcra(["run", PROMPT, "--yes", "--json"]);
    expect(first.code).toBe(0);
    const records = recordsOf(first.stdout);
    expect(records[0]!.type).toBe("session.opened");
    expect(isDense(records)).toBe(true);
    expect(ofType(records, "run.ended")).toMatchObject([{ status: "completed" }]);
    expect(records).toEqual(folder.records());
    const second = await folder.rcra(["run", "--resume", folder.id(), "What did you read?", "--json"]);
    expect(isDense(recordsOf(second.stdout), records.length + 1)).toBe(true);
    expect(ofType(recordsOf(second.stdout), "run.ended")).toHaveLength(1);
    expect([...records, ...recordsOf(second.stdout)]).toEqual(folder.records());
  });

  test("--partials adds live partials to --json, which have no seq", async () => {
    const folder = new Folder();
    const server = await chatServer([{ text: "four words of text" }]);
    const { stdout } = await folder.rcra(["run", "hi", "--json", "--partials", ...server.args]);
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { seq?: number; type: string; delta?: string });
    const deltas = events.filter((e) => e.type === "part.delta");
    expect(deltas.map((e) => e.delta).join("")).toBe("four words of text");
    expect(deltas.every((e) => e.seq === undefined)).toBe(true);
    expect(isDense(events.filter((e) => e.seq !== undefined) as { seq: number }[])).toBe(true);
  });

  test("takes the prompt from stdin when it is piped in, and --quiet prints the answer only", async () => {
    const folder = new Folder();
    const server = await chatServer([{ text: "Here." }]);
    const { code, stdout } = await folder.rcra(["run", "--quiet", ...server.args], { input: "Where are you?\n" });
    expect([code, stdout]).toEqual([0, "Here.\n"]);
    expect(server.asked[0]!.body.messages.at(-1)).toMatchObject({ role: "user", content: "Where are you?" });
  });

  test("--resume with a prompt is a new run of the same conversation, from the beginning of an id too", async () => {
    const folder = new Folder();
    const server = await chatServer([{ text: "One." }, { text: "Two." }]);
    await folder.rcra(["run", "first", ...server.args]);
    const { code, stdout } = await folder.rcra(["run", "second", "--resume", folder.id().slice(0, -4), ...server.args]);
    expect(code).toBe(0);
    expect(stdout).toContain("Two.");
    const roles = server.asked[1]!.body.messages.map((m) => m.role);
    expect(roles).toEqual(["system", "user", "assistant", "user"]);
  });

  test("--resume without a prompt and nothing to go on with completes without a request", async () => {
    const folder = new Folder();
    const server = await chatServer([{ text: "One." }]);
    await folder.rcra(["run", "first", ...server.args]);
    const { code } = await folder.rcra(["run", "--resume", folder.id(), ...server.args]);
    expect([code, server.asked.length]).toEqual([0, 1]);
  });

  test("max_turns ends with 3 and says how to go on, with the flags that were given; going on completes", async () => {
    const folder = new Folder();
    const server = await chatServer([{ calls: [{ name: "list_files", args: {} }] }, { text: "Done." }]);
    const stopped = await folder.rcra(["run", "look", "--max-turns", "1", "--store", "a store", ...server.args]);
    expect(stopped.code).toBe(3);
    const [, line] = /go on with: rcra (.*)/.exec(stopped.stderr)!;
    expect(line).toBe(
      `run --resume ${/session_\w+/.exec(line!)![0]} --store 'a store' --base-url ${server.url} --model m`,
    );
    const gone = await folder.sh(`$RCRA ${line}`);
    expect(gone.code).toBe(0);
    expect(gone.stdout).toContain("Done.");
  });

  test("a session keeps its workspace and instructions, wherever and however it is resumed", async () => {
    const folder = new Folder({ "here/a.txt": "x", "there/b.txt": "y" });
    const server = await chatServer([
      { text: "One." },
      { calls: [{ name: "list_files", args: {} }] },
      { text: "Done." },
    ]);
    await folder.rcra(["run", "hi", "--workspace", "here", "--instructions", "Be kind.", ...server.args]);
    const again = ["run", "look", "--resume", folder.id(), "--workspace", "there", "--instructions", "Be rude."];
    const { code, stderr } = await folder.rcra([...again, ...server.args]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/--workspace is not used.*\/here/);
    expect(stderr).toMatch(/--instructions is not used/);
    const { messages } = server.asked[2]!.body;
    expect(messages[0]).toMatchObject({ role: "system", content: "Be kind." });
    expect(JSON.stringify(messages.at(-1))).toContain("a.txt");
  });

  test("a reader that leaves the pipe ends the run cleanly, without a stack", async () => {
    const folder = new Folder(SOURCES);
    const { stdout, stderr } = await folder.sh(`$RCRA run "${PROMPT}" --yes --json | head -n 1`);
    expect(recordsOf(stdout)).toHaveLength(1);
    expect(stderr).not.toMatch(/EPIPE|^\s+at /m);
    expect(ofType(folder.records(), "run.ended")).toHaveLength(1);
  });

  test("what a model or a tool says cannot steer the terminal", async () => {
    const folder = new Folder();
    const text = "plain\u001b]0;title\u0007 \u202etxet";
    const server = await chatServer([{ calls: [{ name: "read_file", args: { path: text } }] }, { text }]);
    const { code, stdout } = await folder.rcra(["run", "hi", ...server.args]);
    expect(code).toBe(0);
    expect(stdout).toContain("plain\\x1b]0;title\\x07 \\u202etxet");
    expect(stdout).not.toMatch(/[\u001b\u0007\u202e]/);
  });

  test("nobody to approve means no, and one line says how to allow", async () => {
    const folder = new Folder();
    const server = await chatServer([{ calls: [write("a.txt", "x")] }, { text: "Not allowed." }]);
    const run = await folder.rcra(["run", "write", ...server.args]);
    expect(run.code).toBe(0);
    expect(onlyLine(run)).toMatch(/denied because nobody is here to allow it: --yes allows/);
    expect(run.stdout).toMatch(/✗ write_file denied Tool call denied by user/);
    expect(folder.read("a.txt")).toBeUndefined();
  });

  test("--deny refuses without a hint", async () => {
    const folder = new Folder();
    const server = await chatServer([{ calls: [write("a.txt", "x")] }, { text: "Not allowed." }]);
    const { code, stderr } = await folder.rcra(["run", "write", "--deny", ...server.args]);
    expect([code, stderr, folder.read("a.txt")]).toEqual([0, "", undefined]);
  });
});

describe("exit codes", () => {
  test("say how the run ended, and stay as they are", () => {
    const statuses = ["completed", "failed", "max_turns", "budget", "truncated", "blocked", "suspended", "cancelled"];
    const codes = statuses.map((status) => exitCodeOf({ status: status as "completed" }));
    expect(codes).toEqual([0, 1, 3, 3, 3, 4, 5, 130]);
  });

  test("are in the help of every command that runs", async () => {
    const { code, stdout } = await new Folder().rcra(["run", "--help"]);
    expect(code).toBe(0);
    for (const line of [
      /0 +completed/,
      /2 +usage/,
      /3 +max_turns, budget or truncated/,
      /5 +suspended/,
      /130 +cancelled/,
    ])
      expect(stdout).toMatch(line);
  });
});

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chatServer, command, write } from "./chat-server.ts";
import { Folder, ofType, onlyLine } from "./command.ts";

describe("a mistake on the command line is one line that says what and how to mend it, and exit code 2", () => {
  test.each([
    [["run", "x", "--foo"], /unknown option '--foo'.*--help/],
    [["runn"], /unknown command 'runn'.*Did you mean run\?/],
    [["run", "x", "--max-turns", "many"], /--max-turns.*'many'.*whole number/],
    [["run", "x", "--approvals", "later"], /Allowed choices are deny, wait, suspend/],
    [["run", "x", "--yes", "--deny"], /--yes and --deny contradict/],
    [["run"], /What should it do\?.*--resume ID/],
    [["run", "x", "--workspace", "gone"], /--workspace .*gone does not exist/],
    [["run", "x", "--workspace", "file.txt"], /--workspace .*file\.txt is not a folder/],
    [["run", "x", "--base-url", "somewhere"], /--base-url wants an http\(s\) address/],
    [["run", "x", "--base-url", "http://me:hunter2@host/v1"], /cannot hold a user name or password.*OPENAI_API_KEY/],
    [["decide", "session_x", "call_x"], /one of --allow, --deny or --respond/],
    [["decide", "session_x", "call_x", "--allow", "--args", "{"], /--args wants JSON/],
  ])("%j", async (args, line) => {
    const ended = await new Folder({ "file.txt": "" }).rcra(args);
    expect(ended.code).toBe(2);
    expect(ended.stdout).toBe("");
    expect(onlyLine(ended)).toMatch(line);
    expect(ended.stderr).not.toContain("hunter2");
  });
});

describe("what is not as it should be is one line and exit code 1, and nothing is lost", () => {
  test.each(["run --resume", "show", "decide"])("a session that does not exist: %s", async (what) => {
    const args = [...what.split(" "), "session_none", ...(what === "decide" ? ["call", "--allow"] : [])];
    const ended = await new Folder().rcra(args);
    expect(ended.code).toBe(1);
    expect(onlyLine(ended)).toMatch(/There is no session "session_none".*rcra sessions.*--store/);
  });

  test("the beginning of several ids", async () => {
    const folder = new Folder();
    const server = await chatServer([{ text: "Yes." }]);
    for (let i = 0; i < 2; i++) await folder.rcra(["run", "hi", ...server.args]);
    const ended = await folder.rcra(["show", "session_"]);
    expect(ended.code).toBe(2);
    expect(onlyLine(ended)).toMatch(/2 sessions begin with "session_": session_\w+, session_\w+/);
  });

  test("a wrong key", async () => {
    const error = { message: "Incorrect API key provided", type: "invalid_request_error", code: "invalid_api_key" };
    const server = await chatServer([{ status: 401, error }]);
    const folder = new Folder();
    const { code, stderr } = await folder.rcra(["run", "hi", ...server.args], {
      env: { OPENAI_API_KEY: "sk-wrong-key" },
    });
    expect([code, server.asked.length]).toEqual([1, 1]);
    expect(stderr).toMatch(/failed \(auth\): .*401.*Check apiKey \(or OPENAI_API_KEY\)/);
    expect(stderr).toContain(`go on with: rcra run --resume ${folder.id()}`);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test("a server that cannot be reached", async () => {
    const folder = new Folder();
    const { code, stderr } = await folder.rcra(["run", "hi", "--base-url", "http://127.0.0.1:9/v1"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/failed \(timeout\): Could not reach 127\.0\.0\.1:9/);
    const server = await chatServer([{ text: "Now." }]);
    const resumed = await folder.rcra(["run", "--resume", folder.id(), ...server.args]);
    expect([resumed.code, server.asked.length]).toEqual([0, 1]);
  });

  test("a store that cannot be written", async () => {
    const server = await chatServer([{ text: "Yes." }]);
    const ended = await new Folder({ "file.txt": "" }).rcra([
      "run",
      "hi",
      "--store",
      "file.txt/sessions",
      ...server.args,
    ]);
    expect([ended.code, server.asked.length]).toEqual([1, 0]);
    expect(onlyLine(ended)).toMatch(/file\.txt\/sessions: a file stands where a folder is needed/);
  });

  const limits = spawnSync("sh", ["-c", "ulimit -f 8"]).status === 0;
  test.runIf(limits)(
    "a disk that is full: the run fails, no tool runs twice, and it goes on when there is room",
    async () => {
      const folder = new Folder();
      const long = "x".repeat(4_000);
      const server = await chatServer([
        { calls: [command("echo once >> done.txt")] },
        { calls: [write("long.txt", long)] },
        { text: "Done." },
      ]);
      // Blocks of 512 bytes: room for the first exchange, not for the second.
      const full = await folder.sh(`ulimit -f 9; exec $RCRA run go --yes ${server.args.join(" ")}`);
      expect(full.code).toBe(1);
      expect(full.stderr).toMatch(/failed \(store\): cannot write to .*EFBIG/);
      expect(full.stderr).toMatch(/journal lacks the last \d+ records?\b.*make room/);
      expect(full.stderr).not.toMatch(/^\s+at /m);
      expect(folder.read("long.txt")).toBeUndefined();
      const resumed = await folder.rcra(["run", "--resume", folder.id(), "--yes", ...server.args]);
      expect(resumed.code).toBe(0);
      expect(folder.read("done.txt")).toBe("once\n");
      expect(ofType(folder.records(), "run.ended").at(-1)).toMatchObject({ status: "completed" });
    },
  );

  test("a journal with a broken line: show tells what stands before it, going on is refused, the file stays", async () => {
    const folder = new Folder();
    const server = await chatServer([{ text: "Yes." }]);
    await folder.rcra(["run", "hello there", ...server.args]);
    const [path] = folder.journals();
    const lines = readFileSync(path!, "utf8").split("\n");
    const broken = [...lines.slice(0, 6), "{", ...lines.slice(7)].join("\n");
    folder.write(path!.slice(folder.path.length), broken);
    const shown = await folder.rcra(["show", folder.journals()[0]!.match(/session_[a-z0-9]+/)![0]]);
    expect(shown.code).toBe(1);
    expect(shown.stdout).toContain("hello there");
    expect(onlyLine(shown)).toMatch(/is broken at line 7.*Records 1 to 6 are good/);
    const resumed = await folder.rcra([
      "run",
      "more",
      "--resume",
      path!.match(/session_[a-z0-9]+/)![0],
      ...server.args,
    ]);
    expect(resumed.code).toBe(1);
    expect(onlyLine(resumed)).toMatch(/is broken at line 7/);
    expect(readFileSync(path!, "utf8")).toBe(broken);
  });

  test("a workspace that has gone since", async () => {
    const folder = new Folder({ "here/a.txt": "" });
    const server = await chatServer([{ text: "Yes." }]);
    await folder.rcra(["run", "hi", "--workspace", "here", ...server.args]);
    folder.remove("here");
    const ended = await folder.rcra(["run", "more", "--resume", folder.id(), ...server.args]);
    expect(ended.code).toBe(2);
    expect(onlyLine(ended)).toMatch(/The workspace of session_\w+, .*here does not exist/);
  });
});

test("an API key appears in no output, no error and no file, whatever a server or a tool does with it", async () => {
  const key = "sk-canary-4f1d9a7e5c3b2a10";
  const folder = new Folder();
  const server = await chatServer(({ headers, body }, index) => {
    const said = { message: `bad ${headers.authorization}, ${key.slice(0, 12)}***`, echo: headers };
    if (body.model === "refuses") return { status: 401, error: said };
    if (body.model === "breaks") return { status: 400, error: said };
    if (body.model === "streams") return { text: "well", error: said };
    return index % 2 ? { text: "Done." } : { calls: [command("env; echo $OPENAI_API_KEY")] };
  });
  let output = "";
  for (const model of ["refuses", "breaks", "streams", "tool"]) {
    const args = ["run", "hi", "--yes", "--base-url", server.url, "--model", model];
    const { stdout, stderr } = await folder.rcra(args, { env: { OPENAI_API_KEY: key } });
    output += stdout + stderr;
  }
  expect(server.asked.every(({ headers }) => headers.authorization === `Bearer ${key}`)).toBe(true);
  expect(output).toMatch(/failed \(auth\)[^]*failed \(fatal\)[^]*· completed/);
  expect(output).not.toContain(key.slice(0, 12));
  for (const name of readdirSync(folder.path, { recursive: true, encoding: "utf8" })) {
    const path = join(folder.path, name);
    if (statSync(path).isFile()) expect(readFileSync(path, "utf8"), name).not.toContain(key.slice(0, 12));
  }
});

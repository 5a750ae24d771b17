import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { withoutSecrets } from "../../src/adapters/tools/run-command.ts";
import { searchTextTool } from "../../src/adapters/tools/search-text.ts";
import { workspaceTools, type WorkspaceTools } from "../../src/adapters/tools/workspace.ts";
import type { Json } from "../../src/core/message.ts";
import type { ToolContext } from "../../src/ports.ts";
import { tool } from "../../src/tool.ts";

let base: string;
let root: string;
let controller: AbortController;
let progress: unknown[];
let onProgress: () => void;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "rcra-tools-")));
  root = join(base, "workspace");
  mkdirSync(root);
  writeFileSync(join(base, "outside.txt"), "outside");
  controller = new AbortController();
  progress = [];
  onProgress = () => {};
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const context = (): ToolContext => ({
  callId: "call",
  signal: controller.signal,
  progress: (value) => {
    progress.push(value);
    onProgress();
  },
  session: {
    id: "s",
    workspace: root,
    notify: () => {},
    background: () => ({ taskId: "t", settle: () => {} }),
  },
  context: undefined,
});

const tools = workspaceTools();
async function call(name: keyof WorkspaceTools, args: Json, from: WorkspaceTools = tools): Promise<string> {
  const parsed = await from[name].parse(args);
  if (!parsed.ok) throw new Error(parsed.error);
  return (await from[name].execute(parsed.value, context())) as string;
}
const put = (path: string, content: string | Buffer) => {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), content);
};

test("reading tools need no approval, writing ones do", () => {
  const readOnly = Object.entries(tools).map(([name, { readOnly: only }]) => [name, only]);
  expect(Object.fromEntries(readOnly)).toEqual({
    read_file: true,
    list_files: true,
    search_text: true,
    write_file: false,
    run_command: false,
  });
});

test("without a workspace there are no files, unless the tools were given a folder", async () => {
  put("a.txt", "a");
  const homeless = { ...context(), session: { ...context().session, workspace: undefined } };
  await expect(tools.read_file.execute({ path: "a.txt" }, homeless)).rejects.toThrow(/no workspace/);
  const own = workspaceTools(root);
  expect(await own.read_file.execute({ path: "a.txt" }, homeless)).toBe("   1\ta");
  await expect(workspaceTools(join(root, "gone")).list_files.execute({}, homeless)).rejects.toThrow(/does not exist/);
});

describe("a path counts by where it really leads", () => {
  beforeEach(() => {
    put("in.txt", "inside");
    mkdirSync(join(base, "elsewhere"));
    writeFileSync(join(base, "elsewhere", "secret.txt"), "secret");
    symlinkSync(join(base, "outside.txt"), join(root, "link.txt"));
    symlinkSync(join(base, "elsewhere"), join(root, "folder"));
    symlinkSync(join(base, "not-yet.txt"), join(root, "dangling.txt"));
    symlinkSync("in.txt", join(root, "alias.txt"));
    symlinkSync("loop-b", join(root, "loop-a"));
    symlinkSync("loop-a", join(root, "loop-b"));
    mkdirSync(join(base, "workspace-2"));
    writeFileSync(join(base, "workspace-2", "x.txt"), "x");
  });

  test.each([
    ["dots", "../outside.txt"],
    ["dots inside", "a/../../outside.txt"],
    ["an absolute path", "/etc/passwd"],
    ["a link to a file", "link.txt"],
    ["a link to a folder", "folder/secret.txt"],
    ["dots behind a link", "folder/../outside.txt"],
    ["a link to what does not exist", "dangling.txt"],
    ["a new file in a folder elsewhere", "folder/new/file.txt"],
    ["a neighbour whose name begins alike", "../workspace-2/x.txt"],
  ])("what leads out of the workspace is neither read nor written: %s", async (_, path) => {
    for (const work of [
      () => call("read_file", { path }),
      () => call("list_files", { path }),
      () => call("search_text", { path, pattern: "." }),
      () => call("write_file", { path, content: "x" }),
    ])
      await expect(work()).rejects.toThrow(/outside of the workspace|does not exist/);
    expect(() => tools.write_file.lockKey?.({ path }, { workspace: root })).toThrow(/outside|does not exist/);
    expect(readFileSync(join(base, "outside.txt"), "utf8")).toBe("outside");
    expect(readdirSync(base).sort()).toEqual(["elsewhere", "outside.txt", "workspace", "workspace-2"]);
    expect(readdirSync(join(base, "elsewhere"))).toEqual(["secret.txt"]);
  });

  test("links and dots that stay inside are fine, and so is the workspace's own address", async () => {
    for (const path of ["alias.txt", "./x/../in.txt", join(root, "in.txt")])
      expect(await call("read_file", { path })).toBe("   1\tinside");
    symlinkSync(root, join(base, "entrance"));
    const entered = workspaceTools(join(base, "entrance"));
    expect(await call("read_file", { path: join(base, "entrance", "in.txt") }, entered)).toBe("   1\tinside");
  });

  test("what is no regular file is refused at once", async () => {
    execFileSync("mkfifo", [join(root, "pipe")]);
    await expect(call("read_file", { path: "pipe" })).rejects.toThrow(/not a regular file/);
    await expect(call("write_file", { path: "pipe", content: "" })).rejects.toThrow(/not a regular file/);
    await expect(call("read_file", { path: "." })).rejects.toThrow(/is a folder/);
    await expect(call("write_file", { path: ".", content: "" })).rejects.toThrow(/is a folder/);
    await expect(call("read_file", { path: "loop-a" })).rejects.toThrow(/circle of links/);
    await expect(call("read_file", { path: "in.txt/x" })).rejects.toThrow(/not a folder/);
    await expect(call("read_file", { path: "a\0b" })).rejects.toThrow(/zero byte/);
    await expect(call("read_file", { path: "none.txt" })).rejects.toThrow("none.txt does not exist.");
  });

  test("whatever a file is called, its lock key is its real path", () => {
    const keys = (path: string) => tools.write_file.lockKey?.({ path }, { workspace: root });
    for (const path of ["in.txt", "alias.txt", "./a/../in.txt", join(root, "in.txt")])
      expect(keys(path)).toEqual([join(root, "in.txt")]);
    expect(keys("new/file.txt")).toEqual([join(root, "new/file.txt")]);
  });
});

describe("read_file", () => {
  test("numbers lines and reads a part when asked to", async () => {
    put("a.txt", "one\ntwo\n\nfour");
    expect(await call("read_file", { path: "a.txt" })).toBe("   1\tone\n   2\ttwo\n   3\t\n   4\tfour");
    expect(await call("read_file", { path: "a.txt", offset: 2, limit: 2 })).toBe(
      "   2\ttwo\n   3\t\n[there is more: read on with offset 4]",
    );
    expect(await call("read_file", { path: "a.txt", offset: 4 })).toBe("   4\tfour");
    expect(await call("read_file", { path: "a.txt", offset: 9 })).toBe("[the file has only 4 lines]");
    put("empty.txt", "");
    expect(await call("read_file", { path: "empty.txt" })).toBe("[the file is empty]");
  });

  test("reads a part of a large file without holding all of it, and cuts lines that are too long", async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => `line ${i + 1} ${"é".repeat(i % 90)}`);
    put("large.txt", lines.join("\n"));
    const part = await call("read_file", { path: "large.txt", offset: 50_000, limit: 3 });
    expect(part.split("\n").slice(0, 3)).toEqual([0, 1, 2].map((i) => `${50_000 + i}\t${lines[49_999 + i]}`));
    expect((await call("read_file", { path: "large.txt" })).split("\n")).toHaveLength(2_001);
    put("long.txt", `${"x".repeat(500_000)}\nend`);
    expect(await call("read_file", { path: "long.txt" })).toBe(
      `   1\t${"x".repeat(2_000)} [and 498000 more characters]\n   2\tend`,
    );
  });

  test("says so when a file is not text", async () => {
    put("a.png", Buffer.from([0x89, 0x50, 0, 0]));
    put("wide.txt", Buffer.from("\ufeffhi", "utf16le"));
    await expect(call("read_file", { path: "a.png" })).rejects.toThrow("a.png is not a text file (4 bytes");
    await expect(call("read_file", { path: "wide.txt" })).rejects.toThrow(/not a text file/);
  });
});

describe("list_files", () => {
  beforeEach(() => {
    for (const path of ["b.ts", "a/z.ts", "a/b/c.md", "a.ts", "a-b.ts"]) put(path, "123");
    for (const path of ["node_modules/x.ts", ".git/config", "a/.rcra/s.jsonl", ".hidden"]) put(path, "");
    symlinkSync(join(base, "outside.txt"), join(root, "out.ts"));
    symlinkSync("a.ts", join(root, "link.ts"));
    symlinkSync(".", join(root, "circle"));
  });

  test("lists files with their sizes in the order of their paths, without what nobody means", async () => {
    expect(await call("list_files", {})).toBe(
      [".hidden\t0", "a-b.ts\t3", "a.ts\t3", "a/b/c.md\t3", "a/z.ts\t3", "b.ts\t3", "link.ts\t3"].join("\n"),
    );
    expect(await call("list_files", { path: "a" })).toBe("a/b/c.md\t3\na/z.ts\t3");
    expect(await call("list_files", { path: "a/z.ts" })).toBe("a/z.ts\t3");
  });

  test.each([
    ["*.md", ["a/b/c.md"]],
    ["a*.ts", ["a-b.ts", "a.ts"]],
    ["a/*.ts", ["a/z.ts"]],
    ["**/{z,c}.*", ["a/b/c.md", "a/z.ts"]],
    ["./a/**", ["a/b/c.md", "a/z.ts"]],
    ["nothing.*", []],
  ])("a glob without a slash speaks of names, one with a slash of paths: %s", async (glob, expected) => {
    const listed = await call("list_files", { glob });
    expect(listed === "[no files]" ? [] : listed.split("\n").map((line) => line.split("\t")[0])).toEqual(expected);
  });

  test.each(["{a,b}{a,b}{a,b}{a,b}{a,b}", "{1..99999999}", "+(a|aa)+(a|aa)b", "x".repeat(201)])(
    "a glob that could take for ever is refused: %s",
    async (glob) => {
      await expect(call("list_files", { glob })).rejects.toThrow(/too complicated/);
    },
  );

  test("a list that is too long is cut and says so", async () => {
    for (let i = 0; i < 1_001; i++) put(`many/${i}`, "");
    const lines = (await call("list_files", { path: "many" })).split("\n");
    expect(lines).toHaveLength(1_001);
    expect(lines.at(-1)).toMatch(/more than 1000 files/);
  });
});

describe("search_text", () => {
  test("finds lines in text files and says where", async () => {
    put("a.ts", "const one = 1;\nconst two = 2;\r\n// é two");
    put("b/c.md", "two\n");
    put("b/image", Buffer.from("two\0"));
    put("node_modules/x.ts", "two");
    symlinkSync(join(base, "outside.txt"), join(root, "out.ts"));
    expect(await call("search_text", { pattern: "tw[o0]|outside" })).toBe(
      ["a.ts:2: const two = 2;", "a.ts:3: // é two", "b/c.md:1: two"].join("\n"),
    );
    expect(await call("search_text", { pattern: "^two$", path: "b" })).toBe("b/c.md:1: two");
    expect(await call("search_text", { pattern: "two", path: "a.ts" })).toMatch(/^a\.ts:2: .*\na\.ts:3: .*$/);
    expect(await call("search_text", { pattern: "\\p{L} two$", glob: "*.ts" })).toBe("a.ts:3: // é two");
    expect(await call("search_text", { pattern: "nowhere" })).toBe("[no matches]");
  });

  test("a long line is shown around its match, and a long list is cut", async () => {
    put("long.txt", `${"x".repeat(5_000)}needle${"y".repeat(5_000)}`);
    expect(await call("search_text", { pattern: "needle" })).toMatch(/^long\.txt:1: …x{100}needley{194}…$/);
    put("many.txt", "hit\n".repeat(300));
    const lines = (await call("search_text", { pattern: "hit" })).split("\n");
    expect(lines).toHaveLength(201);
    expect(lines.at(-1)).toMatch(/more than 200 matches/);
  });

  test("a pattern that never ends is stopped, and what was found before counts", async () => {
    put("a.txt", "aX\n");
    put("b.txt", `${"a".repeat(60)}!\n`);
    const search = tool(searchTextTool(root, { timeoutMs: 1_500 }));
    const found = (await search.execute({ pattern: "^(a+)+X?$|aX" }, context())) as string;
    expect(found).toMatch(/^a\.txt:1: aX\n\[stopped after 1500 ms: the pattern/);
  });

  test("a search ends when it is aborted, and a pattern that is none is a mistake", async () => {
    put("b.txt", `${"a".repeat(60)}!\n`);
    const search = call("search_text", { pattern: "^(a+)+$" });
    controller.abort();
    await expect(search).rejects.toThrow(/stopped|abort/);
    controller = new AbortController();
    await expect(call("search_text", { pattern: "(" })).rejects.toThrow(/Invalid regular expression/);
    await expect(call("search_text", { pattern: "x", path: "none" })).rejects.toThrow(/does not exist/);
  });
});

describe("write_file", () => {
  test("makes files and the folders above them, and replaces what is there, keeping its mode", async () => {
    expect(await call("write_file", { path: "new/deep/a.txt", content: "é" })).toBe("created new/deep/a.txt (2 bytes)");
    chmodSync(join(root, "new/deep/a.txt"), 0o750);
    expect(await call("write_file", { path: "new/deep/a.txt", content: "" })).toBe("replaced new/deep/a.txt (0 bytes)");
    expect(readFileSync(join(root, "new/deep/a.txt"), "utf8")).toBe("");
    expect(statSync(join(root, "new/deep/a.txt")).mode & 0o777).toBe(0o750);
    expect(readdirSync(join(root, "new/deep"))).toEqual(["a.txt"]);
  });

  test("through a link it writes the file that the link means, and the link stays", async () => {
    put("real.txt", "old");
    symlinkSync("real.txt", join(root, "alias.txt"));
    symlinkSync("later.txt", join(root, "dangling.txt"));
    await call("write_file", { path: "alias.txt", content: "new" });
    await call("write_file", { path: "dangling.txt", content: "later" });
    expect(readFileSync(join(root, "real.txt"), "utf8")).toBe("new");
    expect(readFileSync(join(root, "later.txt"), "utf8")).toBe("later");
  });

  test("the marker of a shortened result cannot come into a file, and may stay in one", async () => {
    const marker = "[… 1234 characters omitted …]";
    put("has.txt", `before\n${marker}\n`);
    const content = `a\n${marker}\nb`;
    await expect(call("write_file", { path: "new.txt", content })).rejects.toThrow(
      /have not seen.*Read the file again/,
    );
    await expect(call("write_file", { path: "has.txt", content: "[… 5 characters omitted …]" })).rejects.toThrow();
    expect(existsSync(join(root, "new.txt"))).toBe(false);
    await call("write_file", { path: "has.txt", content });
    expect(readFileSync(join(root, "has.txt"), "utf8")).toBe(content);
  });

  test("after an abort nothing has changed", async () => {
    put("a.txt", "old");
    controller.abort();
    await expect(call("write_file", { path: "a.txt", content: "new" })).rejects.toThrow(/abort/);
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("old");
    expect(readdirSync(root)).toEqual(["a.txt"]);
  });
});

describe("run_command", () => {
  test("runs in the workspace and returns output and errors in the order they came", async () => {
    expect(await call("run_command", { command: "pwd; echo one; echo two >&2; echo three" })).toBe(
      `${root}\none\ntwo\nthree\n`,
    );
    expect(progress.join("")).toBe(`${root}\none\ntwo\nthree\n`);
    expect(await call("run_command", { command: "true" })).toBe("");
  });

  test("how it ended is said when that was no success", async () => {
    expect(await call("run_command", { command: "printf no; exit 3" })).toBe("no\n[exit code 3]");
    expect(await call("run_command", { command: "exit 1" })).toBe("[exit code 1]");
    expect(await call("run_command", { command: "kill -9 $$" })).toBe("[killed by SIGKILL]");
    expect(await call("run_command", { command: "if" })).toMatch(/[Ss]yntax error[^]*\[exit code \d\]/);
  });

  test("secrets are not in its environment, and there is no input to wait for", async () => {
    const env = { HOME: "/h", API_KEY: "1", githubToken: "2", My_Secret: "3", DB_PASSWORD: "4", AUTHORIZATION: "5" };
    expect(withoutSecrets(env)).toEqual({ HOME: "/h" });
    process.env.RCRA_TEST_TOKEN = "hidden";
    try {
      expect(await call("run_command", { command: "cat; env" })).not.toContain("hidden");
    } finally {
      delete process.env.RCRA_TEST_TOKEN;
    }
  });

  /** Starts a command that says its pids; resolves with its end once it has. */
  function started(command: string, args: object = {}) {
    const begun = new Promise<void>((resolve) => (onProgress = resolve));
    return { begun, ended: call("run_command", { command, ...args }) };
  }
  const alive = (pid: number) => {
    try {
      process.kill(pid, 0);
      return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    } catch {
      return false;
    }
  };

  test("an abort ends it and everything it started, also what does not listen", async () => {
    const deaf = `trap '' TERM; while :; do sleep 0.01; done`;
    const { begun, ended } = started(`(${deaf}) & echo $! $$; wait`);
    await begun;
    const pids = String(progress[0]).trim().split(" ").map(Number);
    expect(pids.map(alive)).toEqual([true, true]);
    controller.abort();
    await expect(ended).rejects.toThrow(/\[stopped\]/);
    // Killed at once; the system may take a moment to clear it away.
    await expect.poll(() => pids.map(alive)).toEqual([false, false]);
  });

  test("a command that takes too long is stopped and says what it had to say", async () => {
    const { ended } = started("echo begun; sleep 60", { timeoutMs: 150 });
    expect(await ended).toBe("begun\n[stopped after 150 ms]");
  });

  test("what goes on in the background does not hold it up", async () => {
    const pid = Number(await call("run_command", { command: "sleep 60 & echo $!" }));
    expect(alive(pid)).toBe(true);
    process.kill(pid);
  });

  test("of very much output both ends are kept", async () => {
    const output = await call("run_command", { command: "echo first; yes | head -c 3000000; echo last" });
    expect(output.length).toBeLessThan(1_000_100);
    expect(output).toMatch(/^first\ny\n[^]*\[\d+ characters of output were not kept\][^]*y\nlast\n$/);
  });
});

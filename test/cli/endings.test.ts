import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { chatServer, command, isPaired } from "./chat-server.ts";
import { Folder, ofType, onlyLine, until, type Ended } from "./command.ts";

/** Any server, for answers that are no Chat Completions. */
async function rawServer(listener: RequestListener): Promise<string[]> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return ["--base-url", `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, "--model", "m"];
}

/** The last word is how to go on, and nothing looks like a crash of ours. */
const isClear = ({ stderr }: Ended): void => {
  expect(stderr).not.toMatch(/^\s+at |node:internal|nobody expected this/m);
  expect(stderr).toMatch(/^rcra: \S/m);
};

describe("what a server does wrong is a failed run that says what and how to go on", () => {
  test("an address that serves web pages", async () => {
    const args = await rawServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<!doctype html><html><body><h1>Welcome</h1></body></html>");
    });
    const folder = new Folder();
    const ended = await folder.rcra(["run", "hi", ...args]);
    expect(ended.code).toBe(1);
    isClear(ended);
    expect(ended.stderr).toContain("go on with: rcra run --resume");
    expect(ended.stderr).not.toContain("<h1>");
    expect(ofType(folder.records(), "run.ended")).toMatchObject([{ status: "failed" }]);
  });

  test("a path that is not there", async () => {
    const args = await rawServer((_, response) => response.writeHead(404).end("404 page not found"));
    const ended = await new Folder().rcra(["run", "hi", ...args]);
    expect(ended.code).toBe(1);
    isClear(ended);
    expect(ended.stderr).toMatch(/failed \(\w+\): .*404/);
  });

  test("a server that always fails is asked again, and then the run ends", async () => {
    const server = await chatServer([{ status: 503, error: { message: "overloaded" } }]);
    const ended = await new Folder().rcra(["run", "hi", "--json", ...server.args]);
    expect([ended.code, server.asked.length]).toEqual([1, 3]);
    isClear(ended);
    expect(ended.stderr).toMatch(/overloaded|503/);
  });
});

describe("a key", () => {
  test("that no header can carry is a mistake to mend, and is not shown", async () => {
    const folder = new Folder();
    const keys = ["sk-canary-77aa\nsk-other-88bb", "“sk-canary-77aa”"];
    const run = ["run", "hi", "--base-url", "http://127.0.0.1:9/v1"];
    for (const ended of await Promise.all(keys.map((key) => folder.rcra(run, { env: { OPENAI_API_KEY: key } })))) {
      expect(ended.code).toBe(2);
      expect(onlyLine(ended)).toMatch(/OPENAI_API_KEY holds .*another character.*Set it again/);
      expect(ended.stderr + ended.stdout).not.toMatch(/canary|77aa|88bb/);
    }
    expect(folder.journals()).toEqual([]);
  });

  test("with space around it, as a file with a last newline leaves it, does no harm", async () => {
    const server = await chatServer([{ text: "Yes." }]);
    const { code } = await new Folder().rcra(["run", "hi", ...server.args], { env: { OPENAI_API_KEY: " sk-x1y2\n" } });
    expect([code, server.asked[0]?.headers.authorization]).toEqual([0, "Bearer sk-x1y2"]);
  });
});

describe("a session that another process runs is busy", () => {
  test("a prompt and going on are refused in one line, show tells what it does, and its run completes", async () => {
    const folder = new Folder({ hold: "" });
    const wait = "echo here >> started.txt; for i in $(seq 300); do [ -e hold ] || exit 0; sleep 0.05; done";
    const server = await chatServer([{ calls: [command(wait)] }, { text: "Done." }]);
    const run = folder.start(["run", "go", "--yes", ...server.args]);
    await until(() => folder.read("started.txt"));
    const before = folder.records().length;
    const [again, shown] = await Promise.all([
      folder.rcra(["run", "me too", "--resume", folder.id(), ...server.args]),
      folder.rcra(["show", folder.id()]),
    ]);
    const resumed = await folder.rcra(["run", "--resume", folder.id(), "--json", ...server.args]);
    for (const ended of [again, resumed]) {
      expect(ended.code).toBe(1);
      expect(onlyLine(ended)).toMatch(/is in use elsewhere.*\d+/);
    }
    expect(resumed.stdout).toBe("");
    expect([shown.code, shown.stderr]).toEqual([0, ""]);
    expect(shown.stdout).toMatch(/→ run_command \{.*\n… run_command was started.*[^]*· a process is running it/);
    expect(shown.stdout).not.toContain("--resume");
    expect(folder.records()).toHaveLength(before);
    folder.remove("hold");
    expect((await run.ended).code).toBe(0);
    expect(server.asked.every(isPaired)).toBe(true);
    expect(folder.read("started.txt")).toBe("here\n");
  });
});

test("an answer that was cut by the length limit ends with 3", async () => {
  const args = await rawServer((_, response) => {
    const choice = { index: 0, delta: { content: "half an ans" }, finish_reason: "length" };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify({ id: "c", choices: [choice] })}\n\ndata: [DONE]\n\n`);
  });
  const ended = await new Folder().rcra(["run", "hi", ...args]);
  expect(ended.code).toBe(3);
  expect(ended.stderr).toMatch(/truncated: .*length limit/);
});

test("an empty --store and --model are refused in the words of the command line", async () => {
  const folder = new Folder();
  expect(onlyLine(await folder.rcra(["run", "hi", "--store", ""]))).toMatch(/^rcra: --store wants/);
  const ended = await folder.rcra(["run", "hi", "--model", "", "--base-url", "http://127.0.0.1:9/v1"]);
  expect([ended.code, onlyLine(ended)]).toEqual([2, expect.stringMatching(/^rcra: --model wants/)]);
});

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { chatServer, command, isPaired, write } from "./chat-server.ts";
import { Folder, ofType, recordsOf, until, type Ended } from "./command.ts";

const hasNoStack = ({ stderr }: Ended): void => expect(stderr).not.toMatch(/^\s+at |node:|nobody expected/m);

/** Says a little and then nothing any more. */
async function hangingServer(text: string): Promise<string[]> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    const choices = [{ index: 0, delta: { content: text }, finish_reason: null }];
    response.write(`data: ${JSON.stringify({ id: "c", choices })}\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return ["--base-url", `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, "--model", "m"];
}

describe("SIGINT", () => {
  test("while the model speaks: exit 130, run.ended cancelled is the last line of --json, and going on asks again", async () => {
    const folder = new Folder();
    const args = await hangingServer("half a sen");
    const run = folder.start(["run", "go", "--json", "--partials", ...args]);
    await run.says(/half a sen/);
    run.child.kill("SIGINT");
    const ended = await run.ended;
    expect(ended.code).toBe(130);
    hasNoStack(ended);
    expect(ended.stderr).toContain(`go on with: rcra run --resume ${folder.id()}`);
    expect(recordsOf(ended.stdout).at(-1)).toMatchObject({ type: "run.ended", status: "cancelled" });
    const server = await chatServer([{ text: "Done." }]);
    const resumed = await folder.rcra(["run", "--resume", folder.id(), "--json", ...server.args]);
    expect([resumed.code, server.asked.length]).toEqual([0, 1]);
    expect(ofType(folder.records(), "run.ended").map((r) => r.status)).toEqual(["cancelled", "completed"]);
  });

  test("while approvals wait: the calls never run, exit 130, and the history is paired", async () => {
    const folder = new Folder();
    const server = await chatServer([{ calls: [write("a.txt", "x"), write("b.txt", "y")] }, { text: "Done." }]);
    const run = folder.start(["run", "go", "--approvals", "wait", ...server.args]);
    await run.says(/--deny instead/);
    run.child.kill("SIGINT");
    const ended = await run.ended;
    expect(ended.code).toBe(130);
    hasNoStack(ended);
    const resumed = await folder.rcra(["run", "and?", "--resume", folder.id(), "--yes", ...server.args]);
    expect([resumed.code, folder.read("a.txt"), folder.read("b.txt")]).toEqual([0, undefined, undefined]);
    expect(server.asked.every(isPaired)).toBe(true);
  });

  test("while a command runs: the command and what it started die with the run", async () => {
    const folder = new Folder({ hold: "" });
    const wait = "echo $$ >> pid.txt; for i in $(seq 300); do [ -e hold ] || exit 0; sleep 0.05; done";
    const server = await chatServer([{ calls: [command(`(${wait}) & wait`)] }, { text: "Done." }]);
    const run = folder.start(["run", "go", "--yes", ...server.args]);
    const pid = Number(await until(() => folder.read("pid.txt")?.endsWith("\n") && folder.read("pid.txt")));
    run.child.kill("SIGINT");
    expect((await run.ended).code).toBe(130);
    await until(() => !isAlive(pid));
    expect(ofType(folder.records(), "run.ended")).toMatchObject([{ status: "cancelled" }]);
  });
});

/** A zombie that nobody has reaped yet is dead. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("an output that takes no more", () => {
  test("a terminal that closes: SIGHUP cancels as SIGINT does", async () => {
    const folder = new Folder();
    const args = await hangingServer("half a sen");
    const run = folder.start(["run", "go", ...args]);
    await run.says(/half a sen/);
    run.child.kill("SIGHUP");
    const ended = await run.ended;
    expect(ended.code).toBe(130);
    expect(ofType(folder.records(), "run.ended")).toMatchObject([{ status: "cancelled" }]);
  });

  test("a full disk behind stdout ends the run with one line, exit 1", async () => {
    const folder = new Folder();
    const server = await chatServer([{ text: "Yes." }]);
    const ended = await folder.sh(`$RCRA run hi --json ${server.args.join(" ")} > /dev/full`);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/the output could not be written \(ENOSPC\)/);
    hasNoStack(ended);
    expect(ofType(folder.records(), "run.ended")).toHaveLength(1);
  });

  test("closed stdin, stdout and stderr crash nothing", async () => {
    const folder = new Folder();
    const server = await chatServer([{ text: "Yes." }]);
    const ended = await folder.sh(`$RCRA run hi ${server.args.join(" ")} <&- 2>&-`);
    expect(ended.code).toBe(0);
    const silent = await folder.sh(`$RCRA run again --resume ${folder.id()} ${server.args.join(" ")} >&- 2>&-`);
    hasNoStack(silent);
    expect(ofType(folder.records(), "run.ended")).toHaveLength(2);
  });
});

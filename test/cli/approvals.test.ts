import { spawnSync } from "node:child_process";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import type { ApprovalRequest } from "../../src/core/call.ts";
import { askOnTerminal, readAnswer } from "../../src/cli/approval-prompt.ts";
import { chatServer, isPaired, write } from "./chat-server.ts";
import { Folder, MAIN, ofType, onlyLine, recordsOf, until } from "./command.ts";

const request = (callId: string, args: object = {}): ApprovalRequest => ({
  callId,
  name: "write_file",
  args,
  hash: "",
});
const BATCH = [request("c1"), request("c2"), request("c3")];
const allowed = (answer: string) =>
  readAnswer(answer, BATCH)?.flatMap((d) => (d.decision === "allow" ? [d.callId] : []));

describe("the prompt for a batch", () => {
  test("y allows all, n none, numbers just these; anything else is no answer", () => {
    expect(allowed("y")).toEqual(["c1", "c2", "c3"]);
    expect(allowed(" YES ")).toEqual(["c1", "c2", "c3"]);
    expect(allowed("n")).toEqual([]);
    expect(allowed("1,3")).toEqual(["c1", "c3"]);
    expect(allowed("2 3")).toEqual(["c2", "c3"]);
    for (const text of ["", "0", "4", "1,9", "1-3", "maybe", "y1"]) expect(allowed(text)).toBeUndefined();
  });

  test("asks once for the whole batch, and again when it cannot read the answer", async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    let shown = "";
    output.on("data", (chunk: Buffer) => {
      shown += chunk.toString();
      if (shown.endsWith("3] ")) input.write(shown.includes("Please answer") ? "2\n" : "what?\n");
    });
    const decisions = await ask(input, output, BATCH);
    expect(decisions).toEqual(BATCH.map(({ callId }, i) => ({ callId, decision: i === 1 ? "allow" : "deny" })));
    expect(shown.match(/Allow these 3 calls\?/g)).toHaveLength(1);
  });

  test("shows both ends of long arguments, and how much it does not show", async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    input.end("n\n");
    const command = `echo ${"x".repeat(5_000)}; rm -rf everything`;
    await ask(input, output, [request("c1", { command })]);
    const shown = String(output.read());
    expect(shown).toContain('{"command":"echo xxx');
    expect(shown).toMatch(/\[… \d{4} characters not shown …\]/);
    expect(shown).toContain('rm -rf everything"}');
  });

  test("an input that ends, and a run that is cancelled, allow nothing", async () => {
    const over = new PassThrough();
    over.end();
    const none = BATCH.map(({ callId }) => ({ callId, decision: "deny" }));
    expect(await ask(over, new PassThrough(), BATCH)).toEqual(none);
    const cancelled = new AbortController();
    const answer = ask(new PassThrough(), new PassThrough(), BATCH, cancelled.signal);
    cancelled.abort();
    expect(await answer).toEqual(none);
  });

  const ask = (input: PassThrough, output: PassThrough, batch: ApprovalRequest[], signal = AbortSignal.any([])) => {
    const approve = askOnTerminal({ input, output });
    return typeof approve === "string" ? approve : approve(batch, { signal });
  };
});

const hasTerminal = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;

describe.runIf(hasTerminal)("at a terminal", () => {
  const atTerminal = (folder: Folder, args: string[]) =>
    folder.spawn("script", ["-qec", `'${process.execPath}' '${MAIN}' ${args.join(" ")}`, "/dev/null"], {
      TERM: "xterm",
    });

  test("one prompt lists the batch with its arguments, and the numbers given are allowed", async () => {
    const folder = new Folder();
    const server = await chatServer([{ calls: [write("a.txt", "x"), write("b.txt", "y")] }, { text: "Done." }]);
    const run = atTerminal(folder, ["run", "write", ...server.args]);
    await run.says(/1,3\] /);
    expect(run.stdout).toContain("Allow these 2 calls?");
    expect(run.stdout).toContain('{"path":"b.txt","content":"y"}');
    run.child.stdin.write("2\n");
    const { code, stdout } = await run.ended;
    expect(code).toBe(0);
    expect([folder.read("a.txt"), folder.read("b.txt")]).toEqual([undefined, "y"]);
    expect(stdout).toContain("\u001b[36m→ write_file");
  });

  test("Ctrl-C at the prompt cancels the run", async () => {
    const folder = new Folder();
    const server = await chatServer([{ calls: [write("a.txt", "x")] }, { text: "Done." }]);
    const run = atTerminal(folder, ["run", "write", "--no-color", ...server.args]);
    await run.says(/\[y\/n\] /);
    run.child.stdin.write("\u0003");
    const { code, stdout } = await run.ended;
    expect(code).toBe(130);
    expect(stdout).not.toContain("\u001b[36m");
    expect(folder.read("a.txt")).toBeUndefined();
    expect(ofType(folder.records(), "run.ended")).toMatchObject([{ status: "cancelled" }]);
  });
});

describe("rcra decide", () => {
  test("a suspended run is decided by another process, goes on from there, and completes", async () => {
    const folder = new Folder();
    const server = await chatServer([{ calls: [write("a.txt", "x"), write("b.txt", "y")] }, { text: "Done." }]);
    const parked = await folder.rcra(["run", "write", "--approvals", "suspend", "--json", ...server.args]);
    expect(parked.code).toBe(5);
    const before = recordsOf(parked.stdout);
    expect(ofType(before, "run.ended")).toEqual([]);
    const lines = [...parked.stderr.matchAll(/rcra (decide .*)/g)].map(([, line]) => line!);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^decide session_\w+ \S+ --allow --base-url http\S+ --model m$/);

    const first = await folder.sh(`$RCRA ${lines[0]} --json`);
    expect(first.code).toBe(5);
    expect(first.stderr).toMatch(/1 call still waits for a decision/);
    expect(folder.read("a.txt")).toBeUndefined();

    const last = await folder.sh(`$RCRA ${lines[1]!.replace("--allow", "--deny --reason 'not this'")} --json`);
    expect(last.code).toBe(0);
    expect([folder.read("a.txt"), folder.read("b.txt")]).toEqual(["x", undefined]);
    expect([...before, ...recordsOf(first.stdout), ...recordsOf(last.stdout)]).toEqual(folder.records());
    expect(ofType(folder.records(), "run.ended")).toMatchObject([{ status: "completed" }]);
    expect(server.asked.every(isPaired)).toBe(true);
    expect(JSON.stringify(server.asked[1]!.body.messages.at(-1))).toContain("not this");

    const again = await folder.sh(`$RCRA ${lines[1]}`);
    expect([again.code, server.asked.length]).toEqual([0, 2]);
    expect(again.stderr).toMatch(/was decided before; nothing changed/);
  });

  test("--args runs the call with other arguments, --respond answers in the tool's place", async () => {
    const folder = new Folder();
    const server = await chatServer([{ calls: [write("a.txt", "x"), write("b.txt", "y")] }, { text: "Done." }]);
    await folder.rcra(["run", "write", "--approvals", "suspend", ...server.args]);
    const [a, b] = ofType(folder.records(), "approval.requested")[0]!.requests.map((r) => r.callId);
    const edited = JSON.stringify({ path: "c.txt", content: "z" });
    const first = await folder.rcra(["decide", folder.id(), a!, "--allow", "--args", edited, ...server.args]);
    expect(first.code).toBe(5);
    const { code, stdout } = await folder.rcra([
      "decide",
      folder.id(),
      b!,
      "--respond",
      "It is there.",
      ...server.args,
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain("✓ write_file It is there.");
    expect([folder.read("a.txt"), folder.read("b.txt"), folder.read("c.txt")]).toEqual([undefined, undefined, "z"]);
  });

  test("a call that the session does not have is refused, and nothing is decided", async () => {
    const folder = new Folder();
    const server = await chatServer([{ calls: [write("a.txt", "x")] }, { text: "Done." }]);
    await folder.rcra(["run", "write", "--approvals", "suspend", ...server.args]);
    const [{ callId }] = ofType(folder.records(), "approval.requested")[0]!.requests as [ApprovalRequest];
    const { code, stderr } = await folder.rcra(["decide", folder.id(), callId, "nothing", "--allow", ...server.args]);
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`has no call nothing\\. Waiting for a decision: ${callId} \\(write_file\\)`));
    expect(ofType(folder.records(), "approval.settled")).toEqual([]);
  });

  test("--approvals wait keeps the run open for a decision from elsewhere; meanwhile the session is busy", async () => {
    const folder = new Folder();
    const server = await chatServer([{ calls: [write("a.txt", "x")] }, { text: "Done." }]);
    const run = folder.start(["run", "write", "--approvals", "wait", ...server.args]);
    run.child.stdin.end();
    await run.says(/rcra decide/);
    const other = await folder.rcra(["run", "me too", "--resume", folder.id(), ...server.args]);
    expect(other.code).toBe(1);
    expect(onlyLine(other)).toMatch(/is in use elsewhere/);
    const [, line] = /rcra (decide .*)/.exec(run.stderr)!;
    const decided = await folder.sh(`$RCRA ${line}`);
    expect(decided.code).toBe(0);
    expect(decided.stderr).toMatch(/handed over to the process that runs this session/);
    expect((await run.ended).code).toBe(0);
    expect(folder.read("a.txt")).toBe("x");
  });

  test("approvals that were pending when the process was killed can still be decided", async () => {
    const folder = new Folder();
    const server = await chatServer([{ calls: [write("a.txt", "x")] }, { text: "Done." }]);
    const run = folder.start(["run", "write", "--approvals", "wait", ...server.args]);
    await run.says(/rcra decide/);
    run.child.kill("SIGKILL");
    await run.ended;
    const [, line] = /rcra (decide .*)/.exec(run.stderr)!;
    const decided = await until(() => folder.sh(`$RCRA ${line}`));
    expect(decided.code).toBe(0);
    expect(folder.read("a.txt")).toBe("x");
    expect(ofType(folder.records(), "run.ended")).toMatchObject([{ status: "completed" }]);
  });
});

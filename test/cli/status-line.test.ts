import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { BottomLine } from "../../src/cli/bottom-line.ts";
import { duration, short, StatusLine } from "../../src/cli/status-line.ts";
import type { SessionEvent } from "../../src/core/event.ts";
import { chatServer } from "./chat-server.ts";
import { Folder, MAIN } from "./command.ts";

/** A terminal of 40 columns that remembers what it was sent, and can say what its last line shows. */
function terminal(isTTY = true) {
  const sent: string[] = [];
  return {
    isTTY,
    columns: 40,
    sent,
    write: (text: string) => sent.push(text),
    lastLine: () => sent.join("").split("\n").at(-1)!.split("\u001b[K").at(-1)!.replaceAll("\r", ""),
  };
}

describe("the bottom line", () => {
  test("is drawn in place, cut to the width of the terminal, and taken away before other text", () => {
    const out = terminal();
    const line = new BottomLine(out);
    line.draw("first");
    line.draw("second, which is much longer than one line of this terminal");
    expect(out.lastLine()).toBe("second, which is much longer than one …");
    expect(out.sent.join("")).not.toContain("\n");
    line.yieldTo("text\n");
    expect(out.lastLine()).toBe("");
  });

  test("stays away while text has not ended its line, and while somebody holds it", () => {
    const out = terminal();
    const line = new BottomLine(out);
    line.yieldTo("half a line");
    line.draw("status");
    expect(out.sent).toEqual([]);
    line.yieldTo("\u001b[2m and the rest\n\u001b[22m");
    const release = line.hold();
    line.draw("status");
    expect(out.sent).toEqual([]);
    release();
    release();
    line.draw("status");
    expect(out.lastLine()).toBe("status");
  });

  test("what it shows cannot steer the terminal", () => {
    const out = terminal();
    new BottomLine(out).draw("act \u001b]0;title\u0007\nmore");
    expect(out.lastLine()).toBe("act \\x1b]0;title\\x07 more");
  });

  test("is never there when it is no terminal", () => {
    const out = terminal(false);
    const line = new BottomLine(out);
    line.draw("status");
    line.yieldTo("text\n");
    line.clear();
    expect(out.sent).toEqual([]);
  });
});

describe("the status line", () => {
  test("says phase, running tools, turn, tokens, pressure and time, and is gone at the end", () => {
    const out = { ...terminal(), columns: 100 };
    let now = 1_000;
    const session = { stateValue: "receive.deciding", pressure: () => ({ tokens: 500, window: 1_000, share: 0.5 }) };
    const status = new StatusLine(new BottomLine(out), session, undefined, () => now);
    const see = (event: object) => status.see(event as SessionEvent);
    see({ type: "turn.started", turn: 2, inputs: [] });
    expect(out.lastLine()).toBe("… receive · turn 2 · 50 % of the window · 0:00");
    session.stateValue = "act.executing";
    see({ type: "model.completed", usage: { input: 1_200, output: 34 } });
    see({ type: "tool.started", callId: "c1", name: "run_command", args: {} });
    see({ type: "tool.started", callId: "c2", name: "read_file", args: {} });
    see({ type: "tool.settled", callId: "c2", name: "read_file" });
    now += 65_000;
    status.draw();
    expect(out.lastLine()).toBe("… act run_command · turn 2 · 1.2k tokens · 50 % of the window · 1:05");
    session.stateValue = "act.approving";
    see({ type: "exchange.committed" });
    expect(out.lastLine()).toMatch(/^… waiting for a decision · /);
    status.end();
    expect(out.lastLine()).toBe("");
  });

  test("numbers and times are short", () => {
    expect([0, 999, 1_000, 12_345, 999_999, 1_234_567].map(short)).toEqual([
      "0",
      "999",
      "1.0k",
      "12.3k",
      "1.0M",
      "1.2M",
    ]);
    expect([0, 59_999, 60_000, 3_723_000].map(duration)).toEqual(["0:00", "0:59", "1:00", "1:02:03"]);
  });
});

const hasTerminal = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;

describe.runIf(hasTerminal)("at a terminal", () => {
  test("it is drawn while the run works, is not part of what stays, and --quiet has none", async () => {
    const folder = new Folder();
    const server = await chatServer([{ calls: [{ name: "list_files", args: {} }] }, { text: "Done." }]);
    const at = async (...args: string[]) => {
      const line = [process.execPath, MAIN, ...args, ...server.args].join(" ");
      const run = folder.spawn("script", ["-qec", line, "/dev/null"], { TERM: "xterm" });
      return (await run.ended).stdout;
    };
    const shown = await at("run", "go");
    expect(shown).toMatch(/… act .*turn 1/);
    // What a terminal shows in the end: of each line, what was written behind its last erasure.
    const stays = shown.split("\r\n").map((line) => line.split("\u001b[K").at(-1)!);
    expect(stays.filter((line) => /^\S*… /.test(line))).toEqual([]);
    expect(stays).toContain("Done.");
    const quiet = await at("run", "go", "--quiet");
    expect(quiet).not.toMatch(/\u001b|… /);
  });
});

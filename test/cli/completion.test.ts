import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { completionOf } from "../../src/cli/complete.ts";
import { withModel, withRequest } from "../../src/cli/flags.ts";
import { chatServer } from "./chat-server.ts";
import { Folder, MAIN } from "./command.ts";

const program = new Command("rcra");
withRequest(withModel(program.command("run").argument("[prompt...]"))).option("--resume <id>");
withModel(program.command("show").argument("<session>"));

/** What is offered: the words, or which kind of name. */
const offered = (...words: string[]) => {
  const found = completionOf(program, words);
  return found.kind === "words" ? found.words.map(([word]) => word) : found.kind;
};

describe("a completion", () => {
  test("offers commands, then options of the one that was named, then what an option takes", () => {
    expect(offered("")).toEqual(["run", "show", "help"]);
    expect(offered("sh")).toEqual(["show"]);
    expect(offered("run", "--a")).toEqual(["--api", "--approvals"]);
    expect(offered("run", "--quiet", "--a")).toEqual(["--api", "--approvals"]);
    expect(offered("run", "--approvals", "")).toEqual(["deny", "wait", "suspend"]);
    expect(offered("run", "--image", "sh")).toBe("files");
    expect(offered("run", "--store", "")).toBe("folders");
    expect(offered("run", "--model", "")).toEqual([]);
    expect(offered("run", "--model", "--a", "--ap")).toEqual(["--api", "--approvals"]);
  });

  test("knows a value that is glued to its option, in one word or in the three that bash makes of it", () => {
    expect(offered("run", "--approvals=w")).toEqual(["--approvals=wait"]);
    expect(offered("run", "--approvals", "=", "w")).toEqual(["wait"]);
    expect(offered("run", "--approvals", "=")).toEqual(["deny", "wait", "suspend"]);
  });

  test("offers nothing where words are free, behind -- too", () => {
    expect(offered("run", "")).toEqual([]);
    expect(offered("run", "--", "--")).toEqual([]);
    expect(offered("show", "x", "")).toEqual([]);
  });
});

const hasBash = spawnSync("bash", ["-c", "true"]).status === 0;

describe.runIf(hasBash)("in a real bash", () => {
  test("the script completes commands, options, files and the sessions of the store that is named", async () => {
    const folder = new Folder({ "shot.png": "", "pictures/x": "" });
    const server = await chatServer([{ text: "Yes." }]);
    await folder.rcra(["run", "hi", "--store", "my store", ...server.args]);
    mkdirSync(join(folder.path, "bin"));
    writeFileSync(join(folder.path, "bin/rcra"), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
    chmodSync(join(folder.path, "bin/rcra"), 0o755);
    const script = `
      PATH="$PWD/bin:$PATH"; source <(rcra completion bash); complete -p rcra
      tab() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _rcra rcra "\${@: -1}"; echo "\${COMPREPLY[*]}"; }
      tab rcra do; tab rcra run --te; tab rcra run --image sh; tab rcra run --workspace pic
      tab rcra show --store "my store" ""; tab rcra run "nothing here" ""`;
    const { stdout, stderr, code } = await folder.spawn("bash", ["--norc", "-c", script], {}).ended;
    const id = /session_\w+/.exec(stdout)?.[0] ?? "no session";
    expect(stderr).toBe("");
    expect(stdout.split("\n").slice(0, 7)).toEqual([
      "complete -F _rcra rcra",
      "doctor",
      "--temperature",
      "shot.png",
      "pictures",
      id,
      "",
    ]);
    expect(code).toBe(0);
  });
});

describe("rcra completion", () => {
  test("has a script for zsh and fish, and names the shells for any other", async () => {
    const folder = new Folder();
    const [zsh, fish, other] = await Promise.all(
      ["zsh", "fish", "tcsh"].map((shell) => folder.rcra(["completion", shell])),
    );
    expect(zsh!.stdout).toMatch(/^#compdef rcra\n[^]*compdef _rcra rcra\n$/);
    expect(fish!.stdout).toMatch(/complete -c rcra/);
    expect(other!.code).toBe(2);
    expect(other!.stderr).toMatch(/Allowed choices are bash, zsh, fish/);
  });
});

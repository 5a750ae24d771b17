/** Purity is proven: what breaks it fails the linter or the compiler. Works on a copy, never on the tree itself. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
let copy = "";

beforeAll(() => {
  copy = realpathSync(mkdtempSync(join(tmpdir(), "purity-")));
  for (const path of ["machines", "src/core", "package.json", ".oxlintrc.json", "tsconfig.json", "tsconfig.pure.json"])
    cpSync(join(root, path), join(copy, path), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

type Outcome = { ok: boolean; said: string };

function tool(name: string, ...args: string[]): Outcome {
  const bin = realpathSync(join(root, "node_modules/.bin", name));
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { cwd: copy, encoding: "utf8" });
  return { ok: status === 0, said: stdout + stderr };
}
const lint = (...paths: string[]): Outcome => tool("oxlint", "--deny-warnings", ...paths);
const compile = (): Outcome => tool("tsc", "-p", "tsconfig.pure.json");

/** Looks at the copy with one more file in it. */
function having<T>(path: string, source: string, look: (path: string) => T): T {
  const full = join(copy, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, source);
  try {
    return look(path);
  } finally {
    rmSync(full);
  }
}

describe("the machines are pure", () => {
  test("as they are, machines and core pass the linter", () => {
    expect(lint("machines", "src/core")).toMatchObject({ ok: true });
  });

  test("as they are, machines and core compile without ambient types", () => {
    expect(compile()).toEqual({ ok: true, said: "" });
  });

  test("reading the file system fails the compiler and the linter", () => {
    const source = `import { readFileSync } from "node:fs";\nexport const text = readFileSync("x", "utf8");\n`;
    having("machines/session/impure.ts", source, (path) => {
      expect(lint(path)).toMatchObject({ ok: false, said: expect.stringContaining("no-restricted-imports") });
      expect(compile()).toMatchObject({ ok: false, said: expect.stringContaining("node:fs") });
    });
  });

  test("timers and the console fail the compiler too", () => {
    having("machines/impure.ts", `setTimeout(() => console.log("late"), 1);\n`, (path) => {
      expect(lint(path).ok).toBe(false);
      expect(compile()).toMatchObject({ ok: false, said: expect.stringMatching(/setTimeout[^]*console/) });
    });
  });

  test.each([
    ["the clock", "export const now = () => Date.now();", "no-restricted-globals"],
    ["a date", "export const now = new Date();", "no-restricted-globals"],
    ["chance", "export const roll = () => Math.random();", "no-restricted-properties"],
    ["a timer", "setTimeout(() => {}, 1);", "no-restricted-globals"],
    ["the network", `export const page = fetch("http://x");`, "no-restricted-globals"],
    ["the process", "export const env = process.env;", "no-restricted-globals"],
    ["the console", `console.log("x");`, "no-console"],
    ["an async function", "export async function later() {}", "no-async-await"],
    ["a module of Node by its old name", `import fs from "fs";\nexport const f = fs;`, "no-restricted-imports"],
    ["an import at run time", `export const f = import("node:fs");`, "no-restricted-imports"],
  ])("%s fails the linter, in the machines and in the core", (_, source, rule) => {
    for (const path of ["machines/session/updates/impure.ts", "src/core/impure.ts"])
      having(path, source, () => expect(lint(path)).toMatchObject({ ok: false, said: expect.stringContaining(rule) }));
  });
});

describe("imports go one way", () => {
  test.each([
    ["src/core/wrong.ts", "../ports.ts"],
    ["src/core/wrong.ts", "../../machines/session/index.ts"],
    ["machines/wrong.ts", "../src/ports.ts"],
    ["machines/session/updates/wrong.ts", "../../../src/effects/index.ts"],
    ["src/ports.ts", "./session/agent.ts"],
    ["src/tool.ts", "./effects/index.ts"],
    ["src/effects/wrong.ts", "../session/journaled.ts"],
    ["src/effects/wrong.ts", "../adapters/system.ts"],
    ["src/session/wrong.ts", "../adapters/system.ts"],
    ["src/session/wrong.ts", "../cli/main.ts"],
    ["src/session/agent.ts", "../adapters/store/jsonl.ts"],
    ["src/adapters/wrong.ts", "../effects/index.ts"],
    ["src/adapters/model/wrong.ts", "../../session/agent.ts"],
    ["src/adapters/model/wrong.ts", "../../../machines/session/index.ts"],
    ["src/middleware/wrong.ts", "../session/agent.ts"],
    ["src/middleware/wrong.ts", "../adapters/system.ts"],
    ["src/cli/wrong.ts", "../testing/index.ts"],
    ["visualizer/wrong.ts", "../src/session/agent.ts"],
  ])("%s must not import %s", (path, target) => {
    having(path, `import { x } from "${target}";\nexport const y = x;\n`, () =>
      expect(lint(path)).toMatchObject({ ok: false, said: expect.stringContaining("no-restricted-imports") }),
    );
  });

  test.each([
    ["machines/right.ts", "../src/core/event.ts"],
    ["machines/session/updates/right.ts", "../change.ts"],
    ["src/ports.ts", "./core/event.ts"],
    ["src/effects/right.ts", "../../machines/session/setup.ts"],
    ["src/effects/right.ts", "../middleware/middleware.ts"],
    ["src/session/right.ts", "../effects/index.ts"],
    ["src/session/agent.ts", "../adapters/store/memory.ts"],
    ["src/adapters/model/right.ts", "../../ports.ts"],
    ["src/adapters/model/right.ts", "../system.ts"],
    ["src/index.ts", "./adapters/store/jsonl.ts"],
    ["visualizer/right.ts", "../machines/index.ts"],
  ])("%s may import %s", (path, target) => {
    having(path, `import { x } from "${target}";\nexport const y = x;\n`, () =>
      expect(lint(path)).toMatchObject({ ok: true }),
    );
  });

  test("modules that import each other fail the linter", () => {
    having("machines/one.ts", `import { two } from "./two.ts";\nexport const one = () => two;\n`, (one) =>
      having("machines/two.ts", `import { one } from "./one.ts";\nexport const two = () => one;\n`, (two) =>
        expect(lint(one, two)).toMatchObject({ ok: false, said: expect.stringContaining("no-cycle") }),
      ),
    );
  });
});

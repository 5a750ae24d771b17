import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { Folder, onlyLine } from "./command.ts";

const LAUNCHER = fileURLToPath(new URL("../../src/cli/rcra.cjs", import.meta.url));

/** A package with nothing in it but the launcher. */
function emptyPackage(files: { [name: string]: string } = {}): Folder {
  const folder = new Folder({ "package.json": '{"type":"module"}', ...files });
  mkdirSync(join(folder.path, "src/cli"), { recursive: true });
  copyFileSync(LAUNCHER, join(folder.path, "src/cli/rcra.cjs"));
  return folder;
}
const launch = (folder: Folder, ...node: string[]) =>
  folder.spawn(process.execPath, [...node, "src/cli/rcra.cjs", "run", "hi"], {}).ended;

describe("the launcher", () => {
  test("says which Node is needed, which one is here, and how to get it", async () => {
    const old = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.18.1' } });";
    const ended = await launch(emptyPackage({ "old.cjs": old }), "-r", "./old.cjs");
    expect(ended.code).toBe(2);
    expect(onlyLine(ended)).toMatch(/Node 22\.19 or newer is needed, this is Node 22\.18\.1.*nodejs\.org.*npx rcra/);
  });

  test("says that the package is not built", async () => {
    const ended = await launch(emptyPackage());
    expect(ended.code).toBe(2);
    expect(onlyLine(ended)).toMatch(/not built yet: run `npm run build`/);
  });

  test("hands the command line to what was built", async () => {
    const main = "export const main = (argv) => console.log(argv.slice(2).join('+'));";
    expect(await launch(emptyPackage({ "dist/cli.js": main }))).toMatchObject({ code: 0, stdout: "run+hi\n" });
  });

  test("is plain old JavaScript", async () => {
    const folder = new Folder();
    const { stdout } = await folder.spawn("cat", [LAUNCHER], {}).ended;
    expect(stdout).not.toMatch(/=>|\bconst\b|\blet\b|`\$\{|\?\?|\?\.|\basync\b|\bclass\b/);
  });
});

/** What importing costs, each time in a fresh process; and what an import brings along. */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { ROW_NAMES, type RowName } from "./rows/row.ts";
import { quartile } from "./statistics.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));
const built = join(root, "node_modules", ".cache", "rcra-bench");

/** The libraries that the package stands on; what `bare-xstate` is charged with, so that the ratio compares like with like. */
const FOUNDATION = ["xstate", "immer", "zod"];
const NOTHING = "data:text/javascript,";

/** Builds the sources as they are now, apart from `dist`, and answers with the address of the package's `.`. */
export function buildPackage(): string {
  rmSync(built, { recursive: true, force: true });
  mkdirSync(built, { recursive: true });
  writeFileSync(join(built, "package.json"), JSON.stringify({ type: "module" }));
  const index = join(built, "src", "index.js");
  try {
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", built], { cwd: root, stdio: "pipe" });
  } catch (error) {
    // Files with a type error are emitted all the same, and `npm run types` is where they are reported.
    if (!existsSync(index)) throw new Error("the package could not be built; try: npm run build", { cause: error });
  }
  return pathToFileURL(index).href;
}

/** Milliseconds to import some modules, one after the other, in a new process. */
async function importMs(specifiers: readonly string[]): Promise<number> {
  const imports = specifiers.map((s) => `await import(${JSON.stringify(s)});`).join("");
  const code = `const t = performance.now(); ${imports} process.stdout.write(String(performance.now() - t));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", code], { cwd: root });
  return Number(stdout);
}

/** 25th percentiles by row. Both rows of the package import the same. */
export async function measureImports(index: string, quick: boolean): Promise<Map<RowName, number>> {
  const sets = [[NOTHING], FOUNDATION, [index]];
  const found = sets.map((): number[] => []);
  for (const set of sets) await importMs(set);
  for (let round = 0; round < (quick ? 7 : 21); round++)
    for (let i = 0; i < sets.length; i++) {
      const which = (round + i) % sets.length;
      found[which]!.push(await importMs(sets[which]!));
    }
  const [nothing, foundation, own] = found.map(quartile) as [number, number, number];
  const byRow = [nothing, foundation, own, own];
  return new Map(ROW_NAMES.map((row, i) => [row, byRow[i]!]));
}

/** Names of packages that importing the package's `.` loads. */
export async function packagesLoaded(index: string): Promise<string[]> {
  const code = `
    import { registerHooks } from "node:module";
    const seen = new Set();
    registerHooks({ load(url, context, next) {
      const name = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/.][^/]*)\\//.exec(url)?.[1];
      if (name) seen.add(name);
      return next(url, context);
    } });
    await import(${JSON.stringify(index)});
    process.stdout.write(JSON.stringify([...seen].sort()));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", code], { cwd: root });
  return JSON.parse(stdout) as string[];
}

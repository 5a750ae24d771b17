/** What importing costs, each time in a fresh process; and what an import brings along. */
import { execFile, execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
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

/** Builds the sources as they are now, as `npm run build` does but apart from `dist`: the address of the package's `.`. */
export function buildPackage(): string {
  const vite = join(root, "node_modules", "vite", "bin", "vite.js");
  const options = ["build", "--logLevel", "error", "--emptyOutDir", "--outDir", built];
  try {
    execFileSync(process.execPath, [vite, ...options], { cwd: root, stdio: "pipe" });
  } catch (error) {
    throw new Error("the package could not be built; npm run build says why", { cause: error });
  }
  writeFileSync(join(built, "package.json"), JSON.stringify({ type: "module" }));
  return pathToFileURL(join(built, "index.js")).href;
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

/**
 * Writes the generated pages of `docs/`; with `--check` it only compares them and exits 1 for a stale one.
 * Run it with `npm run docs`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeMachine } from "../../machines/index.ts";
import { eventPage } from "./event-page.ts";
import { statePage } from "./state-page.ts";

const root = join(import.meta.dirname, "../..");
const graph = describeMachine();
const pages: readonly [path: string, content: string][] = [
  ["docs/state-machine.md", statePage(graph)],
  ["docs/events.md", eventPage(graph)],
];

function onDisk(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    return undefined;
  }
}

const stale = pages.filter(([path, content]) => onDisk(path) !== content);
if (process.argv.includes("--check")) {
  for (const [path] of stale) console.error(`${path} is stale: write it again with \`npm run docs\`.`);
  process.exitCode = stale.length ? 1 : 0;
} else {
  for (const [path, content] of stale) writeFileSync(join(root, path), content);
  console.log(stale.length ? `written: ${stale.map(([path]) => path).join(", ")}` : "docs are current");
}

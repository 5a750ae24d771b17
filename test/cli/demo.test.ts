import { expect, test } from "vitest";
import { Folder, ofType, recordsOf } from "./command.ts";

const PARSERS = {
  "README.md": "# Parsers\n\nSmall parsers for configuration files.\n",
  "lib/ini.js": "// Parses ini files.\nexport function parseIni(text) {\n  return text;\n}\n// TODO: escapes\n",
  "lib/csv.js": "// Parses csv files.\nexport function parseCsv(text) {\n  return text.split(',');\n}\n",
  "lib/other.js": "export const other = 1;\n",
  "docs/usage.md": "# Usage\n\nCall parseIni or parseCsv. TODO: examples of both.\n",
};

test.each([
  ["Which files mention parseCsv?", undefined],
  ["Read everything in lib and write an overview to overview.md", "overview.md"],
  ["Look for TODO and write the list to todo.txt", "todo.txt"],
])("the demo model searches, reads in parallel, and answers or writes: %s", async (prompt, target) => {
  const folder = new Folder(PARSERS);
  const { code, stdout, stderr } = await folder.rcra(["run", prompt, "--yes", "--json"]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("not an LLM")]);
  const records = recordsOf(stdout);
  expect(records.map((r) => r.seq)).toEqual(records.map((_, i) => i + 1));
  expect(ofType(records, "run.ended")).toMatchObject([{ status: "completed" }]);
  expect(records).toEqual(folder.records());

  const started = ofType(records, "tool.started");
  expect(started.some((r) => r.name === "search_text" || r.name === "list_files")).toBe(true);
  const [first, second] = started.filter((r) => r.name === "read_file");
  const settled = ofType(records, "tool.settled").find((r) => r.name === "read_file");
  expect(first!.seq).toBeLessThan(settled!.seq);
  expect(second!.seq).toBeLessThan(settled!.seq);
  expect(ofType(records, "tool.settled").filter((r) => r.status !== "ok")).toEqual([]);

  const answer = JSON.stringify(ofType(records, "model.completed").at(-1)!.message);
  if (target === undefined) expect(answer).toContain("lib/csv.js");
  else expect(folder.read(target)).toMatch(/lib\/(csv|ini)\.js/);
});

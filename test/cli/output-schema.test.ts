import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readOutputSchema } from "../../src/cli/output-schema.ts";
import { Problem } from "../../src/cli/problem.ts";
import { chatServer } from "./chat-server.ts";
import { Folder, onlyLine, recordsOf } from "./command.ts";

const SCHEMA = JSON.stringify({
  type: "object",
  properties: { city: { type: "string" }, people: { type: "integer" } },
  required: ["city", "people"],
});
const OSLO = { city: "Oslo", people: 700_000 };
const lines = (text: string) => text.trim().split("\n");

describe("--output-schema", () => {
  test("with --quiet stdout is the object alone, in one line when nobody looks", async () => {
    const folder = new Folder({ "city.json": SCHEMA });
    const server = await chatServer([{ text: "It is Oslo." }, { text: JSON.stringify(OSLO, null, 2) }]);
    const ended = await folder.rcra(["run", "which?", "--output-schema", "city.json", "--quiet", ...server.args]);
    expect(ended).toMatchObject({ code: 0, stdout: `${JSON.stringify(OSLO)}\n`, stderr: "" });
    expect(server.asked).toHaveLength(2);
  });

  test("with --json one line follows the records: a result with the object, and no seq", async () => {
    const folder = new Folder({ "city.json": SCHEMA });
    const server = await chatServer([{ text: JSON.stringify(OSLO) }]);
    const ended = await folder.rcra(["run", "which?", "--output-schema", "city.json", "--json", ...server.args]);
    expect(ended.code).toBe(0);
    const all = lines(ended.stdout);
    const records = recordsOf(`${all.slice(0, -1).join("\n")}\n`);
    expect(records).toEqual(folder.records());
    const end = records.at(-1)!;
    expect(end.type).toBe("run.ended");
    const { runId } = end as { runId: string };
    expect(JSON.parse(all.at(-1)!)).toEqual({ type: "result", runId, status: "completed", object: OSLO });
  });

  test("an answer that never fits fails with the sentence, and has a result without an object", async () => {
    const folder = new Folder({ "city.json": SCHEMA });
    const server = await chatServer([{ text: '{"city":"Oslo"}' }]);
    const args = ["run", "which?", "--output-schema", "city.json", ...server.args];
    const json = await folder.rcra([...args, "--json"]);
    expect(json.code).toBe(1);
    expect(JSON.parse(lines(json.stdout).at(-1)!)).toEqual({
      type: "result",
      runId: expect.any(String) as string,
      status: "failed",
    });
    expect(json.stderr).toMatch(/failed \(\w+\): .*people/s);
    expect(server.asked).toHaveLength(3);
  });

  test("one that cannot be used is a usage error with its path, before anything is made", async () => {
    const folder = new Folder({ "broken.json": "{" });
    const ended = await folder.rcra(["run", "which?", "--output-schema", "broken.json"]);
    expect(ended.code).toBe(2);
    expect(onlyLine(ended)).toMatch(/--output-schema broken\.json: is not JSON: /);
    expect(folder.journals()).toEqual([]);
  });

  test.each([
    ["gone.json", undefined, /gone\.json: there is no such file/],
    [".", undefined, /: cannot be read \(EISDIR\)/],
    ["list.json", "[]", /list\.json: is not a JSON Schema of an object/],
    ["text.json", '{"type":"string"}', /text\.json: must describe an object/],
    ["odd.json", '{"type":"object","properties":{"city":{"type":"town"}}}', /odd\.json: at \.city: /],
  ])("%s says what is wrong with it", (file, content, line) => {
    const folder = new Folder(content === undefined ? {} : { [file]: content });
    const read = () => readOutputSchema(join(folder.path, file));
    expect(read).toThrow(Problem);
    expect(read).toThrow(line);
  });
});

describe("--quiet", () => {
  test("prints nothing on stdout for a run without an answer; why is on stderr", async () => {
    const server = await chatServer([{ status: 400, error: { message: "no such thing" } }]);
    const ended = await new Folder().rcra(["run", "hi", "--quiet", ...server.args]);
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(/failed \(fatal\): .*no such thing/);
  });

  test("and --json contradict each other", async () => {
    const ended = await new Folder().rcra(["run", "hi", "--quiet", "--json"]);
    expect(ended.code).toBe(2);
    expect(onlyLine(ended)).toMatch(/--json.*cannot be used with.*--quiet/);
  });
});

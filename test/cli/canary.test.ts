import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chatServer, command, write } from "./chat-server.ts";
import { Folder, ofType } from "./command.ts";

/** Every byte that is left behind. */
const everyFile = (folder: Folder): string =>
  readdirSync(folder.path, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder.path, name))
    .flatMap((path) => (statSync(path).isFile() ? [readFileSync(path, "utf8")] : []))
    .join("\n");

describe("an API key appears in no stdout, stderr or journal byte", () => {
  test("a key that does not look like one, echoed by refusals and inside a stream", async () => {
    const key = "canary.Q7wX2mZ9pL4k";
    const folder = new Folder();
    const echo = (text: string) => ({ message: `key ${text} is wrong (${text})`, type: "t", code: text, param: text });
    const server = await chatServer(({ headers, body }) => {
      const sent = headers.authorization!;
      if (body.model.startsWith("status-")) return { status: Number(body.model.slice(7)), error: echo(sent) };
      return { text: "said before", error: echo(sent.replace("Bearer ", "")) };
    });
    const models = ["status-401", "status-400", "status-429", "stream"];
    const ends = await Promise.all(
      models.map((model, i) =>
        folder.rcra(
          ["run", "hi", ...(i % 2 ? [] : ["--json", "--partials"]), "--base-url", server.url, "--model", model],
          {
            env: { OPENAI_API_KEY: key },
          },
        ),
      ),
    );
    expect(ends.map((e) => e.code)).toEqual(models.map(() => 1));
    expect(server.asked.every(({ headers }) => headers.authorization === `Bearer ${key}`)).toBe(true);
    const output = ends.map((e) => e.stdout + e.stderr).join("\n");
    expect(output).toMatch(/failed \(auth\)/);
    expect(output).toContain("[key]");
    const written = everyFile(folder);
    expect(folder.journals()).toHaveLength(models.length);
    expect(output).not.toContain(key);
    expect(written).not.toContain(key);
    expect(output + written).not.toContain(key.slice(-8));
  });

  test("run_command does not find it in its environment, and a later decision does not either", async () => {
    const key = "sk-canary-90ab12cd34ef56gh";
    const folder = new Folder();
    const dump = "env; echo here=[$OPENAI_API_KEY]";
    const server = await chatServer([{ calls: [command(dump), write("a.txt", "x")] }, { text: "Done." }]);
    const env = { OPENAI_API_KEY: key };
    const parked = await folder.rcra(["run", "go", "--approvals", "suspend", ...server.args], { env });
    const calls = ofType(folder.records(), "approval.requested")[0]!.requests.map((r) => r.callId);
    const decided = await folder.rcra(["decide", folder.id(), ...calls, "--allow", ...server.args], { env });
    expect([parked.code, decided.code, folder.read("a.txt")]).toEqual([5, 0, "x"]);
    const result = ofType(folder.records(), "tool.settled").find((r) => r.name === "run_command");
    expect(JSON.stringify(result!.output)).toContain("here=[]");
    const bytes = [parked, decided].map((e) => e.stdout + e.stderr).join("") + everyFile(folder);
    expect(bytes).not.toContain(key.slice(0, 14));
    expect(JSON.stringify(server.asked.map((a) => a.body))).not.toContain(key.slice(0, 14));
  });

  test("one in the query of an address is used, and is a mark where the command to go on is printed", async () => {
    const folder = new Folder();
    const server = await chatServer([{ status: 401, error: { message: "no" } }]);
    const address = `${server.url}?api-version=1&api_key=qcanaryq123`;
    const { code, stdout, stderr } = await folder.rcra(["run", "hi", "--base-url", address, "--model", "m"]);
    expect([code, server.asked.length]).toEqual([1, 1]);
    expect(stderr).toContain(`--base-url '${server.url}?api-version=1&api_key=KEY' --model m`);
    expect(stdout + stderr + everyFile(folder)).not.toContain("qcanaryq");
  });
});

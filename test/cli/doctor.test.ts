import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { nodeCheck, type Check } from "../../src/cli/doctor.ts";
import { Folder, type Ended } from "./command.ts";

const KEY = "sk-canary-7c1e5a9b3d2f4608";

/** A server that knows two models, and takes one key. */
async function modelServer(answer?: (response: ServerResponse) => void) {
  const asked: { route: string; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    asked.push({ route: `${request.method} ${request.url}`, authorization: request.headers.authorization });
    if (answer) return answer(response);
    const known = request.headers.authorization === `Bearer ${KEY}`;
    response.writeHead(known ? 200 : 401, { "content-type": "application/json" });
    const error = { message: `Incorrect API key provided: ${request.headers.authorization}`, code: "invalid_api_key" };
    response.end(JSON.stringify(known ? { data: [{ id: "small-1" }, { id: "large-1" }] } : { error }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

const checksOf = ({ stdout }: Ended): Check[] =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Check);
const statuses = (ended: Ended) => Object.fromEntries(checksOf(ended).map((c) => [c.check, c.status]));
const saysOf = (ended: Ended, check: Check["check"]) => {
  const { says, mend = "" } = checksOf(ended).find((c) => c.check === check)!;
  return `${says} | ${mend}`;
};

describe("rcra doctor", () => {
  test("looks at everything a run needs, exits with 0, leaves nothing behind, and never shows the key", async () => {
    const folder = new Folder({ "a.txt": "" });
    const { url, asked } = await modelServer();
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: url };
    const { code, stdout, stderr } = await folder.rcra(["doctor", "--model", "large-1"], { env });
    expect([code, stderr]).toEqual([0, ""]);
    const host = url.replace(/^http:\/\/|\/v1$/g, "");
    expect(stdout.trim().split("\n")).toEqual([
      `✓ node      Node ${process.versions.node}`,
      "✓ key       OPENAI_API_KEY is set",
      `✓ server    ${host} answers, with 2 models`,
      "✓ model     large-1",
      `✓ store     ${folder.store} can be written`,
      `✓ workspace ${folder.path} can be read`,
    ]);
    expect(asked).toEqual([{ route: "GET /v1/models", authorization: `Bearer ${KEY}` }]);
    expect(existsSync(join(folder.path, ".rcra"))).toBe(false);
    expect(stdout).not.toContain(KEY.slice(0, 8));
  });

  test("a refused key, said without the key; --json is one object a line", async () => {
    const { url } = await modelServer();
    const env = { OPENAI_API_KEY: "sk-other-1234567890", OPENAI_BASE_URL: url };
    const ended = await new Folder().rcra(["doctor", "--json"], { env });
    expect(ended.code).toBe(1);
    expect(statuses(ended)).toEqual({ node: "ok", key: "ok", server: "failed", store: "ok", workspace: "ok" });
    expect(saysOf(ended, "server")).toMatch(/401.*\| Set OPENAI_API_KEY/);
    expect(ended.stdout + ended.stderr).not.toContain("1234567890");
  });

  test("no key and no server: runs would use the demo model", async () => {
    const ended = await new Folder().rcra(["doctor", "--json"]);
    expect(ended.code).toBe(1);
    expect(saysOf(ended, "key")).toMatch(/demo model.*\| Set OPENAI_API_KEY, or name a server/);
  });

  test("a server that is not there, a model that it does not know, a store and a workspace that cannot be", async () => {
    const folder = new Folder({ "file.txt": "" });
    const { url } = await modelServer();
    const [gone, unknown] = await Promise.all([
      folder.rcra(["doctor", "--json", "--base-url", "http://127.0.0.1:1/v1", "--workspace", "gone"]),
      folder.rcra(["doctor", "--json", "--model", "large-2", "--store", "file.txt/sessions"], {
        env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: url },
      }),
    ]);
    expect([gone.code, unknown.code]).toEqual([1, 1]);
    expect(saysOf(gone, "key")).toMatch(/is asked without one/);
    expect(saysOf(gone, "server")).toMatch(/127\.0\.0\.1:1 could not be reached .*\| Check --base-url/);
    expect(saysOf(gone, "workspace")).toMatch(/gone does not exist/);
    expect(saysOf(unknown, "model")).toMatch(/does not know large-2 \| .*--model, such as large-1, small-1/);
    expect(saysOf(unknown, "store")).toMatch(/a file stands where a folder is needed.*--store/);
    expect(statuses(unknown)).toMatchObject({ server: "ok", model: "failed", store: "failed", workspace: "ok" });
  });

  test("a server without a list of models is a warning, and one that answers with a page is none", async () => {
    const none = await modelServer((response) => void response.writeHead(404).end("{}"));
    const page = await modelServer((response) => void response.writeHead(200).end("<html>Hello</html>"));
    const [warned, failed] = await Promise.all([
      new Folder().rcra(["doctor", "--json", "--base-url", none.url]),
      new Folder().rcra(["doctor", "--json", "--base-url", page.url]),
    ]);
    expect([warned.code, failed.code]).toEqual([0, 1]);
    expect(saysOf(warned, "server")).toMatch(/no list of models \(404\) \| .*complete/);
    expect(saysOf(failed, "server")).toMatch(/not with a list of models \| Is the address complete/);
  });

  test("Ctrl-C while a server is silent leaves at once, with 130", async () => {
    const { url, asked } = await modelServer(() => {});
    const run = new Folder().start(["doctor", "--base-url", url]);
    await run.says(/key/);
    run.child.kill("SIGINT");
    const { code, stderr } = await run.ended;
    expect([code, stderr]).toEqual([130, ""]);
    expect(asked.length).toBeLessThanOrEqual(1);
  });

  test("an old Node is said to be too old, and which one is needed", () => {
    expect(nodeCheck("22.18.0")).toMatchObject({ status: "failed", mend: expect.stringContaining("22.19") as string });
    expect(["22.19.0", "24.0.0"].map((v) => nodeCheck(v).status)).toEqual(["ok", "ok"]);
  });

  test.skipIf(process.getuid?.() === 0)("a store that may not be written is said with its path", async () => {
    const folder = new Folder();
    mkdirSync(join(folder.path, "locked"));
    chmodSync(join(folder.path, "locked"), 0o500);
    const ended = await folder.rcra(["doctor", "--json", "--store", "locked/sessions"]);
    expect(saysOf(ended, "store")).toMatch(/locked.*EACCES/);
  });
});

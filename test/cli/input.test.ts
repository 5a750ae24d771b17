import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readAttachments, type AttachmentFlags } from "../../src/cli/attachments.ts";
import { kindOf } from "../../src/cli/file-kind.ts";
import { positiveNumber, wholeNumber } from "../../src/cli/flags.ts";
import { Problem } from "../../src/cli/problem.ts";
import { chatServer } from "./chat-server.ts";
import { Folder, MAIN, onlyLine } from "./command.ts";

/** One pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const PDF = Buffer.from("%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n");
const bytes = (text: string) => Buffer.from(text, "latin1");

describe("stdin", () => {
  test("with a prompt on the command line it follows as a part of its own", async () => {
    const folder = new Folder();
    const server = await chatServer([{ text: "Good." }]);
    const { code } = await folder.rcra(["run", "review this", ...server.args], { input: "+ line one\n+ line two\n" });
    expect(code).toBe(0);
    expect(server.asked[0]!.body.messages.at(-1)).toMatchObject({ content: "review this\n\n+ line one\n+ line two" });
    const received = folder.records().find((r) => r.type === "input.received");
    expect(received).toMatchObject({ parts: [{ text: "review this" }, { text: "\n\n+ line one\n+ line two" }] });
  });

  test("the word - asks for it, and with --resume it is the next prompt", async () => {
    const folder = new Folder();
    const server = await chatServer([{ text: "One." }, { text: "Two." }]);
    const first = await folder.rcra(["run", "-", ...server.args], { input: "first" });
    const second = await folder.rcra(["run", "--resume", folder.id(), ...server.args], { input: "second" });
    expect([first.code, second.code]).toEqual([0, 0]);
    expect(server.asked.map((a) => a.body.messages.at(-1)!.content)).toEqual(["first", "second"]);
  });

  test.each([
    [["run"], "", /What should it do\? Nothing came from stdin/],
    [["run", "-"], " \n", /was to come from stdin \(-\), but that is empty/],
    [["run", "describe"], PNG, /What came from stdin is not text\. Pictures go with --image/],
  ])("%j is a usage error when nothing usable comes from it", async (args, input, line) => {
    const ended = await new Folder().rcra(args, { input });
    expect(ended.code).toBe(2);
    expect(onlyLine(ended)).toMatch(line);
  });

  test("one that stays open is waited for, which is said; what comes late is not lost, and Ctrl-C leaves", async () => {
    const folder = new Folder();
    const server = await chatServer([{ text: "Good." }]);
    const late = folder.start(["run", "look", ...server.args], { open: true });
    const left = folder.start(["run", "look", ...server.args], { open: true });
    await Promise.all([late.says(/waiting for the end of stdin.*<\/dev\/null/), left.says(/waiting for the end/)]);
    left.child.kill("SIGINT");
    late.child.stdin.end("at last");
    expect((await left.ended).code).toBe(130);
    expect((await late.ended).code).toBe(0);
    expect(server.asked.map((a) => a.body.messages.at(-1)!.content)).toEqual(["look\n\nat last"]);
  });
});

describe("files that go with a prompt", () => {
  test("pictures by --image, then documents and text by --file, follow it", async () => {
    const folder = new Folder({ "notes.md": "remember", "pixel.txt": "" });
    folder.write("pixel.dat", PNG);
    folder.write("paper.pdf", PDF);
    const server = await chatServer([{ text: "A pixel." }]);
    const files = ["--image", "pixel.dat", "--file", "paper.pdf", "--file", "notes.md"];
    const { code } = await folder.rcra(["run", "what is this?", ...files, ...server.args]);
    expect(code).toBe(0);
    expect(server.asked[0]!.body.messages.at(-1)!.content).toEqual([
      { type: "text", text: "what is this?" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PNG.toString("base64")}` } },
      {
        type: "file",
        file: { filename: "paper.pdf", file_data: `data:application/pdf;base64,${PDF.toString("base64")}` },
      },
      { type: "text", text: "\n\nnotes.md:\nremember" },
    ]);
  });

  test("a wrong one is a usage error that says what it found, before anything is made", async () => {
    const folder = new Folder();
    folder.write("paper.png", PDF);
    const ended = await folder.rcra(["run", "look", "--image", "paper.png"]);
    expect(ended.code).toBe(2);
    expect(onlyLine(ended)).toMatch(
      /--image paper\.png is a PDF document, not a PNG, JPEG, GIF or WebP picture\. .*--file/,
    );
    expect(folder.journals()).toEqual([]);
  });

  test.each([
    [{ image: ["gone.png"] }, /--image .*gone\.png does not exist/],
    [{ image: ["."] }, /--image .* is a folder/],
    [{ image: ["empty.png"] }, /--image .*empty\.png is empty/],
    [{ image: ["big.png"] }, /--image .*big\.png has 21 MiB; at most 20 MiB/],
    [{ file: ["x.zip"] }, /--file .*x\.zip is a ZIP archive.*; what can be sent is PDF, text/],
  ])("%j cannot be sent", (flags: AttachmentFlags, line) => {
    const folder = new Folder({ "empty.png": "" });
    folder.write("x.zip", bytes("PK\x03\x04\0\0"));
    if (flags.image?.[0] === "big.png") folder.write("big.png", Buffer.concat([PNG, Buffer.alloc(20 * 2 ** 20)]));
    const inFolder = (paths: string[] = []) => paths.map((path) => join(folder.path, path));
    const read = () => readAttachments({ image: inFolder(flags.image), file: inFolder(flags.file) });
    expect(read).toThrow(Problem);
    expect(read).toThrow(line);
  });

  test("kinds are told by content", () => {
    const kinds: [Buffer, string][] = [
      [PNG, "image/png"],
      [bytes("\xff\xd8\xff\xe0\0\x10JFIF"), "image/jpeg"],
      [bytes("GIF89a\x01\0"), "image/gif"],
      [bytes("RIFF\x24\0\0\0WEBPVP8 "), "image/webp"],
      [bytes("RIFF\x24\0\0\0WAVEfmt "), "audio/wav"],
      [bytes("\xff\xfb\x90\x64"), "audio/mpeg"],
      [PDF, "application/pdf"],
      [bytes("BM\xf6\x04\0\0"), "image/bmp"],
      [Buffer.from("BMW builds cars"), "text/plain"],
      [Buffer.from("<svg xmlns='x'/>"), "text/plain"],
      [bytes("\0\x01\x02\xfe"), "application/octet-stream"],
    ];
    expect(kinds.map(([data]) => kindOf(data).mediaType)).toEqual(kinds.map(([, kind]) => kind));
  });
});

describe("settings of a request", () => {
  test("--thinking, --max-output-tokens and --temperature reach the model", async () => {
    const server = await chatServer([{ text: "Good." }]);
    const flags = ["--thinking", "high", "--max-output-tokens", "77", "--temperature", "0.5", "--api", "chat"];
    const { code } = await new Folder().rcra(["run", "hi", ...flags, ...server.args]);
    expect(code).toBe(0);
    const { body } = server.asked[0]!;
    expect(body).toMatchObject({ reasoning_effort: "high", temperature: 0.5 });
    expect(JSON.stringify(body)).toMatch(/"max_(completion_)?tokens":77\b/);
  });

  test("a wrong one is a usage error", async () => {
    const ended = await new Folder().rcra(["run", "hi", "--temperature", "warm"]);
    expect(ended.code).toBe(2);
    expect(onlyLine(ended)).toMatch(/--temperature.*'warm'.*Expected a number, 0 or more/);
    for (const n of ["-1", "", "1e999"]) expect(() => positiveNumber(n)).toThrow(/Expected a number/);
    for (const n of ["0", "1.5", "x"]) expect(() => wholeNumber(1)(n)).toThrow(/Expected a whole number, 1 or more/);
    expect([positiveNumber("0.5"), wholeNumber(1)("77")]).toEqual([0.5, 77]);
  });
});

const hasTerminal = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;

describe("colours", () => {
  test("FORCE_COLOR asks for them on a pipe, and --no-color takes them away", async () => {
    const folder = new Folder();
    const shown = async (env: NodeJS.ProcessEnv, ...flags: string[]) =>
      (await folder.rcra(["doctor", ...flags], { env })).stdout;
    const env = { FORCE_COLOR: "1" };
    const [plain, forced, refused] = await Promise.all([shown({}), shown(env), shown(env, "--no-color")]);
    expect(forced).toContain("\u001b[32m✓\u001b[39m node");
    expect([plain, refused].filter((text) => text.includes("\u001b"))).toEqual([]);
  });

  test.runIf(hasTerminal)("a terminal has them unless NO_COLOR is set", async () => {
    const folder = new Folder();
    const shown = async (env: NodeJS.ProcessEnv) => {
      const args = ["-qec", `${process.execPath} ${MAIN} doctor`, "/dev/null"];
      return (await folder.spawn("script", args, { TERM: "xterm", ...env }).ended).stdout;
    };
    const [coloured, plain] = await Promise.all([shown({}), shown({ NO_COLOR: "1" })]);
    expect(coloured).toContain("\u001b[32m✓\u001b[39m node");
    expect(plain).toContain("✓ node");
    expect(plain).not.toContain("\u001b[");
  });
});

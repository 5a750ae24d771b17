import { existsSync, readdirSync } from "node:fs";
import { describe, expect } from "vitest";
import { mediaFault } from "../../src/core/media.ts";
import { text, type ContentPart } from "../../src/core/message.ts";
import { content } from "../../src/tool.ts";
import { FaultyStore } from "./faulty-store.ts";
import { gate, look, readTool, settled, test } from "./support.ts";

/** A picture of one point. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/** A picture of many bytes: what follows the end of a PNG is ignored by those who look at it. */
const large = Buffer.concat([Buffer.from(PNG, "base64"), Buffer.alloc(20_000, 7)]);
const image = (data: string | Uint8Array) => ({ type: "image" as const, mediaType: "image/png", data });
const largeImage = { type: "image", mediaType: "image/png", data: large.toString("base64") };
const partsOf = (message: { parts: unknown } | undefined) => message?.parts;

describe("media", () => {
  test("large media is a file of the session, named by its content; the request has the bytes", async ({ world }) => {
    const { session, model } = await world.open(["a point"]);
    await session.run([text("what is it?"), image(large)]).unwrap();
    expect(partsOf(model.requests[0]!.messages[0])).toEqual([text("what is it?"), largeImage]);
    const [, stored] = session.messages()[0]!.parts as ContentPart[];
    expect(stored).toMatchObject({
      type: "image",
      stored: { bytes: large.length, file: expect.stringMatching(/^[0-9a-f]{64}\.png$/) },
    });
    expect(JSON.stringify(await world.records()).length).toBeLessThan(5_000);
    expect(Buffer.from(await session.mediaBytes(stored!)).equals(large)).toBe(true);
  });

  test("small media stays in the record", async ({ world }) => {
    const { session, model } = await world.open(["a point"]);
    await session.run([image(PNG)]).unwrap();
    expect(partsOf(session.messages()[0])).toEqual([image(PNG)]);
    expect(partsOf(model.requests[0]!.messages[0])).toEqual([image(PNG)]);
  });

  test("what tools return is kept the same way, and requests stay prefixes of each other", async ({ world }) => {
    const tools = { look: readTool(() => content([text("see"), image(large)])) };
    const { session, model } = await world.open([look("a"), look("b"), "done"], { tools });
    await session.run("go").unwrap();
    const [, second, third] = model.requests;
    expect(JSON.stringify(second!.messages)).toContain(largeImage.data);
    expect(third!.messages.slice(0, 3)).toEqual(second!.messages);
    expect(third!.messages[2], "mapped once").toBe(second!.messages[2]);
    expect(JSON.stringify(session.messages())).not.toContain(largeImage.data.slice(0, 200));
  });

  test("steering and imported history keep theirs too", async ({ world }) => {
    const held = gate();
    const { session, model } = await world.open([{ text: "hm", after: held.promise }, "done"], {
      session: {
        history: [
          { id: "u", role: "user", kind: "prompt", parts: [largeImage as ContentPart] },
          { id: "a", role: "assistant", parts: [text("seen")] },
        ],
      },
    });
    const run = session.run("go");
    await world.until(() => model.requests.length === 1);
    expect(session.steer([image(large)])).toMatchObject({ status: "queued" });
    held.open();
    await run.unwrap();
    expect(partsOf(model.requests[0]!.messages[0])).toEqual([largeImage]);
    expect(JSON.stringify(model.requests[1]!.messages.at(-1))).toContain(largeImage.data);
    expect(JSON.stringify(await world.records())).not.toContain(largeImage.data.slice(0, 200));
  });

  test("another process reads it from the folder; equal media is one file", async ({ world }) => {
    const { store, again } = world.folder();
    const { session } = await world.open(["one", "two"], { store });
    await session.run([image(large)]).unwrap();
    await session.run([image(large)]).unwrap();
    world.store = again();
    const { session: resumed, model } = await world.reopen(["three"]);
    await resumed.run("and?").unwrap();
    expect(JSON.stringify(model.requests[0]!.messages).split(largeImage.data)).toHaveLength(3);
    const path = await world.store.putFile("s1", "probe", "x");
    expect(readdirSync(path.replace(/probe$/, "")).filter((f) => f.endsWith(".png"))).toHaveLength(1);
    expect(existsSync(path)).toBe(true);
  });

  test("a file that is gone is named, and the run goes on", async ({ world }) => {
    const store = world.faulty();
    store.getFile = () => Promise.reject(new Error("the disk is gone"));
    const { session, model } = await world.open(["a point"], { store });
    await session.run([image(large)]).unwrap();
    expect(JSON.stringify(model.requests[0]!.messages)).toMatch(/\[image [0-9a-f]{64}\.png cannot be read\]/);
    expect(world.warnings.join()).toMatch(/cannot be read: the disk is gone/);
  });

  test("media that cannot be written stays in the record", async ({ world }) => {
    const store = world.faulty();
    store.putFile = () => {
      throw new Error("no space");
    };
    const { session } = await world.open(["a point"], { store });
    await session.run([image(large)]).unwrap();
    expect(partsOf(session.messages()[0])).toEqual([largeImage]);
  });

  test("no record is written before the file that it names", async ({ world }) => {
    const order: string[] = [];
    class Slow extends FaultyStore {
      override async putFile(...args: Parameters<FaultyStore["putFile"]>) {
        for (let i = 0; i < 20; i++) await settled();
        order.push("file");
        return super.putFile(...args);
      }
      override append(...args: Parameters<FaultyStore["append"]>) {
        if (JSON.stringify(args[1]).includes('"stored"')) order.push("record");
        return super.append(...args);
      }
    }
    const { session } = await world.open(["a point"], { store: (world.store = new Slow(world.store)) });
    await session.run([image(large)]).unwrap();
    expect(order).toEqual(["file", "record"]);
  });
});

describe("a part that is not what it says", () => {
  const png = { type: "image", mediaType: "image/png" } as const;
  const faults: readonly [string, Parameters<typeof mediaFault>[0], RegExp | undefined][] = [
    ["a picture", { ...png, data: PNG }, undefined],
    ["an address", { ...png, url: "https://example.com/a.png" }, undefined],
    ["another picture", { ...png, mediaType: "image/jpeg", data: PNG }, /those of image\/png, not image\/jpeg/],
    ["a text", { ...png, data: "aGVsbG8h" }, /not those of image\/png/],
    ["no base64", { ...png, data: "%%%%" }, /not base64/],
    ["a data address as data", { ...png, data: `data:image/png;base64,${PNG}` }, /the base64 alone/],
    ["nothing", png, /one of data \(base64\) and url/],
    ["empty", { ...png, data: "" }, /no bytes/],
    ["both", { ...png, data: PNG, url: "https://example.com" }, /one of data/],
    ["no media type", { ...png, mediaType: "png", data: PNG }, /a media type such as/],
    ["a sound as a picture", { ...png, mediaType: "audio/wav", data: "UklGRg==" }, /cannot be of type audio/],
    ["a relative address", { ...png, url: "a.png" }, /an address such as/],
    ["a PDF", { type: "file", mediaType: "application/pdf", data: "JVBERg==" }, undefined],
    ["a WebP", { ...png, mediaType: "image/webp", data: "UklGRiQAAABXRUJQVlA4" }, undefined],
  ];
  test.for(faults)("%s", ([, part, fault]) => {
    if (fault) expect(mediaFault(part)).toMatch(fault);
    else expect(mediaFault(part)).toBeUndefined();
  });

  test("is refused where it comes in, with its place", async ({ world }) => {
    const { session, model } = await world.open([look("a"), "done"], {
      tools: { look: readTool(() => content([text("x"), image("aGVsbG8h")])) },
    });
    await expect(session.run([text("a"), image("aGVsbG8h")]).result).rejects.toMatchObject({
      code: "invalid_options",
      message: "input[1]: the bytes are not those of image/png",
    });
    await session.run("go").unwrap();
    expect(JSON.stringify(model.requests[1]!.messages.at(-1))).toContain(
      "content()[1]: the bytes are not those of image/png",
    );
  });
});

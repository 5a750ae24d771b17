import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { jsonlStore, type JsonlOptions } from "../../src/adapters/store/jsonl.ts";
import { thisProcess } from "../../src/adapters/store/process-identity.ts";
import type { JournalRecord } from "../../src/core/event.ts";
import type { Store } from "../../src/ports.ts";
import { codeOf, failure, note, notes, readAll, storeContract } from "./store.contract.ts";

storeContract("jsonlStore", () => {
  const place = mkdtempSync(join(tmpdir(), "rcra-store-"));
  const store = jsonlStore(place);
  return {
    store,
    reopen: () => jsonlStore(place),
    close: async () => {
      await store.close?.();
      rmSync(place, { recursive: true, force: true });
    },
  };
});

const at = Date.UTC(2026, 6, 31, 23, 59);
let dir: string;
let warnings: string[];
let stores: Store[];
const open = (options: JsonlOptions = {}): Store => {
  const store = jsonlStore(dir, { logger: { warn: (text) => warnings.push(text) }, ...options });
  stores.push(store);
  return store;
};
const file = (name: string) => join(dir, "2026-07-31", name);
const line = (record: object) => `${JSON.stringify(record)}\n`;

/** A session with ten records in two appends and two segments, not held by anybody. */
async function tenRecords(id = "s1"): Promise<void> {
  const store = open();
  await store.create(id, { at, agent: "a" });
  let lease = await store.acquire(id, "o", "if-free");
  lease = await store.append(lease, notes(1, 5));
  lease = await store.append(lease, notes(6, 10), { segment: true });
  await store.release(lease, { status: "idle" });
}

/** Reads until it ends or breaks. */
async function readUntilBroken(store: Store, id: string, after = 0) {
  const records: JournalRecord[] = [];
  const error = await failure(async () => {
    for await (const chunk of store.read(id, { after })) records.push(...chunk);
  });
  return { records, error };
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "rcra-store-"));
  warnings = [];
  stores = [];
});
afterEach(async () => {
  for (const store of stores) await store.close?.();
  rmSync(dir, { recursive: true, force: true });
});

describe("on disk", () => {
  test("one record is one line, one segment one file, in the folder of the session's day", async () => {
    await tenRecords();
    const lines = ["s1_001.jsonl", "s1_002.jsonl"].map((name) => readFileSync(file(name), "utf8").split("\n"));
    expect(lines.map((each) => each.length)).toEqual([6, 6]);
    const seqs = lines.flat().filter(Boolean);
    expect(seqs.map((text) => (JSON.parse(text) as JournalRecord).seq)).toEqual(notes(1, 10).map((r) => r.seq));
    expect(await readAll(open(), "s1")).toEqual(notes(1, 10));
  });

  test("everything is for its owner only", async () => {
    const store = open();
    await tenRecords();
    await store.putFile("s1", "big.txt", "x");
    await store.signal("s1", { key: "k", type: "t", payload: 1 });
    for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
      const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
      expect([entry.name, mode]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600]);
    }
  });

  test("neither leases nor signals nor lists leave temporary files behind", async () => {
    await tenRecords();
    const store = open();
    await store.signal("s1", { key: "k", type: "t", payload: 1 });
    await store.acquire("s1", "o", "takeover");
    await store.acquire("s1", "o", "takeover");
    const names = readdirSync(dir, { recursive: true }).map(String);
    expect(names.filter((name) => name.endsWith(".tmp"))).toEqual([]);
    expect(names.filter((name) => name.includes("lease-"))).toHaveLength(1);
  });

  test("every way to wait for the disk works, and says what it survives", async () => {
    for (const fsync of ["never", "commit", "always"] as const) {
      const store = open({ fsync });
      await store.create(fsync, { at, agent: "a" });
      let lease = await store.acquire(fsync, "o", "if-free");
      lease = await store.append(lease, notes(1, 1));
      const end = { ...note(2), type: "session.closed" } as JournalRecord;
      lease = await store.append(lease, [end], { segment: true });
      await store.release(lease, { status: "closed" });
      expect(await readAll(open(), fsync)).toEqual([note(1), end]);
      expect(store.capabilities.durability).toBe(fsync === "always" ? "power" : "crash");
    }
  });

  test("options that cannot be are refused", () => {
    expect(() => jsonlStore("")).toThrow(/path of a folder/);
    expect(() => jsonlStore(dir, { fsync: "sometimes" as "never" })).toThrow(/"never", "commit" or "always"/);
  });
});

describe("a write that was cut", () => {
  test.each([
    ["half a line", (text: string) => text.slice(0, -40)],
    ["a line without its line break", (text: string) => text.slice(0, -1)],
    ["a last line that is not JSON", (text: string) => `${text.slice(0, -40)}\n`],
    ["zeros that a power cut left", (text: string) => `${text.trimEnd()}`.slice(0, -200) + "\0".repeat(200)],
  ])("is dropped whole with a warning, and taken off when the lease is: %s", async (_, cut) => {
    await tenRecords();
    const path = file("s1_002.jsonl");
    const whole = readFileSync(path, "utf8");
    const extra = open();
    const lease = await extra.acquire("s1", "o", "if-free");
    await extra.release(await extra.append(lease, notes(11, 13)), { status: "idle" });
    const torn = whole + cut(readFileSync(path, "utf8").slice(whole.length));
    writeFileSync(path, torn);

    const store = open();
    expect(await readAll(store, "s1")).toEqual(notes(1, 10));
    expect(await store.check("s1")).toEqual({ ok: true, tornTail: { file: path, line: 6 } });
    expect(warnings.join()).toMatch(/dropped \d+ bytes/);
    expect(readFileSync(path, "utf8")).toBe(torn);

    const next = await store.acquire("s1", "o", "if-free");
    expect(next.head).toBe(10);
    expect(readFileSync(path, "utf8")).toBe(whole);
    await store.append(next, [note(11, "new")]);
    expect(await readAll(store, "s1")).toEqual([...notes(1, 10), note(11, "new")]);
  });

  test("at whatever byte a file ends, exactly the whole appends before it are there", async () => {
    const writer = open();
    await writer.create("s1", { at, agent: "a" });
    let lease = await writer.acquire("s1", "o", "if-free");
    const ends: [bytes: number, head: number][] = [[0, 0]];
    for (const count of [1, 3, 1, 2]) {
      lease = await writer.append(lease, notes(lease.head + 1, lease.head + count));
      ends.push([statSync(file("s1_001.jsonl")).size, lease.head]);
    }
    await writer.release(lease, { status: "idle" });
    const whole = readFileSync(file("s1_001.jsonl"));
    const last = () => ends.findLast(([bytes]) => bytes <= size)![1];
    let size = whole.length;
    for (; size >= 0; size -= 3) {
      truncateSync(file("s1_001.jsonl"), size);
      const store = open();
      expect(await readAll(store, "s1")).toEqual(notes(1, last()));
      if (size % 5 > 0) continue;
      const next = await store.acquire("s1", "o", "if-free");
      expect(next.head).toBe(last());
      await store.release(next, { status: "idle" });
      writeFileSync(file("s1_001.jsonl"), whole);
    }
  });

  test("a signal that a cut append was to settle still waits; one that a whole append settled does not", async () => {
    const store = open();
    await store.create("s1", { at, agent: "a" });
    for (const key of ["settled", "waiting"]) await store.signal("s1", { key, type: "t", payload: key });
    const mark = (consumed: string[]) => ({ append: { records: 2, consumed } });
    const text = line({ ...note(1), ...mark(["settled"]) }) + line(note(2));
    writeFileSync(file("s1_001.jsonl"), text + line({ ...note(3), ...mark(["waiting"]) }));
    const lease = await open().acquire("s1", "crashed before it wrote the second line", "if-free");
    expect(lease.head).toBe(2);
    const mine = open();
    const next = await mine.acquire("s1", "o", "takeover");
    expect((await mine.pending(next)).map((signal) => signal.key)).toEqual(["waiting"]);
    expect(await readAll(mine, "s1")).toEqual(notes(1, 2));
    expect(await mine.signal("s1", { key: "settled", type: "t", payload: 0 })).toBe("duplicate");
  });

  test("a segment that was begun and never written to means nothing", async () => {
    await tenRecords();
    writeFileSync(file("s1_003.jsonl"), "");
    const store = open();
    let lease = await store.acquire("s1", "o", "if-free");
    lease = await store.append(lease, notes(11, 12));
    await store.append(lease, notes(13, 13), { segment: true });
    expect(await readAll(open(), "s1")).toEqual(notes(1, 13));
    expect(readFileSync(file("s1_003.jsonl"), "utf8").split("\n")).toHaveLength(2);
  });
});

describe("a broken journal", () => {
  const replaceLine = (name: string, number: number, text: string) => {
    const lines = readFileSync(file(name), "utf8").split("\n");
    lines[number - 1] = text;
    writeFileSync(file(name), lines.join("\n"));
  };

  test.each([
    ["garbage", "}{", /not valid JSON/],
    ["an empty line", "", /not valid JSON/],
    ["a record twice", JSON.stringify(note(7)), /record 8 should be here, not 7/],
    ["a record too early", JSON.stringify(note(9)), /record 8 should be here, not 9/],
    ["JSON that is no record", '{"hello":1}', /not a journal record/],
    ["JSON that is no object", "[]", /not a JSON object/],
  ])("can be read up to the break and not written to, and its file is left alone: %s", async (_, text, why) => {
    await tenRecords();
    replaceLine("s1_002.jsonl", 3, text);
    const before = readFileSync(file("s1_002.jsonl"), "utf8");
    const store = open();
    const details = { file: file("s1_002.jsonl"), line: 3, lastGoodSeq: 7 };

    for (const mode of ["if-free", "takeover"] as const) {
      const error = await failure(() => store.acquire("s1", "o", mode));
      expect(error).toMatchObject({ code: "JournalCorrupt", details });
      expect(error.message).toMatch(why);
      expect(error.message).toMatch(/line 3.*fork the session at 7/);
    }
    for (const after of [0, 2, 6]) {
      const { records, error } = await readUntilBroken(store, "s1", after);
      expect(records).toEqual(notes(after + 1, 7));
      expect(error).toMatchObject({ code: "JournalCorrupt", details });
    }
    expect(await store.check("s1")).toMatchObject({ ok: false, ...details });
    expect(readFileSync(file("s1_002.jsonl"), "utf8")).toBe(before);
    expect(await store.list()).toMatchObject([{ id: "s1", status: "idle" }]);
    await store.delete("s1");
    expect(readdirSync(dir)).toEqual([]);
  });

  test("an end that was cut breaks it where another segment follows", async () => {
    await tenRecords();
    truncateSync(file("s1_001.jsonl"), statSync(file("s1_001.jsonl")).size - 5);
    const { records, error } = await readUntilBroken(open(), "s1");
    expect(records).toEqual(notes(1, 4));
    expect(error).toMatchObject({ code: "JournalCorrupt", details: { line: 5, lastGoodSeq: 4 } });
  });

  test("a segment that is missing is not passed over", async () => {
    await tenRecords();
    writeFileSync(file("s1_003.jsonl"), line(note(11)));
    rmSync(file("s1_002.jsonl"));
    expect((await readUntilBroken(open(), "s1")).error).toMatchObject({ code: "JournalCorrupt" });
    expect(await codeOf(() => open().acquire("s1", "o", "if-free"))).toBe("JournalCorrupt");
  });

  test.each([
    ["a PNG image", Buffer.from("\x89PNG\r\n\x1a\n\0\0", "latin1"), /a PNG image/],
    ["text", Buffer.from("# Notes"), /text that begins with "# Notes"/],
    ["text of several lines", Buffer.from("hello\nworld\n"), /text that begins with "hello"/],
    ["binary data", Buffer.from([7, 0, 3, 10, 9]), /binary data/],
  ])("a file that never was a journal is called what it is: %s", async (_, content, what) => {
    mkdirSync(join(dir, "2026-07-31"));
    writeFileSync(file("s1_001.jsonl"), content);
    const error = await failure(() => open().acquire("s1", "o", "if-free"));
    expect(error.code).toBe("JournalCorrupt");
    expect(error.message).toMatch(what);
    expect(readFileSync(file("s1_001.jsonl")).equals(content)).toBe(true);
  });

  test("a journal of a newer version is refused untouched", async () => {
    await tenRecords();
    const newer = line({ v: 2, seq: 11, at: 1, dir: "in", type: "thing.unheard" });
    appendFileSync(file("s1_002.jsonl"), newer);
    const before = readFileSync(file("s1_002.jsonl"), "utf8");
    const store = open();
    const error = await failure(() => store.acquire("s1", "o", "if-free"));
    expect(error.code).toBe("SchemaVersion");
    expect(error.message).toMatch(/version 2.*use a newer release/);
    expect((await readUntilBroken(store, "s1")).records).toEqual(notes(1, 10));
    expect(await store.check("s1")).toMatchObject({ ok: false, line: 6, lastGoodSeq: 10 });
    expect(readFileSync(file("s1_002.jsonl"), "utf8")).toBe(before);
  });

  test("does not disturb its neighbours, whatever lies around", async () => {
    await tenRecords("good");
    await tenRecords("bad");
    replaceLine("bad_001.jsonl", 2, "}{");
    writeFileSync(join(dir, "2026-01-01"), "a file called like a day");
    writeFileSync(join(dir, "notes.txt"), "");
    mkdirSync(join(dir, "2026-07-30"));
    mkdirSync(join(dir, "2026-07-30", "folder_001.jsonl"));
    for (const name of ["x_1.jsonl", "_.jsonl", ".hidden_001.jsonl", "a b_001.jsonl"]) writeFileSync(file(name), "}");
    mkdirSync(file("alone.state"));
    const store = open();
    expect((await store.list()).map((info) => info.id).sort()).toEqual(["bad", "good"]);
    expect((await store.acquire("good", "o", "if-free")).head).toBe(10);
    expect(await readAll(store, "good")).toEqual(notes(1, 10));
  });
});

describe("journals from elsewhere", () => {
  test("an empty file is an empty journal", async () => {
    mkdirSync(join(dir, "2026-07-31"));
    writeFileSync(file("s1_001.jsonl"), "");
    const store = open();
    expect(await store.info("s1")).toMatchObject({ head: 0, status: "idle" });
    expect(await readAll(store, "s1")).toEqual([]);
    const lease = await store.acquire("s1", "o", "if-free");
    expect((await store.append(lease, notes(1, 1))).head).toBe(1);
  });

  test.each([
    ["run.ended", { runId: "r", status: "completed", turns: 1, undelivered: [] }, "idle"],
    ["run.suspended", { runId: "r", pending: [] }, "suspended"],
    ["session.closed", {}, "closed"],
    ["tool.started", { callId: "c", name: "t", args: {} }, "interrupted"],
  ])("a journal without side files tells its status by its last record: %s", async (type, rest, status) => {
    mkdirSync(join(dir, "2026-07-31"));
    const opened = { ...note(1), type: "session.opened", agent: "helper" };
    writeFileSync(file("s1_001.jsonl"), line(opened) + line({ ...note(2), ...rest, type }));
    const info = { id: "s1", head: 2, status, agent: "helper", createdAt: note(1).at, updatedAt: note(2).at };
    expect(await open().info("s1")).toMatchObject(info);
    expect(await open().list()).toMatchObject([info]);
  });

  test("what another store wrote since is seen by the next acquire", async () => {
    const [first, second] = [open(), open()];
    await first.create("s1", { at, agent: "a" });
    for (let i = 0; i < 6; i++) {
      const store = i % 2 ? second : first;
      const lease = await store.acquire("s1", "o", "if-free");
      expect(lease.head).toBe(i);
      await store.release(await store.append(lease, [note(i + 1)]), { status: "idle" });
    }
    expect(await readAll(open(), "s1")).toEqual(notes(1, 6));
  });

  test("in a long journal reading begins near what is asked for, and still tells the right line", async () => {
    const store = open();
    await store.create("s1", { at, agent: "a" });
    let lease = await store.acquire("s1", "o", "if-free");
    const long = notes(1, 600).map((record) => note(record.seq, "x".repeat(record.seq * 3)));
    lease = await store.append(lease, long);
    await store.release(lease, { status: "idle" });
    for (const after of [0, 1, 299, 300, 555, 599, 600, 700])
      expect(await readAll(store, "s1", after)).toEqual(long.slice(after));
    appendFileSync(file("s1_001.jsonl"), "}{\n}{\n");
    const { records, error } = await readUntilBroken(open(), "s1", 590);
    expect(records).toEqual(long.slice(590));
    expect(error.details).toMatchObject({ line: 601, lastGoodSeq: 600 });
  });
});

describe("leases of others", () => {
  const holder = (change: object, stage = " ") => {
    mkdirSync(file("s1.state"), { recursive: true });
    writeFileSync(file("s1_001.jsonl"), "");
    const content = JSON.stringify({ owner: "x", epoch: 4, ...thisProcess(), ...change });
    writeFileSync(file("s1.state/lease-4"), stage + content);
  };

  test.skipIf(process.platform === "win32")("a reused pid is not mistaken for the holder", async () => {
    holder({ startedAt: thisProcess().startedAt?.replace(/\d+$/, "1") });
    expect(await open().acquire("s1", "o", "if-free")).toMatchObject({ epoch: 5 });
  });

  test.each([
    ["a process that is gone", { pid: 2 ** 22 + 1 }],
    ["a process that died over taking it", { pid: 2 ** 22 + 1 }, "-"],
    ["a process from before the machine was restarted", { startedAt: "00000000-0000:77" }],
  ] as [string, object, string?][])("a lease of a dead holder is free: %s", async (_, change, stage = " ") => {
    holder(change, stage);
    expect(await open().info("s1")).toMatchObject({ status: "interrupted" });
    expect(await open().acquire("s1", "o", "if-free")).toMatchObject({ epoch: 5 });
  });

  test.each([
    ["another host", { host: "elsewhere" }],
    ["another container", { pidSpace: "pid:[1]", pid: 2 ** 22 + 1 }],
  ])("a holder that cannot be judged from here counts as alive, and can be taken over: %s", async (_, change) => {
    holder(change);
    const store = open();
    expect(await codeOf(() => store.acquire("s1", "o", "if-free"))).toBe("LeaseHeld");
    expect(await store.acquire("s1", "o", "takeover")).toMatchObject({ epoch: 5, head: 0 });
  });

  test("a takeover lets another process finish taking the lease first", async () => {
    holder({}, "-");
    const lease = open().acquire("s1", "o", "takeover");
    expect(lease).toBeInstanceOf(Promise);
    holder({}, " ");
    expect(await lease).toMatchObject({ epoch: 5 });
  });

  test("a lease file that a power cut emptied belongs to nobody", async () => {
    holder({});
    writeFileSync(file("s1.state/lease-4"), "\0\0\0");
    expect(await open().acquire("s1", "o", "if-free")).toMatchObject({ epoch: 5 });
  });

  test.each([false, true])(
    "an append that is under way during a takeover is told so and leaves nothing (new segment: %s)",
    async (segment) => {
      const [old, young] = [open(), open()];
      await old.create("s1", { at, agent: "a" });
      let lease = await old.acquire("s1", "old", "if-free");
      lease = await old.append(lease, notes(1, 2));
      let taken: ReturnType<Store["acquire"]> | undefined;
      // Being written as JSON happens between the look at the lease and the write.
      const value = { toJSON: () => void (taken = young.acquire("s1", "young", "takeover")) };
      const late = { ...note(3), value } as unknown as JournalRecord;
      expect(await codeOf(() => old.append(lease, [late], { segment }))).toBe("Fenced");
      let next = await taken!;
      expect(next.head).toBe(2);
      next = await young.append(next, [note(3, "young")], { segment });
      await young.append(next, [note(4, "young")], { segment: !segment });
      const written = [...notes(1, 2), note(3, "young"), note(4, "young")];
      expect(await readAll(open(), "s1")).toEqual(written);
      expect(await open().check("s1")).toEqual({ ok: true });
    },
  );

  test("a session still held when the store closes was interrupted, and is free", async () => {
    const store = open();
    await store.create("s1", { at, agent: "a" });
    await store.append(await store.acquire("s1", "o", "if-free"), notes(1, 1));
    await store.close?.();
    expect(await open().info("s1")).toMatchObject({ status: "interrupted", head: 1 });
    expect((await open().acquire("s1", "o", "if-free")).head).toBe(1);
  });
});

describe("a disk that will not", () => {
  test("a file where the folder should be is reported with its path", async () => {
    writeFileSync(join(dir, "taken"), "");
    const store = jsonlStore(join(dir, "taken"));
    const error = await failure(() => store.create("s1", { at, agent: "a" }));
    expect(error.code).toBe("StoreUnavailable");
    expect(error.message).toContain(join(dir, "taken"));
    expect(error.message).toMatch(/a file stands where a folder is needed/);
    expect(await codeOf(() => store.list())).toBe("StoreUnavailable");
    expect(await codeOf(() => store.info("s1"))).toBe("StoreUnavailable");
    expect(await codeOf(() => store.acquire("s1", "o", "if-free"))).toBe("StoreUnavailable");
  });

  test("a record that JSON cannot hold is refused before anything is written", async () => {
    const store = open();
    await store.create("s1", { at, agent: "a" });
    const lease = await store.acquire("s1", "o", "if-free");
    const bad = { ...note(2), value: 1n } as unknown as JournalRecord;
    expect(await codeOf(() => store.append(lease, [note(1), bad]))).toBe("StoreUnavailable");
    expect((await store.append(lease, notes(1, 1))).head).toBe(1);
  });

  const mounted = tinyDisk();
  test.skipIf(!mounted)(
    "a full disk writes nothing of an append, and it succeeds once there is space (needs the right to mount)",
    async () => {
      const disk = mkdtempSync(join(dir, "disk-"));
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=128k", "tmpfs", disk]);
      try {
        const store = jsonlStore(disk);
        await store.create("s1", { at, agent: "a" });
        let lease = await store.acquire("s1", "o", "if-free");
        lease = await store.append(lease, notes(1, 3));
        const big = [note(4, "x".repeat(50_000)), note(5, "y".repeat(90_000))];
        for (const segment of [false, true]) {
          const error = await failure(() => store.append(lease, big, { segment }));
          expect(error.code).toBe("StoreUnavailable");
          expect(error.message).toMatch(/disk is full.*free some space/);
          expect(await readAll(store, "s1")).toEqual(notes(1, 3));
        }
        execFileSync("mount", ["-o", "remount,size=1m", disk]);
        lease = await store.append(lease, big);
        await store.release(lease, { status: "idle" });
        expect(await readAll(jsonlStore(disk), "s1")).toEqual([...notes(1, 3), ...big]);
        expect(existsSync(join(disk, "2026-07-31", "s1_002.jsonl"))).toBe(true);
      } finally {
        execFileSync("umount", [disk]);
      }
    },
  );

  test.skipIf(!mounted)("a read-only file system can be read, and says why it cannot be written", async () => {
    const disk = mkdtempSync(join(dir, "disk-"));
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", disk]);
    try {
      const store = jsonlStore(disk);
      await store.create("s1", { at, agent: "a" });
      const lease = await store.acquire("s1", "o", "if-free");
      await store.release(await store.append(lease, notes(1, 2)), { status: "idle" });
      execFileSync("mount", ["-o", "remount,ro", disk]);
      const reader = jsonlStore(disk);
      expect(await readAll(reader, "s1")).toEqual(notes(1, 2));
      expect(await reader.list()).toMatchObject([{ id: "s1", head: 2, status: "idle" }]);
      const error = await failure(() => reader.acquire("s1", "o", "if-free"));
      expect(error.code).toBe("StoreUnavailable");
      expect(error.message).toMatch(/read-only \(EROFS\); remount/);
    } finally {
      execFileSync("umount", [disk]);
    }
  });
});

/** Whether this user may mount a file system in memory. */
function tinyDisk(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const disk = mkdtempSync(join(tmpdir(), "rcra-mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], { stdio: "ignore" });
    execFileSync("umount", [disk], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(disk, { recursive: true, force: true });
  }
}

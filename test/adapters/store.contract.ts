/** What every store promises, as tests. A store's own test file calls {@link storeContract} with a way to make one. */
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import type { JournalRecord } from "../../src/core/event.ts";
import { StoreError, type Lease, type Store, type StoreErrorCode } from "../../src/ports.ts";

/** A record with nothing special in it. */
export const note = (seq: number, text = `record ${seq}`): JournalRecord => ({
  v: 1,
  seq,
  at: 1_700_000_000_000 + seq,
  dir: "in",
  type: "memory.updated",
  key: "text",
  value: text,
});

/** Records `from` to `to`, both included. */
export const notes = (from: number, to: number): JournalRecord[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => note(from + i));

/** All records of a session after a position. */
export async function readAll(store: Store, id: string, after?: number): Promise<JournalRecord[]> {
  const found: JournalRecord[] = [];
  for await (const chunk of store.read(id, after === undefined ? {} : { after })) found.push(...chunk);
  return found;
}

/** Runs something that has to fail, and gives its error. */
export async function failure(work: () => unknown): Promise<StoreError> {
  try {
    await work();
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError);
    return error as StoreError;
  }
  throw new Error("it should have failed");
}

export const codeOf = async (work: () => unknown): Promise<StoreErrorCode> => (await failure(work)).code;

/** What {@link storeContract} is given: a fresh store, and one more view of the same data where there is such a thing. */
export type StoreUnderTest = { store: Store; reopen?: () => Store; close: () => void | Promise<void> };

const created = { at: 1_700_000_000_000, agent: "assistant" };

/** Registers the whole contract as tests. */
export function storeContract(name: string, make: () => StoreUnderTest): void {
  let open: StoreUnderTest[] = [];
  const fresh = () => {
    const made = make();
    open.push(made);
    return made;
  };
  const withSession = async (id = "s1") => {
    const { store } = fresh();
    await store.create(id, created);
    return store;
  };
  const holding = async (id = "s1"): Promise<[Store, Lease]> => {
    const store = await withSession(id);
    return [store, await store.acquire(id, "owner", "if-free")];
  };

  describe(name, () => {
    afterEach(async () => {
      for (const each of open) await each.close();
      open = [];
    });
    names(withSession, fresh);
    leases(holding, withSession);
    appends(holding);
    reading(holding, withSession);
    watching(holding, withSession);
    signals(holding, withSession);
    lists(fresh, holding);
    files(withSession, holding);
    properties(make);
  });
}

type WithSession = (id?: string) => Promise<Store>;
type Holding = (id?: string) => Promise<[Store, Lease]>;

function names(withSession: WithSession, fresh: () => StoreUnderTest): void {
  test("create makes an empty journal, and a second one of that name is refused", async () => {
    const store = await withSession();
    expect(await readAll(store, "s1")).toEqual([]);
    expect(await codeOf(() => store.create("s1", created))).toBe("Exists");
  });

  test.each([
    ["empty", ""],
    ["a dot", "."],
    ["two dots", ".."],
    ["a way up", "../up"],
    ["a slash", "a/b"],
    ["a backslash", "a\\b"],
    ["absolute", "/etc/passwd"],
    ["hidden", ".hidden"],
    ["a space", "a b"],
    ["a line break at its end", "a\n"],
    ["a letter that is not ASCII", "ü"],
    ["a zero byte", "a\0"],
    ["129 characters", "x".repeat(129)],
  ])("a name that cannot be a session id is refused when made and not found when read: %s", async (_, id) => {
    const { store } = fresh();
    expect(() => store.create(id, created)).toThrow(/cannot be a session id/);
    expect(await codeOf(() => readAll(store, id))).toBe("NotFound");
    expect(await codeOf(() => store.acquire(id, "o", "if-free"))).toBe("NotFound");
    expect(await codeOf(() => store.signal(id, { key: "k", type: "t", payload: null }))).toBe("NotFound");
    expect(await codeOf(() => store.delete(id))).toBe("NotFound");
    expect(await codeOf(() => store.putFile(id, "f", "x"))).toBe("NotFound");
    expect(await store.info(id)).toBeUndefined();
  });

  test("letters, digits, dots, dashes and underscores are fine, up to 128 of them", async () => {
    const { store } = fresh();
    for (const id of ["a", "A.b-c_9", "-x", "_001", "a_001", "a_001_002", "x".repeat(128)]) {
      await store.create(id, created);
      expect((await store.info(id))?.id).toBe(id);
    }
    expect(await store.list()).toHaveLength(7);
  });

  test("what is not there is NotFound for every method that needs it", async () => {
    const { store } = fresh();
    const signal = new AbortController().signal;
    for (const work of [
      () => store.acquire("none", "o", "takeover"),
      () => readAll(store, "none"),
      () => store.watch("none", { signal })[Symbol.asyncIterator]().next(),
      () => store.signal("none", { key: "k", type: "t", payload: null }),
      () => store.check("none"),
      () => store.delete("none"),
      () => store.putFile("none", "f", "x"),
      () => store.getFile("none", "f"),
    ])
      expect(await codeOf(work)).toBe("NotFound");
    expect(await store.info("none")).toBeUndefined();
  });
}

function leases(holding: Holding, withSession: WithSession): void {
  test("a lease says who has it, its epoch and where the journal ends", async () => {
    const [store, lease] = await holding();
    expect(lease).toMatchObject({ id: "s1", owner: "owner", head: 0 });
    const next = await store.append(lease, notes(1, 3));
    expect(next).toEqual({ ...lease, head: 3 });
  });

  test("while one has the lease another is refused and told who has it", async () => {
    const [store] = await holding();
    const error = await failure(() => store.acquire("s1", "other", "if-free"));
    expect(error.code).toBe("LeaseHeld");
    expect(error.details).toMatchObject({ owner: "owner" });
    expect(error.message).toContain("owner");
  });

  test("every acquire raises the epoch, also after a release", async () => {
    const store = await withSession();
    const epochs: number[] = [];
    for (const mode of ["if-free", "takeover", "takeover", "if-free"] as const) {
      const lease = await store.acquire("s1", "o", mode);
      epochs.push(lease.epoch);
      if (epochs.length !== 2) await store.release(lease, { status: "idle" });
    }
    expect(epochs).toEqual([...new Set(epochs)].sort((x, y) => x - y));
  });

  test("a takeover fences the former holder: nothing of it gets in any more", async () => {
    const [store, old] = await holding();
    const before = await store.append(old, notes(1, 2));
    const lease = await store.acquire("s1", "new", "takeover");
    expect(lease.head).toBe(2);
    expect(await codeOf(() => store.append(before, [note(3, "late")]))).toBe("Fenced");
    expect(await codeOf(() => store.pending(before))).toBe("Fenced");
    await store.append(lease, [note(3, "new")]);
    expect(await codeOf(() => store.append(before, [note(4, "late")]))).toBe("Fenced");
    expect(await readAll(store, "s1")).toEqual([...notes(1, 2), note(3, "new")]);
  });

  test("a released lease cannot append, and releasing it again does nothing", async () => {
    const [store, lease] = await holding();
    await store.release(lease, { status: "idle" });
    expect(await codeOf(() => store.append(lease, notes(1, 1)))).toBe("Fenced");
    const next = await store.acquire("s1", "next", "if-free");
    await store.release(lease, { status: "closed" });
    expect((await store.info("s1"))?.status).toBe("running");
    expect((await store.append(next, notes(1, 1))).head).toBe(1);
  });
}

function appends(holding: Holding): void {
  test("records go on densely from the head; anything else is a conflict and writes nothing", async () => {
    const [store, lease] = await holding();
    const next = await store.append(lease, notes(1, 2));
    expect(await codeOf(() => store.append(lease, notes(3, 3)))).toBe("HeadConflict");
    expect(await codeOf(() => store.append(next, notes(2, 2)))).toBe("HeadConflict");
    expect(await codeOf(() => store.append(next, notes(4, 4)))).toBe("HeadConflict");
    expect(await codeOf(() => store.append(next, [note(3), note(5)]))).toBe("HeadConflict");
    expect(await readAll(store, "s1")).toEqual(notes(1, 2));
    expect((await store.append(next, notes(3, 3))).head).toBe(3);
  });

  test("an append without records changes nothing but what it was asked to", async () => {
    const [store, lease] = await holding();
    expect((await store.append(lease, [])).head).toBe(0);
    const next = await store.append(lease, [], { status: "suspended", wakeAt: 77 });
    expect(await store.info("s1")).toMatchObject({ head: 0, status: "suspended", wakeAt: 77 });
    expect((await store.append(next, notes(1, 1))).head).toBe(1);
  });

  test("any text survives: line breaks, quotes, emoji, half characters, separators", async () => {
    const [store, lease] = await holding();
    const texts = ["a\nb\r\n", '"\\"', "👍🏽 汉字", "\ud800", "\u2028\u2029\u0000", "x".repeat(700_000)];
    await store.append(
      lease,
      texts.map((text, i) => note(i + 1, text)),
    );
    expect((await readAll(store, "s1")).map((r) => "value" in r && r.value)).toEqual(texts);
  });

  test("a segment of its own changes nothing for readers", async () => {
    const [store, lease] = await holding();
    let at = await store.append(lease, notes(1, 1), { segment: true });
    at = await store.append(at, notes(2, 3));
    at = await store.append(at, notes(4, 5), { segment: true });
    at = await store.append(at, notes(6, 6));
    await store.release(at, { status: "idle" });
    expect(await readAll(store, "s1")).toEqual(notes(1, 6));
    for (const after of [1, 3, 4, 5, 6, 9]) expect(await readAll(store, "s1", after)).toEqual(notes(after + 1, 6));
    expect((await store.acquire("s1", "o", "if-free")).head).toBe(6);
  });
}

function reading(holding: Holding, withSession: WithSession): void {
  test("reading needs no lease and begins after any record", async () => {
    const [store, lease] = await holding();
    await store.append(lease, notes(1, 50));
    for (const after of [0, 1, 25, 49, 50, 51]) expect(await readAll(store, "s1", after)).toEqual(notes(after + 1, 50));
  });

  test("a whole journal is healthy, an empty one too", async () => {
    const store = await withSession();
    expect(await store.check("s1")).toEqual({ ok: true });
    const lease = await store.acquire("s1", "o", "if-free");
    await store.append(lease, notes(1, 3));
    expect(await store.check("s1")).toEqual({ ok: true });
  });
}

function watching(holding: Holding, withSession: WithSession): void {
  /** Collects until so many have come. */
  async function collect(store: Store, after: number, count: number, onFirst?: () => unknown) {
    const stop = new AbortController();
    const found: JournalRecord[] = [];
    for await (const chunk of store.watch("s1", { after, signal: stop.signal })) {
      found.push(...chunk);
      if (found.length === chunk.length) await onFirst?.();
      if (found.length >= count) stop.abort();
    }
    return found;
  }

  test("a watcher gets what is there, then what comes, each once and in order", async () => {
    const [store, lease] = await holding();
    let at = await store.append(lease, notes(1, 4));
    const found = await collect(store, 2, 8, async () => {
      at = await store.append(at, notes(5, 5));
      at = await store.append(at, notes(6, 9), { segment: true });
      at = await store.append(at, notes(10, 10));
    });
    expect(found).toEqual(notes(3, 10));
  });

  test("a watcher of an empty journal waits for its first record", async () => {
    const [store, lease] = await holding();
    const found = collect(store, 0, 1);
    await Promise.resolve();
    await store.append(lease, notes(1, 1));
    expect(await found).toEqual(notes(1, 1));
  });

  test("a watcher ends when its signal aborts, also when it did before", async () => {
    const store = await withSession();
    const stop = new AbortController();
    const waiting = store.watch("s1", { signal: stop.signal })[Symbol.asyncIterator]().next();
    stop.abort();
    expect((await waiting).done).toBe(true);
    for await (const _ of store.watch("s1", { signal: stop.signal })) throw new Error("nothing to see");
  });

  test("a watcher of a session that is deleted ends", async () => {
    const [store, lease] = await holding();
    const at = await store.append(lease, notes(1, 1));
    await store.release(at, { status: "idle" });
    const watcher = store.watch("s1", { signal: new AbortController().signal })[Symbol.asyncIterator]();
    await watcher.next();
    const end = watcher.next();
    await store.delete("s1");
    expect((await end).done).toBe(true);
  });
}

function signals(holding: Holding, withSession: WithSession): void {
  const leave = (store: Store, key: string, payload = key) => store.signal("s1", { key, type: "input", payload });

  test("signals wait in the order they came and keep their payload", async () => {
    const store = await withSession();
    for (const key of ["b", "a", "c/../x", "ключ"]) expect(await leave(store, key)).toBe("accepted");
    const lease = await store.acquire("s1", "o", "if-free");
    const found = await store.pending(lease);
    expect(found.map((signal) => signal.key)).toEqual(["b", "a", "c/../x", "ключ"]);
    expect(found[0]).toMatchObject({ key: "b", type: "input", payload: "b", at: expect.any(Number) });
  });

  test("the same key is once, while it waits and after it was taken", async () => {
    const [store, lease] = await holding();
    expect(await leave(store, "k", "first")).toBe("accepted");
    expect(await leave(store, "k", "second")).toBe("duplicate");
    expect((await store.pending(lease)).map((s) => s.payload)).toEqual(["first"]);
    const next = await store.append(lease, notes(1, 2), { consume: ["k", "never-came"] });
    expect(await store.pending(next)).toEqual([]);
    expect(await leave(store, "k", "third")).toBe("duplicate");
    expect(await store.pending(next)).toEqual([]);
    expect(await readAll(store, "s1")).toEqual(notes(1, 2));
  });

  test("a signal needs no lease and outlives a release", async () => {
    const [store, lease] = await holding();
    await leave(store, "a");
    await store.release(lease, { status: "idle" });
    await leave(store, "b");
    const next = await store.acquire("s1", "o", "if-free");
    expect((await store.pending(next)).map((s) => s.key)).toEqual(["a", "b"]);
  });

  test("an append that is refused consumes nothing", async () => {
    const [store, lease] = await holding();
    await leave(store, "a");
    expect(await codeOf(() => store.append(lease, [note(2)], { consume: ["a"] }))).toBe("HeadConflict");
    expect(await store.pending(lease)).toHaveLength(1);
  });
}

function lists(fresh: () => StoreUnderTest, holding: Holding): void {
  const at = (time: number, record: object) => ({ ...record, v: 1, at: time, dir: "out" }) as JournalRecord;

  test("a list is newest first, can be cut and can be asked for a prefix", async () => {
    const { store } = fresh();
    for (const [id, time] of [
      ["a1", 3_000],
      ["b1", 9_000],
      ["a2", 5_000],
    ] as const)
      await store.create(id, { at: time, agent: "x" });
    expect((await store.list()).map((s) => s.id)).toEqual(["b1", "a2", "a1"]);
    expect((await store.list({ limit: 2 })).map((s) => s.id)).toEqual(["b1", "a2"]);
    expect((await store.list({ prefix: "a" })).map((s) => s.id)).toEqual(["a2", "a1"]);
    const lease = await store.acquire("a1", "o", "if-free");
    await store.append(lease, [at(99_000, { seq: 1, type: "title.generated", title: "T", dir: "in" })]);
    expect((await store.list()).map((s) => s.id)).toEqual(["a1", "b1", "a2"]);
  });

  test("an info has status, wake time, title, agent and how the last run ended", async () => {
    const { store, reopen } = fresh();
    await store.create("s1", { at: 1_000, agent: "helper" });
    expect(await store.info("s1")).toEqual({
      id: "s1",
      createdAt: 1_000,
      updatedAt: 1_000,
      head: 0,
      status: "idle",
      agent: "helper",
    });
    let lease = await store.acquire("s1", "o", "if-free");
    expect((await store.info("s1"))?.status).toBe("running");
    lease = await store.append(lease, [at(2_000, { seq: 1, type: "title.generated", title: "T" })]);
    const end = { type: "run.ended", runId: "r", status: "max_turns", turns: 3, undelivered: [] };
    lease = await store.append(lease, [at(3_000, { seq: 2, ...end })]);
    await store.release(lease, { status: "suspended", wakeAt: 50_000 });
    for (const view of [store, reopen?.() ?? store])
      expect(await view.info("s1")).toEqual({
        id: "s1",
        createdAt: 1_000,
        updatedAt: 3_000,
        head: 2,
        status: "suspended",
        wakeAt: 50_000,
        agent: "helper",
        title: "T",
        lastRun: "max_turns",
      });
  });

  test("taking the lease ends the wait: the wake time is gone", async () => {
    const [store, lease] = await holding();
    await store.release(lease, { status: "suspended", wakeAt: 5 });
    await store.acquire("s1", "o", "if-free");
    expect(await store.info("s1")).not.toHaveProperty("wakeAt");
  });
}

function files(withSession: WithSession, holding: Holding): void {
  test("large content goes to a file that can be opened; no content overwrites another", async () => {
    const { readFileSync } = await import("node:fs");
    const store = await withSession();
    const first = await store.putFile("s1", "out.txt", "one");
    const second = await store.putFile("s1", "out.txt", "two");
    const again = await store.putFile("s1", "out.txt", "one");
    const bytes = await store.putFile("s1", "img.png", new Uint8Array([0, 255, 10]));
    expect(again).toBe(first);
    expect(readFileSync(first, "utf8")).toBe("one");
    expect(readFileSync(second, "utf8")).toBe("two");
    expect([...readFileSync(bytes)]).toEqual([0, 255, 10]);
  });

  test("what was put can be got by its name; what was not is NotFound", async () => {
    const store = await withSession();
    await store.putFile("s1", "img.png", new Uint8Array([0, 255, 10]));
    expect([...(await store.getFile("s1", "img.png"))]).toEqual([0, 255, 10]);
    expect(await codeOf(() => store.getFile("s1", "other.png"))).toBe("NotFound");
    expect(await codeOf(() => store.getFile("s1", "../../../etc/passwd"))).toBe("NotFound");
  });

  test.each([
    ["a way up", "../../../etc/passwd"],
    ["absolute", "/abs"],
    ["dots", ".."],
    ["empty", ""],
    ["separators and a zero byte", "a/b\\c\0d"],
    ["hidden", ".hidden"],
    ["other scripts", "名前.txt"],
    ["400 characters", "x".repeat(400) + ".json"],
  ])("a file's name cannot lead anywhere else: %s", async (_, name) => {
    const { dirname, basename } = await import("node:path");
    const store = await withSession();
    const plain = await store.putFile("s1", "plain", "x");
    const path = await store.putFile("s1", name, "y");
    expect(dirname(path)).toBe(dirname(plain));
    expect(basename(path)).not.toMatch(/^\.|[/\\\0]/);
  });

  test("delete takes a session away with all that belongs to it, but not under somebody's hands", async () => {
    const { existsSync } = await import("node:fs");
    const [store, lease] = await holding();
    const file = await store.putFile("s1", "f", "x");
    await store.signal("s1", { key: "k", type: "t", payload: 1 });
    const at = await store.append(lease, notes(1, 2));
    expect(await codeOf(() => store.delete("s1"))).toBe("LeaseHeld");
    const end = await store.append(at, notes(3, 3), { segment: true });
    await store.release(end, { status: "idle" });
    await store.delete("s1");
    expect(await store.info("s1")).toBeUndefined();
    expect(await store.list()).toEqual([]);
    expect(existsSync(file)).toBe(false);
    expect(await codeOf(() => readAll(store, "s1"))).toBe("NotFound");
    await store.create("s1", created);
    const next = await store.acquire("s1", "o", "if-free");
    expect(next.head).toBe(0);
    expect(await store.pending(next)).toEqual([]);
  });
}

/** One step of a random history by one of three writers. */
type Step =
  | { do: "acquire"; who: number; mode: "if-free" | "takeover" }
  | { do: "append"; who: number; count: number; segment: boolean; stale: boolean }
  | { do: "release"; who: number }
  | { do: "signal"; key: number }
  | { do: "consume"; who: number }
  | { do: "read"; after: number };

const who = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("acquire" as const), who, mode: fc.constantFrom("if-free", "takeover") }),
  fc.record({
    do: fc.constant("append" as const),
    who,
    count: fc.nat(4),
    segment: fc.boolean(),
    stale: fc.boolean(),
  }),
  fc.record({ do: fc.constant("release" as const), who }),
  fc.record({ do: fc.constant("signal" as const), key: fc.nat(5) }),
  fc.record({ do: fc.constant("consume" as const), who }),
  fc.record({ do: fc.constant("read" as const), after: fc.nat(12) }),
) as fc.Arbitrary<Step>;

function properties(make: () => StoreUnderTest): void {
  test("however writers interleave, only the ruling lease appends, and readers see exactly what it wrote", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { store, reopen, close } = make();
        try {
          await store.create("s1", created);
          await play(store, steps);
          if (reopen) expect(await readAll(reopen(), "s1")).toEqual(await readAll(store, "s1"));
        } finally {
          await close();
        }
      }),
      { numRuns: 60 },
    );
  });
}

/** Plays steps against the store and a model of a few lines, comparing each outcome. */
async function play(store: Store, steps: readonly Step[]): Promise<void> {
  const game = new Game(store);
  for (const each of steps) {
    await game.play(each);
    expect((await store.info("s1"))?.head).toBe(game.written.length);
  }
  expect(await readAll(store, "s1")).toEqual(game.written);
}

class Game {
  readonly written: JournalRecord[] = [];
  readonly #store: Store;
  readonly #leases: (Lease | undefined)[] = [];
  readonly #older: (Lease | undefined)[] = [];
  readonly #waiting: string[] = [];
  readonly #keys = new Set<string>();
  #ruling: number | undefined;
  #epoch = 0;
  #serial = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  async play(each: Step): Promise<void> {
    switch (each.do) {
      case "acquire":
        return this.#acquire(each.who, each.mode);
      case "append": {
        const lease = (each.stale && this.#older[each.who]) || this.#leases[each.who];
        if (lease) await this.#append(each.who, lease, each.count, { segment: each.segment });
        return;
      }
      case "release":
        return this.#release(this.#leases[each.who]);
      case "signal":
        return this.#signal(String(each.key));
      case "consume":
        return this.#consume(each.who);
      case "read":
        return void expect(await readAll(this.#store, "s1", each.after)).toEqual(this.written.slice(each.after));
    }
  }

  async #acquire(by: number, mode: "if-free" | "takeover"): Promise<void> {
    const take = () => this.#store.acquire("s1", `w${by}`, mode);
    if (this.#ruling !== undefined && mode === "if-free") return void expect(await codeOf(take)).toBe("LeaseHeld");
    const lease = await take();
    expect(lease.epoch).toBeGreaterThan(this.#epoch);
    expect(lease.head).toBe(this.written.length);
    this.#leases[by] = lease;
    this.#ruling = this.#epoch = lease.epoch;
  }

  async #append(by: number, lease: Lease, count: number, options: object): Promise<void> {
    const records = notes(lease.head + 1, lease.head + count).map((r) => ({ ...r, at: ++this.#serial }));
    const append = () => this.#store.append(lease, records, options);
    if (lease.epoch !== this.#ruling) return void expect(await codeOf(append)).toBe("Fenced");
    if (lease.head !== this.written.length) return void expect(await codeOf(append)).toBe("HeadConflict");
    const next = await append();
    this.written.push(...records);
    expect(next.head).toBe(this.written.length);
    this.#older[by] = lease;
    this.#leases[by] = next;
  }

  async #release(lease: Lease | undefined): Promise<void> {
    if (!lease) return;
    await this.#store.release(lease, { status: "idle" });
    if (lease.epoch === this.#ruling) this.#ruling = undefined;
  }

  async #signal(key: string): Promise<void> {
    const outcome = await this.#store.signal("s1", { key, type: "t", payload: key });
    expect(outcome).toBe(this.#keys.has(key) ? "duplicate" : "accepted");
    if (!this.#keys.has(key)) this.#waiting.push(key);
    this.#keys.add(key);
  }

  async #consume(by: number): Promise<void> {
    const lease = this.#leases[by];
    if (!lease || lease.epoch !== this.#ruling) return;
    expect((await this.#store.pending(lease)).map((signal) => signal.key)).toEqual(this.#waiting);
    await this.#append(by, lease, 1, { consume: this.#waiting.slice(0, 1) });
    this.#waiting.shift();
  }
}

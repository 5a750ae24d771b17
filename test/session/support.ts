/** A small world for tests of whole sessions: time that stands still, names that count, and checks on the way out. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test as base, vi } from "vitest";
import { z } from "zod";
import { memoryStore } from "../../src/adapters/store/memory.ts";
import { jsonlStore } from "../../src/adapters/store/jsonl.ts";
import type { JournalRecord, SessionEvent } from "../../src/core/event.ts";
import { textOf, type Message, type ToolResultPart } from "../../src/core/message.ts";
import { createAgent, type Agent } from "../../src/session/agent.ts";
import type { AgentOptions, SessionOptions } from "../../src/session/options.ts";
import type { RunResult } from "../../src/session/run.ts";
import type { Session } from "../../src/session/session.ts";
import { fakeClock, fakeIds, settled } from "../../src/testing/fakes.ts";
import { scriptedModel, type Script, type ScriptedModel } from "../../src/testing/scripted-model.ts";
import { tool } from "../../src/tool.ts";
import type { ModelPort, ModelRequest, Store, ToolContext, ToolDefinition } from "../../src/ports.ts";
import { FaultyStore } from "./faulty-store.ts";
import { checkFold, checkJournal, checkPartials, checkReplay, checkRequests, checkShown } from "./invariants.ts";

vi.setConfig({ testTimeout: 5_000 });
/** Real time that something may take which only needs disk and promises. */
const PATIENCE_MS = 2_000;

export type Setup = Omit<Partial<AgentOptions>, "model"> & {
  script?: Script;
  model?: ModelPort;
  session?: SessionOptions;
};
export type Opened = { agent: Agent; session: Session; model: ScriptedModel; events: SessionEvent[] };
type Watched = { session: Session; store: Store; events: SessionEvent[]; model: ScriptedModel; isNew: boolean };

export class World {
  readonly clock = fakeClock();
  readonly ids = fakeIds();
  readonly warnings: string[] = [];
  /** What tools did, in the order they did it. */
  readonly ran: string[] = [];
  /** Set by tests that leave a session torn on purpose. */
  skips = { fold: false, journal: false, partials: false };
  store: Store = memoryStore({ clock: this.clock });
  readonly #watched: Watched[] = [];
  readonly #folders: string[] = [];

  /** `look` may always run, `write` asks. Both note what they did. */
  readonly tools = {
    look: readTool(({ path }) => {
      this.ran.push(`look ${path}`);
      return `seen ${path}`;
    }),
    write: writeTool(({ path }) => {
      this.ran.push(`write ${path}`);
      return `written ${path}`;
    }),
  };

  agent(setup: Setup = {}): { agent: Agent; model: ScriptedModel } {
    const { script = [], session: _, ...options } = setup;
    const model = scriptedModel(script);
    const agent = createAgent({
      model,
      tools: this.tools,
      store: this.store,
      clock: this.clock,
      ids: this.ids,
      logger: { warn: (message) => this.warnings.push(message) },
      ...options,
    });
    return { agent, model };
  }

  async open(script: Script, setup: Setup = {}): Promise<Opened> {
    const { agent, model } = this.agent({ ...setup, script });
    const session = await agent.createSession({ id: "s1", ...setup.session });
    return { agent, session, model, events: this.watch(session, model, setup.store, true) };
  }

  /** Another agent on the same store finds a session, as another process would. */
  async reopen(script: Script, setup: Setup = {}, id = "s1"): Promise<Opened> {
    const { agent, model } = this.agent({ ...setup, script });
    const session = await agent.resumeSession(id);
    return { agent, session, model, events: this.watch(session, model, setup.store) };
  }

  /** Reads everything a session shows, and has it checked when the test is over. */
  watch(session: Session, model: ScriptedModel, store: Store = this.store, isNew = false): SessionEvent[] {
    const events: SessionEvent[] = [];
    void (async () => {
      for await (const event of session.events({ partials: true })) events.push(event);
    })().catch((error: unknown) => this.warnings.push(`reader: ${String(error)}`));
    this.#watched.push({ session, store, events, model, isNew });
    return events;
  }

  /** A store in a folder of its own; `again` opens the same folder as another process would. */
  folder(): { store: Store; again: () => Store; dir: string } {
    const dir = mkdtempSync(join(tmpdir(), "rcra-test-"));
    this.#folders.push(dir);
    const open = () => jsonlStore(dir, { clock: this.clock, logger: { warn: (m) => this.warnings.push(m) } });
    return { store: (this.store = open()), again: open, dir };
  }

  faulty(base: Store = this.store): FaultyStore {
    const store = new FaultyStore(base);
    this.store = store;
    return store;
  }

  async records(id = "s1", store: Store = this.store): Promise<JournalRecord[]> {
    const records: JournalRecord[] = [];
    for await (const chunk of store.read(id)) records.push(...chunk);
    return records;
  }

  /** Lets everything ready happen until something holds. */
  async until(holds: () => boolean, what = String(holds)): Promise<void> {
    for (const start = performance.now(); performance.now() - start < PATIENCE_MS;) {
      if (holds()) return;
      await settled();
    }
    throw new Error(`it never came to be that ${what}`);
  }

  async verify(): Promise<void> {
    for (let i = 0; i < 5; i++) await settled();
    const seen = new Map<string, JournalRecord[]>();
    for (const { session, store, events, model, isNew } of this.#watched) {
      if (store instanceof FaultyStore && store.isDead) continue;
      let records: JournalRecord[];
      try {
        records = await this.records(session.id, store);
      } catch {
        continue;
      }
      if (!seen.has(session.id) && !this.skips.journal) {
        checkJournal(records);
        await checkReplay(records);
      }
      seen.set(session.id, records);
      const atRest = session.state === "idle" || session.state === "suspended" || session.state === "closed";
      checkRequests(
        model.requests,
        records.some((r) => r.type === "compaction.applied"),
      );
      if (this.skips.fold) continue;
      checkShown(events);
      if (isNew && !this.skips.partials && store.capabilities.durability === "process") checkPartials(events, atRest);
      // Of several handles on one session only the last to act knows all of it.
      const head = events.findLast((e) => "seq" in e);
      if (atRest && head && "seq" in head && head.seq === records.length) checkFold(records, session);
    }
  }

  clean(): void {
    for (const dir of this.#folders) rmSync(dir, { recursive: true, force: true });
  }
}

/** A test with a world of its own, whose invariants are checked after it. */
export const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern
  world: async ({}, use) => {
    const world = new World();
    await use(world);
    try {
      await world.verify();
    } finally {
      world.clean();
    }
  },
});

type Path = { path: string };
type Extra = Partial<Omit<ToolDefinition, "execute" | "parse" | "parameters" | "target">>;
const make = (execute: (args: Path, context: ToolContext<any>) => unknown, readOnly: boolean, extra: Extra) =>
  tool({
    description: "A tool.",
    input: z.object({ path: z.string() }),
    readOnly,
    execute: async (args: Path, context: ToolContext<any>) => execute(args, context),
    ...(extra as object),
  });

/** A tool on a path that may always run. */
export const readTool = (execute: (args: Path, context: ToolContext<any>) => unknown, extra: Extra = {}) =>
  make(execute, true, extra);
/** A tool on a path that asks. */
export const writeTool = (execute: (args: Path, context: ToolContext<any>) => unknown, extra: Extra = {}) =>
  make(execute, false, extra);

/** A call as the model writes it. */
export const call = (name: string, path: string) => ({ name, args: { path } });
export const look = (...paths: string[]) => ({ calls: paths.map((path) => call("look", path)) });
export const write = (...paths: string[]) => ({ calls: paths.map((path) => call("write", path)) });

/** A promise with its handle. */
export function gate<T = void>() {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  return { promise, open: resolve, fail: reject };
}

/** Results of a history by call id. */
export const resultsOf = (messages: readonly Message[]): ToolResultPart[] =>
  messages.flatMap((m) => (m.role === "tool" ? m.parts : []));
/** Each result as `status text`. */
export const told = (messages: readonly Message[]): string[] =>
  resultsOf(messages).map((r) => `${r.status} ${textOf(r.output)}`);
/** Each message as `role text`. */
export const said = (messages: readonly Message[]): string[] =>
  messages.map(
    (m) => `${m.role} ${m.role === "tool" ? m.parts.map((p) => textOf(p.output)).join("|") : textOf(m.parts)}`,
  );
/** The newest message of a request, as text. */
export const newest = (request: ModelRequest | undefined): string => said(request?.messages.slice(-1) ?? [])[0] ?? "";

/** The record of a type; fails when there is not exactly one. */
export function only<T extends SessionEvent["type"]>(events: readonly SessionEvent[], type: T) {
  const found = events.filter((e): e is Extract<SessionEvent, { type: T }> => e.type === type);
  expect(found, `one ${type}`).toHaveLength(1);
  return found[0]!;
}
export const all = <T extends SessionEvent["type"]>(events: readonly SessionEvent[], type: T) =>
  events.filter((e): e is Extract<SessionEvent, { type: T }> => e.type === type);

/** How a promise stands after everything ready has happened. */
export async function standing<T>(promise: Promise<T>): Promise<T | "pending"> {
  for (let i = 0; i < 5; i++) await settled();
  return Promise.race([promise, Promise.resolve("pending" as const)]);
}

/** The code that a promise rejects with. */
export const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => `resolved ${JSON.stringify(value)}`,
    (error: { code?: unknown }) => error.code ?? error,
  );
export const statusOf = (result: RunResult): string =>
  `${result.status}${result.error ? `(${result.error.code})` : ""}`;
export { settled };

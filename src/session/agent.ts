/** An agent: a definition without state, and the door to its sessions. */
import { systemClock, systemIds } from "../adapters/system.ts";
import { memoryStore } from "../adapters/store/memory.ts";
import { asked, requestOf } from "../core/batch.ts";
import type { ApprovalRequest } from "../core/call.ts";
import { AgentError } from "../core/errors.ts";
import { estimateMessages, estimateText, type Count } from "../core/budget.ts";
import type { SessionConfig } from "../core/config.ts";
import type { InputOf, JournalRecord } from "../core/event.ts";
import type { CompactionSettings, Limits } from "../core/limits.ts";
import type { Message } from "../core/message.ts";
import { pairingFault } from "../core/pairing.ts";
import { chainOf, type Chain } from "../middleware/middleware.ts";
import type { Clock, Ids, Logger, ModelPort, ModelSettings, SessionInfo, Store } from "../ports.ts";
import { gatherTools } from "../effects/catalogue.ts";
import { Engine } from "./engine.ts";
import { checkRecord } from "./check-record.ts";
import { asAgentError } from "./store-errors.ts";
import { forkJournal } from "./fork.ts";
import { SessionFold } from "./fold.ts";
import type { UsageReport } from "./ledger.ts";
import { checkAgent, checkBudget, checkCompaction, checkLimits, checkRoom, checkSession } from "./options.ts";
import type { AgentOptions, RunOptions, SessionOptions, Tools } from "./options.ts";
import { Session } from "./session.ts";
import { slicesOf } from "./slices.ts";

/** An agent's options, checked and completed: what every one of its sessions shares. */
export type Parts = {
  name: string;
  model: ModelPort;
  summaryModel: ModelPort | undefined;
  instructions: string;
  /** How tokens are counted. */
  count: Count;
  tools: Tools;
  chain: Chain;
  /** A middleware decides its tools anew each time. */
  dynamicTools: boolean;
  store: Store;
  settings: ModelSettings;
  limits: Limits;
  compaction: CompactionSettings;
  defaults: RunOptions;
  inspect: AgentOptions["inspect"];
  logger: Logger;
  clock: Clock;
  ids: Ids;
  /** This agent, as the holder of leases. */
  owner: string;
  config: SessionConfig;
  jitter: () => number;
  fold: (id: string) => Promise<SessionFold>;
};

/** A journal as read without a lease. */
export type SessionReading = {
  records: JournalRecord[];
  messages: Message[];
  pending: ApprovalRequest[];
  usage: UsageReport;
  title: string | undefined;
  info: SessionInfo | undefined;
};

/**
 * Makes an agent.
 * @throws AgentError `invalid_options`, naming each wrong option by its path
 */
export function createAgent(options: AgentOptions): Agent {
  return new Agent(partsOf(options));
}

function partsOf(options: AgentOptions): Parts {
  checkAgent(options);
  const limits = checkLimits(options.limits);
  const { model: summaryModel, tokenizer, ...compactionOptions } = options.compaction ?? {};
  const compaction = checkCompaction({ window: options.model.window, ...compactionOptions });
  const count = tokenizer?.count ?? estimateText;
  const chain = chainOf(options.middleware ?? []);
  const tools = options.tools ?? {};
  const instructions = options.instructions ?? "";
  const base = count(instructions) + gatherTools({ agent: tools, chain, sessionId: "" }).tokens;
  checkRoom(compaction, base);
  checkBudget({}, { limits, model: options.model });
  const ids = options.ids ?? systemIds;
  const store = options.store ?? memoryStore();
  const reviews = { input: chain.some((m) => m.onInput), stop: chain.some((m) => m.onStop) };
  return {
    name: options.name ?? "agent",
    model: options.model,
    summaryModel,
    instructions,
    count,
    tools,
    chain,
    dynamicTools: chain.some((m) => typeof m.tools === "function"),
    store,
    settings: options.settings ?? {},
    limits,
    compaction,
    defaults: options.defaults ?? {},
    inspect: options.inspect,
    logger: options.logger ?? { warn: (message) => console.warn(`rcra: ${message}`) },
    clock: options.clock ?? systemClock,
    ids,
    owner: ids.next("agent"),
    config: { limits, compaction, reviews, base },
    jitter: Math.random,
    fold: async (id) => {
      const fold = new SessionFold();
      for await (const slice of slicesOf(store.read(id))) for (const record of slice) fold.append(checkRecord(record));
      if (fold.head === 0) throw new AgentError("not_found", `Session ${id} has an empty journal.`);
      return fold;
    },
  };
}

export class Agent {
  readonly name: string;
  readonly #parts: Parts;
  readonly #live = new Map<string, WeakRef<Session>>();
  readonly #gone = new FinalizationRegistry<string>((id) => {
    if (!this.#live.get(id)?.deref()) this.#live.delete(id);
  });
  readonly #opening = new Map<string, Promise<Session>>();
  #closed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.name = parts.name;
  }

  /** A new session; its first record is durable when this resolves. */
  async createSession(options: SessionOptions = {}): Promise<Session> {
    this.#assertOpen();
    checkSession(options);
    const parts = this.#parts;
    const id = options.id ?? parts.ids.next("session");
    const { workspace, context, history = [] } = options;
    const fault = pairingFault(history);
    if (fault) throw new AgentError("invalid_options", `session.history: ${fault}`);
    const engine = new Engine(parts, { id, instructions: parts.instructions, workspace, context });
    const opened: InputOf<"session.opened"> = {
      type: "session.opened",
      id,
      agent: parts.name,
      instructions: parts.instructions,
      tools: engine.catalogue().names,
      config: parts.config,
    };
    if (workspace !== undefined) opened.workspace = workspace;
    if (options.metadata !== undefined) opened.metadata = options.metadata;
    const imported: InputOf<"history.imported"> | undefined = history.length
      ? { type: "history.imported", messages: history, tokens: estimateMessages(history, parts.count) }
      : undefined;
    try {
      await engine.open(opened, imported);
    } catch (error) {
      throw asAgentError(error, id);
    }
    return this.#keep(engine, options.autorun);
  }

  /** The live session of this process, else a resumed one; with `create`, else a new one. Asked twice at once, it is one. */
  openSession(id: string, options: { create?: boolean } & Omit<SessionOptions, "id"> = {}): Promise<Session> {
    const live = this.#live.get(id)?.deref();
    if (live && live.state !== "closed") return Promise.resolve(live);
    const opening = this.#opening.get(id) ?? this.#open(id, options).finally(() => this.#opening.delete(id));
    this.#opening.set(id, opening);
    return opening;
  }

  async #open(id: string, options: { create?: boolean } & Omit<SessionOptions, "id">): Promise<Session> {
    const { create, ...rest } = options;
    try {
      return await this.resumeSession(id, rest);
    } catch (error) {
      if (create && error instanceof AgentError && error.code === "not_found")
        return this.createSession({ ...rest, id });
      throw error;
    }
  }

  /** Opens a session from its journal. Starts nothing and holds no lease. @throws AgentError `not_found`, `journal_corrupt`, `version` */
  async resumeSession(id: string, options: { context?: unknown; autorun?: RunOptions } = {}): Promise<Session> {
    this.#assertOpen();
    try {
      const fold = await this.#parts.fold(id);
      const { opened } = fold.ledger;
      const { instructions, workspace } = opened!;
      const engine = new Engine(this.#parts, { id, instructions, workspace, context: options.context });
      await engine.load(fold);
      return this.#keep(engine, options.autorun);
    } catch (error) {
      throw asAgentError(error, id);
    }
  }

  /**
   * A new session that begins as another one did, up to record `at` (default: all of it) and what was announced with it.
   * What was open then is open again: `continue()` goes on, approvals wait. The other session is not touched.
   * @throws AgentError `not_found`, `invalid_options`
   */
  async forkSession(from: string, options: { at?: number; id?: string; context?: unknown } = {}): Promise<Session> {
    this.#assertOpen();
    const { store, ids, owner, name, clock } = this.#parts;
    const { at, context } = options;
    checkSession(options.id === undefined ? {} : { id: options.id });
    const id = options.id ?? ids.next("session");
    try {
      await forkJournal({ store, from, id, at, owner, agent: name, now: clock.now() });
    } catch (error) {
      throw asAgentError(error, from);
    }
    return this.resumeSession(id, { context });
  }

  #keep(engine: Engine, autorun: RunOptions | undefined): Session {
    const session = new Session(engine, autorun);
    this.#live.set(session.id, new WeakRef(session));
    this.#gone.register(session, session.id);
    return session;
  }

  /** What a journal says, without opening the session. */
  async read(id: string): Promise<SessionReading> {
    try {
      const fold = new SessionFold();
      const records: JournalRecord[] = [];
      for await (const slice of slicesOf(this.#parts.store.read(id)))
        for (const record of slice) {
          records.push(checkRecord(record));
          fold.append(record);
        }
      const pending = records.length ? asked(fold.context.draft?.calls ?? []).map(requestOf) : [];
      const messages = fold.transcript.messages();
      fold.stop();
      const { usage, title } = fold.ledger;
      return { records, messages, pending, usage, title, info: await this.#parts.store.info(id) };
    } catch (error) {
      throw asAgentError(error, id);
    }
  }

  async listSessions(options: { limit?: number; prefix?: string } = {}): Promise<SessionInfo[]> {
    return await this.#parts.store.list(options);
  }

  /** Removes a session and its files. @throws AgentError `busy` while somebody runs it */
  async deleteSession(id: string): Promise<void> {
    try {
      await this.#parts.store.delete(id);
      this.#live.delete(id);
    } catch (error) {
      throw asAgentError(error, id);
    }
  }

  /**
   * Closes every live session but those that are suspended: their approvals stay open for another day. Waits for their
   * runs to end, at most `graceMs`.
   */
  async close(options: { graceMs?: number } = {}): Promise<void> {
    this.#closed = true;
    const { graceMs = 5_000 } = options;
    const open = [...this.#live.values()].flatMap((ref) => ref.deref() ?? []).filter((s) => s.state !== "suspended");
    const closing = Promise.all(open.map((session) => session.close()));
    let stop = () => {};
    const late = new Promise<void>((resolve) => {
      stop = this.#parts.clock.setTimer(graceMs, resolve);
    });
    await Promise.race([closing, late]);
    stop();
    this.#live.clear();
  }

  #assertOpen(): void {
    if (this.#closed) throw new AgentError("closed", `Agent ${this.name} is closed.`);
  }
}

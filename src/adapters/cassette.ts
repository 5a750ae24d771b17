/** A recorded session as model, tools and approver: it plays what its journal holds, and nothing else. */
import { difference, type Difference } from "../core/difference.ts";
import { AgentError } from "../core/errors.ts";
import type { InputOf, JournalRecord } from "../core/event.ts";
import type { ApprovalRequest, Decision } from "../core/call.ts";
import { textOf, type ContentPart, type Message } from "../core/message.ts";
import { Transcript } from "../core/transcript.ts";
import type { ModelChunk, ModelPort, ModelRequest, ToolContext, ToolDefinition } from "../ports.ts";
import { content, tool } from "../tool.ts";

export type Cassette = {
  /** Answers each request as it was answered then, if it is the same request. */
  model: ModelPort;
  /** Frozen instructions of the recorded session: a session that is to match needs the same. */
  instructions: string;
  /** What the user said in each run, in order. */
  prompts: ContentPart[][];
  /**
   * Tools that return what was returned then. Given the real ones, their schemas are kept and only `execute` is replaced;
   * without them every recorded name takes any object.
   */
  tools(real?: { [name: string]: ToolDefinition }): { [name: string]: ToolDefinition };
  /** Decides as was decided then. Calls that nobody decided are left out. */
  approve: (requests: ApprovalRequest[]) => Promise<Decision[]>;
  /** @throws Error when requests of the recording were never made */
  assertDone(): void;
};

/**
 * Makes a cassette of a journal's records. Strict: a request or a call that differs from the recorded one fails with the
 * place of the first difference. Instructions are compared as far as the journal has them (what middleware contributed
 * is not in it); ids of messages may differ.
 * @throws AgentError `invalid_options` for records that do not begin with `session.opened`
 */
export function cassette(records: readonly JournalRecord[]): Cassette {
  const [opened] = records;
  if (opened?.type !== "session.opened")
    throw new AgentError("invalid_options", "cassette(): expected the records of a journal, from session.opened on");
  const tape = new Tape(records, opened.instructions);
  const names = new Set(opened.tools);
  const asked = new Set<string>();
  for (const r of records)
    if (r.type === "tool.started") names.add(r.name);
    else if (r.type === "approval.requested") for (const { name } of r.requests) asked.add(name);
  return {
    model: {
      id: `cassette of ${opened.id}`,
      standIn: () => tape.standIn,
      stream: (request, { signal }) => tape.stream(request, signal),
    },
    instructions: opened.instructions,
    prompts: records.flatMap((r) =>
      r.type === "input.received" && r.kind === "prompt" && !r.steering ? [r.parts] : [],
    ),
    tools(real) {
      const given = real ?? Object.fromEntries([...names].map((name) => [name, anyTool(name, !asked.has(name))]));
      const playing = Object.entries(given).map(([name, definition]) => {
        const execute = (args: unknown, context: ToolContext) => tape.call(name, args, context);
        return [name, { ...definition, execute }] as const;
      });
      return Object.fromEntries(playing);
    },
    approve: async (requests) => requests.flatMap(({ callId }) => tape.decision(callId) ?? []),
    assertDone: () => tape.assertDone(),
  };
}

const anyTool = (name: string, readOnly: boolean): ToolDefinition =>
  tool({ description: `${name}, as recorded`, input: { type: "object" }, execute: () => "", readOnly });

type Outcome = InputOf<"model.completed"> | InputOf<"model.failed">;

/** The records, and how far they have been played. */
class Tape {
  readonly #records: readonly JournalRecord[];
  readonly #instructions: string;
  readonly #transcript = new Transcript();
  #at = 0;
  #tools: readonly string[] | undefined;
  /** The model that stood in after the failure just played. */
  standIn: string | undefined;

  constructor(records: readonly JournalRecord[], instructions: string) {
    this.#records = records;
    this.#instructions = instructions;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelChunk, void, void> {
    if (request.purpose !== "turn") return yield* this.#aside(request.purpose);
    const found = this.#next(request);
    if ("miss" in found) return yield failed(found.miss);
    const { outcome } = found;
    this.standIn = outcome.type === "model.failed" ? outcome.failure.next : undefined;
    yield* chunksOf(outcome.type === "model.completed" ? outcome.message.parts : outcome.parts);
    if (outcome.usage) yield { type: "usage", usage: outcome.usage };
    if (outcome.type === "model.completed") {
      const model = outcome.model === undefined ? {} : { model: outcome.model };
      yield { type: "finish", reason: outcome.finishReason, ...model };
    } else {
      if (outcome.failure.class === "cancelled") await aborted(signal);
      const { next: _, ...failure } = outcome.failure;
      yield { type: "failed", failure };
    }
  }

  /** The next recorded request, when this is it, and how it was answered. */
  #next(request: ModelRequest): { outcome: Outcome } | { miss: string } {
    const records = this.#records;
    let at = this.#at;
    for (; at < records.length; at++) {
      const record = records[at]!;
      this.#transcript.append(record);
      if (record.type === "request.prepared") this.#tools = record.tools;
      if (record.type === "attempt.started") break;
    }
    this.#at = at + 1;
    const place = records[at];
    if (!place) return { miss: "The cassette ends here: one request more was made than it holds." };
    const miss = this.#differs(request);
    if (miss) return { miss: sentence(`request at record ${place.seq}`, miss) };
    const outcome = records.slice(at).find((r) => r.type === "model.completed" || r.type === "model.failed");
    return outcome ? { outcome } : { miss: `The cassette ends before request ${place.seq} was answered.` };
  }

  #differs(request: ModelRequest): Difference | undefined {
    const instructions = this.#instructions;
    const actual = {
      instructions: request.instructions.startsWith(instructions) ? instructions : request.instructions,
      tools: request.tools.map((t) => t.name),
      messages: request.messages.map(withoutId),
    };
    const { view } = this.#transcript;
    const tools = this.#tools?.toSorted() ?? actual.tools;
    return difference(
      { instructions, tools, messages: view.map(withoutId) },
      { ...actual, tools: actual.tools.toSorted() },
    );
  }

  /** Summaries and titles: the next one of the recording. */
  *#aside(purpose: "summary" | "title"): Generator<ModelChunk, void, void> {
    for (const r of this.#records.slice(this.#at)) {
      if (purpose === "title" && r.type === "title.generated") return yield* said(r.title, r.usage);
      if (purpose === "summary" && r.type === "compaction.failed") return yield failed(r.message);
      if (purpose === "summary" && r.type === "compaction.completed" && r.directive?.kind === "summarize")
        return yield* said(`[summary]${r.directive.text}[/summary]`, r.usage);
    }
    yield failed(`The cassette holds no ${purpose} from here on.`);
  }

  async call(name: string, args: unknown, { callId, signal }: ToolContext): Promise<unknown> {
    const started = this.#records.find((r) => r.type === "tool.started" && r.callId === callId);
    if (started?.type !== "tool.started") throw new Error(`The cassette has no call ${callId} of ${name}.`);
    const miss = difference({ name: started.name, args: started.args as unknown }, { name, args });
    if (miss) throw new Error(sentence(`call ${callId}`, miss));
    const settled = this.#records.find((r) => r.type === "tool.settled" && r.callId === callId);
    if (settled?.type !== "tool.settled") throw new Error(`The cassette ends before ${callId} of ${name} settled.`);
    if (settled.status === "ok") return content(settled.output);
    if (settled.status !== "failed") await aborted(signal);
    throw new Error(textOf(settled.output));
  }

  decision(callId: string): Decision | undefined {
    for (const r of this.#records) {
      const made = r.type === "approval.settled" ? r.decisions.find((d) => d.callId === callId) : undefined;
      if (!made || made.decision === "timeout") continue;
      const decision: Decision = { callId, decision: made.decision };
      if (made.reason !== undefined) decision.reason = made.reason;
      if (made.text !== undefined) decision.text = made.text;
      if (made.edited) decision.args = made.edited.args as unknown;
      return decision;
    }
    return undefined;
  }

  assertDone(): void {
    const left = this.#records.slice(this.#at).find((r) => r.type === "attempt.started");
    if (left) throw new Error(`The cassette was not played to its end: request at record ${left.seq} was never made.`);
  }
}

const failed = (message: string): ModelChunk => ({ type: "failed", failure: { class: "fatal", message } });

function* said(text: string, usage: InputOf<"model.completed">["usage"]): Generator<ModelChunk, void, void> {
  yield { type: "text", delta: text };
  if (usage) yield { type: "usage", usage };
  yield { type: "finish", reason: "stop" };
}

function* chunksOf(parts: InputOf<"model.failed">["parts"]): Generator<ModelChunk, void, void> {
  for (const [i, part] of parts.entries()) {
    const opaque = part.opaque ? { opaque: part.opaque } : {};
    const key = String(i);
    if (part.type !== "tool-call") yield { type: part.type, delta: part.text, key, ...opaque };
    else {
      const wireId = part.wireId === undefined ? {} : { wireId: part.wireId };
      yield {
        type: "tool-call",
        key,
        name: part.name,
        delta: part.raw ?? JSON.stringify(part.args),
        ...wireId,
        ...opaque,
      };
    }
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

const withoutId = (message: Message): object => ({ ...message, id: undefined });

function sentence(what: string, { path, expected, actual }: Difference): string {
  const short = (value: unknown) => {
    const json = JSON.stringify(value) ?? "nothing";
    return json.length > 200 ? `${json.slice(0, 200)}…` : json;
  };
  return `The cassette expects another ${what}: ${path || "all of it"} was ${short(expected)}, and is ${short(actual)}.`;
}

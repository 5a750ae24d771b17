/** Reads the chunks of a chat completion, whatever a provider makes of the format. */
import type { Failure } from "../../core/failure.ts";
import type { Usage } from "../../core/usage.ts";
import type { ModelChunk } from "../../ports.ts";
import { ChatCalls } from "./chat-calls.ts";
import { fields, findUsage, readUsage, type Fields } from "./chat-usage.ts";
import { classifyError, malformed, type Peer } from "./classify.ts";
import { outcomeOf, type Outcome } from "./finish-reason.ts";
import { isErrorObject, providerError } from "./provider-error.ts";
import { contentText, mergeDetails, readReasoning, reasoningOpaque, type ReasoningField } from "./reasoning.ts";

type Thinking = { key: string; field: ReasoningField; details: { [key: string]: unknown }[] };

/**
 * Turns wire chunks into ours. Feed `take` each parsed chunk, then call `end` once; a `failed` chunk ends it early.
 * Usage is reported once, before the finish: where it comes in several chunks the last one counts.
 */
export class ChatReader {
  readonly #peer: Peer & { hostname: string };
  readonly #price: (usage: Usage) => number | undefined;
  readonly #calls: ChatCalls;
  #thinking: Thinking | undefined;
  #stretches = 0;
  #spoke = false;
  #usage: Usage | undefined;
  #model: string | undefined;
  #outcome: Outcome | undefined;
  #chunks = 0;

  constructor(options: {
    peer: Peer & { hostname: string };
    /** From a tool's wire name to its own. */
    toolName: (wire: string) => string;
    costUsd: (usage: Usage) => number | undefined;
  }) {
    this.#peer = options.peer;
    this.#price = options.costUsd;
    this.#calls = new ChatCalls(options.toolName);
  }

  /** Whether a finish reason was read: the answer is whole, though usage may still come. */
  get finished(): boolean {
    return this.#outcome !== undefined;
  }

  /** What one chunk adds. Things that are no chunk (pings, `null`) add nothing. */
  take(chunk: unknown): ModelChunk[] {
    this.#chunks++;
    const body = fields(chunk);
    if (!body) return [];
    if (isErrorObject(body)) return this.#failed(classifyError(providerError(body), this.#peer));
    if (body["object"] === "text_completion")
      return this.#failed(malformed(this.#peer, "answers in the format of legacy Completions. Use a chat endpoint."));
    if (typeof body["model"] === "string" && body["model"]) this.#model = body["model"];
    const choice = firstChoice(body["choices"]);
    const usage = findUsage(body, choice);
    if (usage) this.#keepUsage(readUsage(usage));
    if (!choice) return [];
    if (fields(choice["error"])) return this.#failed(classifyError(providerError(choice), this.#peer));
    const delta = fields(choice["delta"]);
    const out = delta ? this.#delta(delta) : [];
    this.#finish(choice["finish_reason"]);
    return out;
  }

  /** The last chunks of a stream that ended without an error. */
  end(): ModelChunk[] {
    const out = this.#closeThinking();
    const outcome = this.#outcome;
    if (!outcome) {
      const why = this.#chunks ? "without saying why (no finish reason)" : "before it said anything";
      return [...out, ...this.#failed(malformed(this.#peer, `ended its answer ${why}.`))];
    }
    if (typeof outcome !== "string") return [...out, ...this.#failed(outcome)];
    const calls = this.#calls.count > 0;
    if (outcome === "tool-calls" && !calls && !this.#spoke)
      return this.#failed(malformed(this.#peer, "said that it calls tools, and called none."));
    const reason = outcome === "length" ? "length" : calls ? "tool-calls" : "stop";
    return [...out, ...this.usage(), { type: "finish", reason, ...(this.#model && { model: this.#model }) }];
  }

  /** What was reported of usage so far; also worth knowing of a stream that failed. */
  usage(): ModelChunk[] {
    if (!this.#usage) return [];
    const cost = this.#price(this.#usage);
    return [{ type: "usage", usage: { ...this.#usage, ...(cost !== undefined && { costUsd: cost }) } }];
  }

  #delta(delta: Fields): ModelChunk[] {
    const out: ModelChunk[] = [];
    this.#think(delta, out);
    // A refusal is the model's answer, in its own words.
    const text = contentText(delta["content"]) + contentText(delta["refusal"]);
    const calls = this.#calls.take(delta);
    if (text || calls.length) out.push(...this.#closeThinking());
    if (text) out.push({ type: "text", delta: text });
    this.#spoke ||= text !== "";
    out.push(...calls);
    return out;
  }

  #think(delta: Fields, out: ModelChunk[]): void {
    const read = readReasoning(delta);
    if (!read) return;
    const opens = !this.#thinking;
    this.#thinking ??= { key: `thinking-${++this.#stretches}`, field: read.field, details: [] };
    const { key, field, details } = this.#thinking;
    mergeDetails(details, read.details);
    const opaque = opens && field !== "reasoning_details" && reasoningOpaque(field, this.#peer.hostname);
    if (read.text || opaque) out.push({ type: "thinking", delta: read.text, key, ...(opaque && { opaque }) });
  }

  /** Reasoning items are whole only when something else begins. */
  #closeThinking(): ModelChunk[] {
    const open = this.#thinking;
    this.#thinking = undefined;
    if (!open?.details.length) return [];
    const opaque = reasoningOpaque("reasoning_details", this.#peer.hostname, open.details);
    return [{ type: "thinking", delta: "", key: open.key, opaque }];
  }

  #finish(reason: unknown): void {
    if (typeof reason !== "string" || reason === "") return;
    // Some send two reasons. One that says "not whole" is not taken back by a later one.
    if (this.#outcome === undefined || this.#outcome === "stop" || this.#outcome === "tool-calls")
      this.#outcome = outcomeOf(reason, this.#peer);
  }

  #keepUsage(usage: Usage): void {
    const says = (u: Usage) => Boolean(u.input || u.output);
    if (!this.#usage || says(usage)) this.#usage = usage;
  }

  #failed(failure: Failure): ModelChunk[] {
    return [...this.usage(), { type: "failed", failure }];
  }
}

/** The first answer; requests for several are not ours. */
function firstChoice(choices: unknown): Fields | undefined {
  if (!Array.isArray(choices)) return undefined;
  const choice = fields(choices[0]);
  return choice && !(typeof choice["index"] === "number" && choice["index"] > 0) ? choice : undefined;
}

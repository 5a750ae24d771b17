/** Reads the events of a Responses stream. */
import type { Failure } from "../../core/failure.ts";
import type { Json, Opaque } from "../../core/message.ts";
import type { Usage } from "../../core/usage.ts";
import type { ModelChunk } from "../../ports.ts";
import { fields, readUsage, type Fields } from "./chat-usage.ts";
import { classifyError, malformed, type Peer } from "./classify.ts";
import { outcomeOf, type Outcome } from "./finish-reason.ts";
import type { Reader } from "./openai.ts";
import { isErrorObject, providerError } from "./provider-error.ts";
import { PROVIDER } from "./responses-input.ts";
import { ownFields, unanswered } from "./responses-items.ts";

/** One output item, told by its place: ids change on the way with some servers. */
type Open = { type: string; spoke: boolean };

/**
 * Turns events into chunks. Text, thinking and arguments stream; an item is closed when it is whole, and what the provider
 * wants back of it goes along as opaque data. Items that the provider made for itself (searches, programs, their outputs)
 * are kept the same way, as thinking without words.
 */
export class ResponsesReader implements Reader {
  readonly #peer: Peer & { hostname: string };
  readonly #toolName: (wire: string) => string;
  readonly #price: (usage: Usage) => number | undefined;
  readonly #open = new Map<unknown, Open>();
  readonly #done: Fields[] = [];
  #usage: Usage | undefined;
  #model: string | undefined;
  #outcome: Outcome | undefined;

  constructor(options: {
    peer: Peer & { hostname: string };
    toolName: (wire: string) => string;
    costUsd: (usage: Usage) => number | undefined;
  }) {
    this.#peer = options.peer;
    this.#toolName = options.toolName;
    this.#price = options.costUsd;
  }

  get finished(): boolean {
    return this.#outcome !== undefined;
  }

  take(event: unknown): ModelChunk[] {
    const body = fields(event);
    if (!body || this.finished) return [];
    const { type, delta, output_index: place } = body as { type?: unknown; delta?: unknown; output_index?: unknown };
    const words = typeof delta === "string" ? delta : "";
    switch (type) {
      case "response.output_item.added":
        return this.#begin(place, fields(body["item"]) ?? {});
      case "response.output_text.delta":
      case "response.refusal.delta":
        return this.#say("text", place, words);
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return this.#say("thinking", place, words);
      case "response.reasoning_summary_part.added":
        // Paragraphs of one summary.
        return Number(body["summary_index"]) > 0 ? this.#say("thinking", place, "\n\n") : [];
      case "response.function_call_arguments.delta":
        return this.#argue(place, words);
      case "response.output_item.done":
        return this.#end(place, fields(body["item"]) ?? {});
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.#conclude(type, fields(body["response"]) ?? {});
      default:
        return isErrorObject(body) ? this.#failed(classifyError(providerError(body), this.#peer)) : [];
    }
  }

  end(): ModelChunk[] {
    const outcome = this.#outcome;
    if (!outcome) {
      const why = this.#open.size ? "before it said that it was complete" : "before it said anything";
      return this.#failed(malformed(this.#peer, `ended its answer ${why}.`));
    }
    if (typeof outcome !== "string") return this.#failed(outcome);
    const open = unanswered(this.#done);
    if (open && outcome !== "length")
      return this.#failed({
        class: "fatal",
        message: `${this.#peer.host} asks for ${open}, which has to be done for it and is not supported. Use function tools instead.`,
      });
    const calls = this.#done.some((item) => item["type"] === "function_call" || item["type"] === "custom_tool_call");
    const reason = outcome === "length" ? "length" : calls ? "tool-calls" : "stop";
    return [...this.usage(), { type: "finish", reason, ...(this.#model && { model: this.#model }) }];
  }

  usage(): ModelChunk[] {
    if (!this.#usage) return [];
    const cost = this.#price(this.#usage);
    return [{ type: "usage", usage: { ...this.#usage, ...(cost !== undefined && { costUsd: cost }) } }];
  }

  #begin(place: unknown, item: Fields): ModelChunk[] {
    const type = String(item["type"]);
    this.#open.set(place, { type, spoke: false });
    return type === "function_call" ? [this.#call(place, item, "")] : [];
  }

  #say(type: "text" | "thinking", place: unknown, delta: string): ModelChunk[] {
    if (delta === "") return [];
    this.#spoke(place, type === "text" ? "message" : "reasoning");
    return [{ type, delta, key: `item-${String(place)}` }];
  }

  #argue(place: unknown, delta: string): ModelChunk[] {
    this.#spoke(place, "function_call");
    return [{ type: "tool-call", key: `item-${String(place)}`, delta }];
  }

  #spoke(place: unknown, type: string): void {
    const open = this.#open.get(place);
    if (open) open.spoke = true;
    else this.#open.set(place, { type, spoke: true });
  }

  /** An item is whole. What did not stream before comes now. */
  #end(place: unknown, item: Fields): ModelChunk[] {
    const spoke = this.#open.get(place)?.spoke === true;
    const key = `item-${String(place)}`;
    this.#open.set(place, { type: String(item["type"]), spoke: true });
    this.#done.push(item);
    switch (item["type"]) {
      case "message": {
        const more = ownFields(item);
        const opaque = more && this.#opaque("fields", more);
        const delta = spoke ? "" : textIn(item["content"]);
        return delta || opaque ? [{ type: "text", delta, key, ...(opaque && { opaque }) }] : [];
      }
      case "function_call":
        return [this.#call(place, item, spoke ? "" : String(item["arguments"] ?? ""))];
      case "custom_tool_call":
        return [this.#call(place, item, JSON.stringify({ input: item["input"] ?? "" }))];
      case "reasoning":
        return [
          { type: "thinking", delta: spoke ? "" : textIn(item["summary"]), key, opaque: this.#opaque("item", item) },
        ];
      default:
        return [{ type: "thinking", delta: "", key, opaque: this.#opaque("item", item) }];
    }
  }

  #call(place: unknown, item: Fields, delta: string): ModelChunk {
    const { name, call_id: id } = item;
    const more = ownFields(item);
    return {
      type: "tool-call",
      key: `item-${String(place)}`,
      delta,
      ...(typeof name === "string" && { name: this.#toolName(name) }),
      ...(typeof id === "string" && id !== "" && { wireId: id }),
      ...(more && { opaque: this.#opaque("fields", more) }),
    };
  }

  #opaque(what: "item" | "fields", value: Fields): Opaque {
    return { provider: PROVIDER, data: { host: this.#peer.hostname, [what]: value as Json } };
  }

  #conclude(type: string, response: Fields): ModelChunk[] {
    if (typeof response["model"] === "string" && response["model"]) this.#model = response["model"];
    const usage = fields(response["usage"]);
    if (usage) this.#usage = readUsage(usage);
    if (type === "response.failed")
      return this.#failed(classifyError(providerError(response["error"] ?? response), this.#peer));
    const why = fields(response["incomplete_details"])?.["reason"];
    this.#outcome = type === "response.completed" ? "stop" : outcomeOf(String(why ?? "length"), this.#peer);
    return [];
  }

  #failed(failure: Failure): ModelChunk[] {
    return [...this.usage(), { type: "failed", failure }];
  }
}

const textIn = (content: unknown): string =>
  Array.isArray(content)
    ? content.map((part) => String(fields(part)?.["text"] ?? fields(part)?.["refusal"] ?? "")).join("")
    : "";

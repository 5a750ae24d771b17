/** Reads the parts of an AI SDK stream. */
import type { Failure } from "../../core/failure.ts";
import type { Json, Opaque } from "../../core/message.ts";
import type { Usage } from "../../core/usage.ts";
import type { ModelChunk } from "../../ports.ts";
import { AiSdkCalls } from "./ai-sdk-calls.ts";
import { classifyAiSdk } from "./ai-sdk-failure.ts";
import { keptPart, metadataOf, opaqueName } from "./ai-sdk-opaque.ts";
import type { WirePart } from "./ai-sdk-spec.ts";
import { aiSdkUsage } from "./ai-sdk-usage.ts";
import { fields } from "./chat-usage.ts";
import { malformed, type Peer } from "./classify.ts";

type Block = { kind: "text" | "thinking"; key: string; metadata: string };

export type ReaderOptions = {
  peer: Peer;
  /** Of the model; names its opaque data. */
  provider: string;
  /** From a tool's wire name to its own. */
  toolName: (wire: string) => string;
  costUsd: (usage: Usage) => number | undefined;
  /** See {@link Family.countsFreshOnly}. */
  countsFreshOnly: boolean;
  warn: (message: string) => void;
};

/**
 * Turns stream parts into ours. Feed `take` each part until it gives a `finish` or a `failed`; a stream that ends before
 * is not whole. Sources are left out: they are references beside the text, not part of it.
 */
export class AiSdkReader {
  readonly #options: ReaderOptions;
  readonly #calls: AiSdkCalls;
  readonly #blocks = new Map<string, Block>();
  #count = 0;
  #spoke = false;
  #model: string | undefined;
  /** Of the response, when known: an error page reads like a stream that says nothing. */
  contentType: string | undefined;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#calls = new AiSdkCalls({
      toolName: options.toolName,
      opaque: (data) => this.#opaque(data as { [key: string]: Json }),
    });
  }

  take(part: WirePart): ModelChunk[] {
    switch (part.type) {
      case "stream-start":
        for (const warning of listOf(part["warnings"])) this.#options.warn(warningText(warning));
        return [];
      case "response-metadata":
        if (typeof part["modelId"] === "string") this.#model = part["modelId"];
        return [];
      case "text-start":
      case "text-delta":
      case "text-end":
        return this.#block("text", part);
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.#block("thinking", part);
      case "tool-input-start":
        return this.#calls.start(part);
      case "tool-input-delta":
        return this.#calls.delta(part);
      case "tool-call":
        if (this.#calls.isForeign(part)) return this.#keep(part);
        return this.#calls.whole(part) ?? [this.#malformed("sent a tool call's arguments twice, not the same.")];
      case "tool-result":
      case "custom":
        return this.#keep(part);
      case "file":
      case "reasoning-file":
        if (part.type === "file")
          this.#options.warn(
            `A file (${String(part["mediaType"])}) that the model made is kept for it, and not shown.`,
          );
        return this.#keep(part);
      case "tool-approval-request":
        return [
          failed({
            class: "fatal",
            message: `${this.#options.peer.host} asks for the approval of a tool that it runs itself, which cannot be given here. Configure that tool to need none.`,
          }),
        ];
      case "error":
        return [failed(classifyAiSdk(part["error"], this.#options.peer, "stream"))];
      case "finish":
        return this.#finish(part);
      // tool-input-end, source, raw, ping, and what later versions may add.
      default:
        return [];
    }
  }

  /** The failure of a stream that ended without a `finish` part. */
  end(): ModelChunk {
    return this.#malformed(this.#unfinished());
  }

  #unfinished(): string {
    const contentType = this.contentType;
    if (this.#spoke || this.#calls.count) return "ended its answer without saying why (no finish reason).";
    if (contentType?.includes("html")) return "answered with a web page instead of a stream; check baseURL.";
    if (contentType?.includes("json")) return "answered with JSON instead of a stream; check baseURL.";
    return "ended its answer before it said anything.";
  }

  #block(kind: Block["kind"], part: WirePart): ModelChunk[] {
    const id = `${kind} ${String(part["id"])}`;
    let block = this.#blocks.get(id);
    const isNew = !block;
    if (!block) {
      block = { kind, key: `${kind}-${++this.#count}`, metadata: "" };
      this.#blocks.set(id, block);
    }
    const delta = typeof part["delta"] === "string" ? part["delta"] : "";
    const opaque = this.#metadata(block, part, isNew);
    // A block that has ended may be followed by another one of the same id.
    if (part.type.endsWith("-end")) this.#blocks.delete(id);
    this.#spoke ||= delta !== "";
    if (delta === "" && !opaque) return [];
    return [{ type: kind, delta, key: block.key, ...(opaque && { opaque }) }];
  }

  /**
   * The opaque data of a part, when it is not what the block has already. The last metadata counts, as in the AI SDK
   * itself. Thinking always has some: it goes back to its own provider only, whether or not that signs it.
   */
  #metadata(block: Block, part: WirePart, isNew: boolean): Opaque | undefined {
    const options = metadataOf(part["providerMetadata"]);
    const text = options === undefined ? "" : JSON.stringify(options);
    if (options !== undefined && text !== block.metadata) {
      block.metadata = text;
      return this.#opaque({ options });
    }
    return isNew && block.kind === "thinking" && part.type !== "reasoning-end" ? this.#opaque({}) : undefined;
  }

  #keep(part: WirePart): ModelChunk[] {
    const kept = keptPart(part);
    if (kept === undefined) return [];
    return [{ type: "thinking", delta: "", key: `kept-${++this.#count}`, opaque: this.#opaque({ part: kept }) }];
  }

  #opaque(data: { [key: string]: Json }): Opaque {
    return { provider: opaqueName(this.#options.provider), data };
  }

  #finish(part: WirePart): ModelChunk[] {
    const { unified, raw } = reasonOf(part["finishReason"]);
    const usage = this.#usage(part);
    const outcome = this.#outcome(unified, raw);
    if (typeof outcome !== "string") return [...usage, failed(outcome)];
    const model = this.#model;
    return [...usage, { type: "finish", reason: outcome, ...(model !== undefined && { model }) }];
  }

  #outcome(unified: string, raw: string | undefined): "stop" | "length" | "tool-calls" | Failure {
    const { peer } = this.#options;
    const why = raw ?? unified;
    const calls = this.#calls.count > 0;
    switch (unified) {
      case "length":
        return "length";
      case "content-filter":
        // Some packages say this of an answer in which the model itself declines; that is an answer.
        if (raw === "stop" && this.#spoke) return "stop";
        return {
          class: "refused",
          message: `${peer.host} stopped the answer: its content filter refused it (${why}).`,
        };
      case "stop":
      case "tool-calls":
        if (this.#calls.unfinished) return malformed(peer, "broke off a tool call.");
        if (unified === "tool-calls" && !calls && !this.#spoke)
          return malformed(peer, "said that it calls tools, and called none.");
        return calls ? "tool-calls" : "stop";
      case "other":
        // An end that the provider did name, after an answer, is an end like any other.
        if (raw !== undefined && !this.#calls.unfinished && (this.#spoke || calls))
          return calls ? "tool-calls" : "stop";
        return malformed(peer, raw === undefined ? this.#unfinished() : `ended without an answer (${why}).`);
      case "interrupted":
      case "unknown":
        return malformed(peer, this.#unfinished());
      default:
        return malformed(peer, `broke off its answer (${why}).`);
    }
  }

  #usage(part: WirePart): ModelChunk[] {
    const usage = aiSdkUsage(part["usage"], this.#options.countsFreshOnly);
    if (!usage) return [];
    const costUsd = this.#options.costUsd(usage);
    return [{ type: "usage", usage: { ...usage, ...(costUsd !== undefined && { costUsd }) } }];
  }

  #malformed(what: string): ModelChunk {
    return failed(malformed(this.#options.peer, what));
  }
}

const failed = (failure: Failure): ModelChunk => ({ type: "failed", failure });

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** A word until v2, an object with the provider's own word since. */
function reasonOf(reason: unknown): { unified: string; raw: string | undefined } {
  if (typeof reason === "string") return { unified: reason, raw: reason === "other" ? reason : undefined };
  const both = fields(reason);
  const raw = both?.["raw"];
  return { unified: String(both?.["unified"]), raw: typeof raw === "string" ? raw : undefined };
}

/** One line for a warning, without the message text that some quote behind a brace. */
function warningText(warning: unknown): string {
  const w = fields(warning) ?? {};
  const subject = w["feature"] ?? w["setting"] ?? fields(w["tool"])?.["name"];
  const words = [w["type"] === "other" ? undefined : w["type"], subject, w["details"] ?? w["message"]];
  return words
    .filter((word) => typeof word === "string")
    .join(": ")
    .replace(/:?\s*[{[].*$/s, "");
}

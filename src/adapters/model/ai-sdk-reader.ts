/** Reads the parts of an AI SDK stream. */
import type { Failure } from "../../core/failure.ts";
import type { Json, Opaque } from "../../core/message.ts";
import type { Usage } from "../../core/usage.ts";
import type { ModelChunk } from "../../ports.ts";
import { AiSdkCalls } from "./ai-sdk-calls.ts";
import { classifyAiSdk } from "./ai-sdk-failure.ts";
import { aiSdkOutcome } from "./ai-sdk-outcome.ts";
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
    const usage = this.#usage(part);
    const { count, unfinished } = this.#calls;
    const said = { spoke: this.#spoke, calls: count > 0, unfinished, nothing: this.#unfinished() };
    const outcome = aiSdkOutcome(part["finishReason"], said, this.#options.peer);
    if (typeof outcome !== "string") return [...usage, failed(outcome)];
    const model = this.#model;
    return [...usage, { type: "finish", reason: outcome, ...(model !== undefined && { model }) }];
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

/** Puts the parts of tool calls together that belong together. */
import type { Opaque } from "../../core/message.ts";
import type { ModelChunk } from "../../ports.ts";
import { metadataOf, plain } from "./ai-sdk-opaque.ts";
import type { WirePart } from "./ai-sdk-spec.ts";

type Call = { text: string; whole: boolean; key: string; buffered: boolean };

/**
 * Calls stream as `tool-input-*` parts and come once more, whole, as `tool-call`; some packages send only that. Calls that
 * the provider runs itself are not ours.
 */
export class AiSdkCalls {
  readonly #toolName: (wire: string) => string;
  readonly #opaque: (data: { [key: string]: unknown }) => Opaque;
  readonly #calls = new Map<string, Call>();
  readonly #foreign = new Set<string>();

  constructor(options: { toolName: (wire: string) => string; opaque: (data: { [key: string]: unknown }) => Opaque }) {
    this.#toolName = options.toolName;
    this.#opaque = options.opaque;
  }

  get count(): number {
    return this.#calls.size;
  }

  /** Whether a call began and never came whole. */
  get unfinished(): boolean {
    return [...this.#calls.values()].some((c) => !c.whole);
  }

  start(part: WirePart): ModelChunk[] {
    const id = String(part["id"]);
    if (part["providerExecuted"] === true) {
      this.#foreign.add(id);
      return [];
    }
    if (this.#calls.has(id)) return [];
    // Text pieces are no JSON: such a call is shown when it is whole.
    return this.#begin(id, part, part["inputEncoding"] === "text");
  }

  delta(part: WirePart): ModelChunk[] {
    const call = this.#calls.get(String(part["id"]));
    const delta = part["delta"];
    if (!call || call.buffered || call.whole || typeof delta !== "string" || delta === "") return [];
    call.text += delta;
    return [{ type: "tool-call", key: call.key, delta }];
  }

  /** A whole call; `undefined` when its arguments are not those that were streamed. */
  whole(part: WirePart): ModelChunk[] | undefined {
    const id = String(part["toolCallId"]);
    const out = this.#calls.has(id) ? [] : this.#begin(id, part, false);
    const call = this.#calls.get(id)!;
    const given = part["input"];
    const input = typeof given === "string" ? given : (JSON.stringify(given) ?? "");
    if (call.whole) return same(call.text, input) ? [] : undefined;
    call.whole = true;
    const rest = input.startsWith(call.text) ? input.slice(call.text.length) : undefined;
    if (rest === undefined && !same(call.text, input)) return undefined;
    call.text += rest ?? "";
    const options = metadataOf(part["providerMetadata"]);
    const opaque = options !== undefined && { opaque: this.#opaque({ options }) };
    if (rest || opaque) out.push({ type: "tool-call", key: call.key, delta: rest ?? "", ...opaque });
    return out;
  }

  isForeign = (part: WirePart): boolean =>
    part["providerExecuted"] === true || this.#foreign.has(String(part["toolCallId"] ?? part["id"]));

  #begin(id: string, part: WirePart, buffered: boolean): ModelChunk[] {
    const key = `call-${this.#calls.size}`;
    this.#calls.set(id, { text: "", whole: false, key, buffered });
    return [{ type: "tool-call", key, wireId: id, name: this.#toolName(String(part["toolName"])), delta: "" }];
  }
}

/** Whether two texts are one value; packages may write it anew. */
function same(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return JSON.stringify(plain(JSON.parse(a || "{}"))) === JSON.stringify(plain(JSON.parse(b || "{}")));
  } catch {
    return false;
  }
}

/** Puts an answer together from its chunks, and shows it while it grows. */
import type { LiveEvent, PartKind } from "../core/event.ts";
import type { AssistantMessage, AssistantPart, Json, ToolCallPart } from "../core/message.ts";
import type { ModelChunk } from "../ports.ts";
import type { Writer } from "./host.ts";

type OpenPart = {
  id: string;
  kind: PartKind;
  key: string | undefined;
  /** Of a tool call: its place among the calls. */
  name?: string | undefined;
  wireId?: string | undefined;
  opaque?: { provider: string; data: Json } | undefined;
  pieces: string[];
  ended: boolean;
};

/** Accumulates one attempt. It belongs to that attempt alone: a retry starts with a new one. */
export class Answer {
  readonly #turn: number;
  readonly #attempt: number;
  readonly #watchers: Pick<Writer, "live" | "isWatched">;
  readonly #parts: OpenPart[] = [];
  #open: OpenPart | undefined;
  #calls = 0;

  constructor(turn: number, attempt: number, watchers: Pick<Writer, "live" | "isWatched">) {
    this.#turn = turn;
    this.#attempt = attempt;
    this.#watchers = watchers;
  }

  get id(): string {
    return `msg_${this.#turn}_${this.#attempt}`;
  }

  take(chunk: Extract<ModelChunk, { type: PartKind }>): void {
    const part = chunk.type === "tool-call" ? this.#callPart(chunk) : this.#textPart(chunk);
    if (chunk.opaque) part.opaque = chunk.opaque;
    if (chunk.delta === "") return;
    part.pieces.push(chunk.delta);
    if (this.#watchers.isWatched)
      this.#watchers.live({ type: "part.delta", partId: part.id, kind: part.kind, delta: chunk.delta });
  }

  #textPart(chunk: { type: "text" | "thinking"; key?: string }): OpenPart {
    const open = this.#open;
    if (open && open.kind === chunk.type && open.key === chunk.key) return open;
    return this.#begin({
      id: `${this.id}_${this.#parts.length}`,
      kind: chunk.type,
      key: chunk.key,
      pieces: [],
      ended: false,
    });
  }

  /** Parallel calls may interleave, so a call part stays open until the end. */
  #callPart(chunk: Extract<ModelChunk, { type: "tool-call" }>): OpenPart {
    let part = this.#parts.find((p) => p.kind === "tool-call" && p.key === chunk.key);
    part ??= this.#begin({
      id: `call_${this.#turn}_${this.#attempt}_${this.#calls++}`,
      kind: "tool-call",
      key: chunk.key,
      name: chunk.name,
      pieces: [],
      ended: false,
    });
    part.name ||= chunk.name;
    part.wireId ||= chunk.wireId;
    return part;
  }

  #begin(part: OpenPart): OpenPart {
    if (this.#open && this.#open.kind !== "tool-call") this.#end(this.#open);
    this.#open = part;
    this.#parts.push(part);
    if (!this.#watchers.isWatched) return part;
    const started: LiveEvent = {
      type: "part.started",
      partId: part.id,
      kind: part.kind,
      turn: this.#turn,
      attempt: this.#attempt,
    };
    if (part.name) started.name = part.name;
    this.#watchers.live(started);
    return part;
  }

  #end(part: OpenPart): void {
    if (part.ended) return;
    part.ended = true;
    if (this.#watchers.isWatched) this.#watchers.live({ type: "part.ended", partId: part.id, kind: part.kind });
  }

  /** Ends every part and returns the message. */
  finish(): AssistantMessage {
    for (const part of this.#parts) this.#end(part);
    return { id: this.id, role: "assistant", parts: this.parts() };
  }

  /** What there is so far. Wire ids that repeat are left out: the first call of that id has it. */
  parts(): AssistantPart[] {
    const wireIds = new Set<string>();
    return this.#parts.map((p): AssistantPart => {
      const joined = p.pieces.join("");
      if (p.kind !== "tool-call") {
        const part = { type: p.kind, text: joined };
        return p.opaque ? { ...part, opaque: p.opaque } : part;
      }
      const call: ToolCallPart = { type: "tool-call", callId: p.id, name: p.name ?? "", ...readArgs(joined) };
      if (p.wireId && !wireIds.has(p.wireId)) {
        wireIds.add(p.wireId);
        call.wireId = p.wireId;
      }
      if (p.opaque) call.opaque = p.opaque;
      return call;
    });
  }
}

/** Strict JSON, never repaired; no text at all means no arguments. */
function readArgs(raw: string): { args: Json } | { raw: string } {
  if (raw.trim() === "") return { args: {} };
  try {
    return { args: JSON.parse(raw) as Json };
  } catch {
    return { raw };
  }
}

/** Puts the pieces of tool calls together that belong together. */
import type { ModelChunk } from "../../ports.ts";
import { fields, type Fields } from "./chat-usage.ts";
import { parsesAsObject } from "./json-object.ts";

type Call = { key: string; index: number | undefined; id: string; name: string; text: string };
type Piece = { index: number | undefined; id: string; name: string; text: string };

/**
 * Tells calls apart. Providers leave out the index, repeat it for every call, send later pieces with an empty id or name,
 * with the name again, or with an id of their own; the rules here read all of these.
 */
export class ChatCalls {
  readonly #toolName: (wire: string) => string;
  readonly #calls: Call[] = [];

  constructor(toolName: (wire: string) => string) {
    this.#toolName = toolName;
  }

  get count(): number {
    return this.#calls.length;
  }

  /** The tool-call chunks of a delta. */
  take(delta: Fields): ModelChunk[] {
    const listed: unknown = delta["tool_calls"];
    const raw: unknown[] = Array.isArray(listed) ? [...listed] : listed ? [listed] : [];
    // The older way to call: one function, no id.
    const legacy = fields(delta["function_call"]);
    if (legacy) raw.push({ index: 0, function: legacy });
    return raw.map(fields).flatMap((call) => (call ? [this.#take(pieceOf(call))] : []));
  }

  #take(piece: Piece): ModelChunk {
    let call = this.#callOf(piece);
    const isNew = !call;
    if (!call) {
      call = { key: `call-${this.#calls.length}`, index: piece.index, id: "", name: "", text: "" };
      this.#calls.push(call);
    }
    const wireId = call.id === "" && piece.id !== "" ? (call.id = piece.id) : undefined;
    const name = call.name === "" && piece.name !== "" ? (call.name = piece.name) : undefined;
    // Whole arguments after whole arguments are the same ones again.
    const delta = !isNew && piece.text === call.text && parsesAsObject(call.text) ? "" : piece.text;
    call.text += delta;
    return {
      type: "tool-call",
      key: call.key,
      ...(wireId !== undefined && { wireId }),
      ...(name !== undefined && { name: this.#toolName(name) }),
      delta,
    };
  }

  #callOf(piece: Piece): Call | undefined {
    const known = piece.id === "" ? undefined : this.#calls.findLast((c) => c.id === piece.id);
    const at = piece.index === undefined ? this.#calls.at(-1) : this.#calls.findLast((c) => c.index === piece.index);
    // One id used for two calls is told apart by the index.
    if (known && (piece.index === undefined || known.index === piece.index))
      return begins(piece, known) ? undefined : known;
    return at && !begins(piece, at) ? at : undefined;
  }
}

/**
 * Whether a piece begins another call than the one in its place. It must have a name; then it does when the name differs,
 * or when that call is whole already and this is not the same call once more.
 */
function begins(piece: Piece, call: Call): boolean {
  if (piece.name === "" || call.name === "") return false;
  if (piece.name !== call.name) return true;
  if (!parsesAsObject(call.text)) return false;
  if (piece.id !== "" && piece.id !== call.id) return true;
  return piece.text !== "" && piece.text !== call.text;
}

function pieceOf(call: Fields): Piece {
  const fn = fields(call["function"]);
  const args = fn?.["arguments"];
  return {
    index: typeof call["index"] === "number" ? call["index"] : undefined,
    id: typeof call["id"] === "string" ? call["id"] : "",
    name: typeof fn?.["name"] === "string" ? fn["name"] : "",
    text: typeof args === "string" ? args : fields(args) ? JSON.stringify(args) : "",
  };
}

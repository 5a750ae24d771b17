/** What the items of a Responses output mean for the next request. */
import type { Fields } from "./chat-usage.ts";

/** Fields that we write ourselves, or that say nothing once an item is whole. */
const OURS = new Set(["id", "status", "role", "content", "call_id", "name", "arguments", "input", "annotations"]);

/** What else an item carries and must have again (`phase`, `caller`, `namespace`); its type only when it is not the usual. */
export function ownFields(item: Fields): Fields | undefined {
  const usual = item["type"] === "message" || item["type"] === "function_call";
  const more = Object.entries(item).filter(
    ([name, value]) => !OURS.has(name) && value !== null && value !== undefined && !(usual && name === "type"),
  );
  return more.length ? Object.fromEntries(more) : undefined;
}

/** Calls that the client has to answer unless their output is in the same answer. */
const outputs: { readonly [call: string]: string } = {
  local_shell_call: "local_shell_call_output",
  shell_call: "shell_call_output",
  apply_patch_call: "apply_patch_call_output",
  computer_call: "computer_call_output",
  tool_search_call: "tool_search_output",
  mcp_approval_request: "mcp_call",
};

/** The first call that nobody has answered; the next request would be refused for it. */
export function unanswered(items: readonly Fields[]): string | undefined {
  for (const item of items) {
    const output = outputs[String(item["type"])];
    if (output === undefined || item["execution"] === "server") continue;
    const answered = items.some((o) => o["type"] === output && o["call_id"] === item["call_id"]);
    if (!answered) return String(item["type"]);
  }
  return undefined;
}

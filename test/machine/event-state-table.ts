/**
 * What becomes of every event in every place: `→ state` the machine goes there, `handled` it stays and remembers, announces
 * or starts something, `deferred` it only queues, `refused` nothing changes. `elsewhere` is every place that a row does not
 * name.
 */
import type { InputEvent } from "../../machines/index.ts";

/** The states that can be rested in, and those in which it matters how one came there. */
export const columns = [
  "receive.idle",
  "receive.idle, suspended",
  "receive.admitting",
  "receive.waiting",
  "receive.closing",
  "compact.projecting",
  "compact.summarizing",
  "compact.discarding",
  "reason.preparing",
  "reason.requesting",
  "reason.requesting, cancelled",
  "reason.backingOff",
  "act.reviewing",
  "act.approving",
  "act.executing",
  "act.executing, cancelled",
  "closed",
] as const;
export type Place = (typeof columns)[number];
export type Row = { readonly elsewhere: string; readonly [outcome: string]: string | readonly Place[] };

/** The record is for readers: the machine never takes it. */
const recordedOnly: Row = { elsewhere: "refused" };
/** A fact that holds in every state. */
const everywhere: Row = { refused: ["closed"], elsewhere: "handled" };
/** Left at once, whatever runs. */
const leftAtOnce: readonly Place[] = [
  "receive.admitting",
  "receive.waiting",
  "receive.closing",
  "compact.projecting",
  "compact.summarizing",
  "compact.discarding",
  "reason.preparing",
  "reason.backingOff",
  "act.reviewing",
  "act.approving",
];

export const table: { readonly [K in InputEvent["type"]]: Row } = {
  "session.opened": recordedOnly,
  "session.resumed": { handled: ["receive.idle", "receive.idle, suspended"], elsewhere: "→ receive.idle" },
  "input.received": {
    "→ reason.preparing": ["receive.waiting", "act.approving"],
    refused: ["closed"],
    elsewhere: "deferred",
  },
  "input.withdrawn": everywhere,
  "inputs.reviewed": { "→ reason.preparing": ["receive.admitting"], elsewhere: "refused" },
  "mode.changed": everywhere,
  "cancel.requested": {
    "→ receive.idle": leftAtOnce,
    refused: ["receive.idle", "closed"],
    // A suspended run ends; a request and tools are asked to stop and waited for.
    elsewhere: "handled",
  },
  "compaction.requested": {
    "→ compact.discarding": ["receive.idle", "receive.idle, suspended"],
    elsewhere: "refused",
  },
  "run.requested": { "→ reason.preparing": ["receive.idle", "receive.idle, suspended"], elsewhere: "refused" },
  "close.requested": {
    "→ closed": [...leftAtOnce, "receive.idle", "receive.idle, suspended"],
    refused: ["closed"],
    elsewhere: "handled",
  },
  "history.imported": { handled: ["receive.idle"], elsewhere: "refused" },
  "request.prepared": { "→ reason.requesting": ["reason.preparing"], elsewhere: "refused" },
  "model.completed": {
    "→ act.reviewing": ["reason.requesting"],
    "→ receive.idle": ["reason.requesting, cancelled"],
    elsewhere: "refused",
  },
  "model.failed": {
    "→ reason.backingOff": ["reason.requesting"],
    "→ receive.idle": ["reason.requesting, cancelled"],
    elsewhere: "refused",
  },
  "calls.reviewed": { "→ act.executing": ["act.reviewing"], elsewhere: "refused" },
  "approval.settled": { handled: ["act.approving", "receive.idle, suspended"], elsewhere: "refused" },
  "tool.settled": { handled: ["act.executing", "act.executing, cancelled"], elsewhere: "refused" },
  "compaction.completed": {
    "→ compact.summarizing": ["compact.projecting"],
    "→ receive.idle": ["compact.summarizing", "compact.discarding"],
    elsewhere: "refused",
  },
  "compaction.failed": {
    "→ compact.summarizing": ["compact.projecting"],
    "→ receive.idle": ["compact.summarizing", "compact.discarding"],
    elsewhere: "refused",
  },
  "stop.reviewed": { "→ reason.preparing": ["receive.closing"], elsewhere: "refused" },
  "timer.elapsed": {
    "→ receive.idle": ["receive.waiting"],
    "→ reason.requesting": ["reason.backingOff"],
    elsewhere: "refused",
  },
  "store.failed": {
    "→ receive.idle": [...leftAtOnce, "reason.requesting", "reason.requesting, cancelled"],
    handled: ["act.executing", "act.executing, cancelled"],
    elsewhere: "refused",
  },
  "focus.updated": recordedOnly,
  "memory.updated": recordedOnly,
  "title.generated": recordedOnly,
  "task.opened": everywhere,
  "task.settled": { "→ receive.idle": ["receive.waiting"], refused: ["closed"], elsewhere: "handled" },
  "subagent.opened": recordedOnly,
};

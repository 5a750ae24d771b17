/** A walk to every state the machine can rest in. */
import {
  allowed,
  answer,
  asks,
  close,
  compaction,
  failedWith,
  opened,
  prepared,
  prompt,
  run,
  type Options,
} from "./events.ts";
import { Walk, type Settings } from "./walk.ts";

/** A first run with one prompt, in its first `reason.preparing`. */
export const begun = (options?: Options, settings?: Settings): Walk =>
  new Walk(settings).feed(prompt(), run("r1", options));
/** The same, with its request under way. */
export const requesting = (options?: Options, settings?: Settings): Walk => begun(options, settings).feed(prepared());
/** The same, answered with these calls. */
export const answered = (callIds: readonly string[] = ["c1", "c2"], options?: Options, settings?: Settings): Walk =>
  requesting(options, settings).feed(answer(callIds));
export const asking = (options?: Options, settings?: Settings): Walk =>
  answered(["c1", "c2"], options, settings).feed(asks("c1", "c2"));
export const executing = (options?: Options, settings?: Settings): Walk =>
  answered(["c1", "c2"], options, settings).feed(allowed("c1", "c2"));
/** A run that stopped for approvals: open, and parked in `receive.idle`. */
export const suspended = (): Walk => asking({ approvals: { mode: "suspend" } });

/** Under pressure: the provider counted more than a window of 1,000 tokens may hold, and one tool is still running. */
export const crowded = (settings: Settings = {}): Walk =>
  begun(undefined, { ...settings, compaction: { window: 1_000, ...settings.compaction } }).feed(
    prepared(),
    answer(["c1"], { usage: { input: 940, output: 20 } }),
    allowed("c1"),
  );

export const reach: { readonly [state: string]: () => Walk } = {
  "receive.idle": () => new Walk(),
  "receive.admitting": () => new Walk({ reviews: { input: true } }).feed(prompt(), run()),
  "receive.waiting": () => requesting().feed(opened(), answer()),
  "receive.closing": () => requesting(undefined, { reviews: { stop: true } }).feed(answer()),
  "compact.projecting": () => requesting().feed(failedWith("overflow")),
  "compact.summarizing": () => requesting().feed(answer(), compaction("summarize")),
  "compact.discarding": () => requesting().feed(answer(), compaction("discard")),
  "reason.preparing": () => begun(),
  "reason.requesting": () => requesting(),
  "reason.backingOff": () => requesting().feed(failedWith("timeout")),
  "act.reviewing": () => answered(),
  "act.approving": () => asking(),
  "act.executing": () => executing(),
  closed: () => new Walk().feed(close),
};

/** States that are left in the same step: nothing ever rests there. */
export const transient = ["receive.deciding", "compact.planning", "act.committing", "recovering"] as const;

/** Reads again, after a full compaction, what the model had read shortly before it. */
import type { Reread } from "../core/projection.ts";
import { isCut, type CutDirective, type Directive } from "../core/projection.ts";
import type { ToolCallPart } from "../core/message.ts";
import { textOf } from "../core/message.ts";
import type { Entry } from "../core/transcript.ts";
import type { ToolContext } from "../ports.ts";
import { toContent } from "../tool.ts";
import { isThenable, messageOf, type Job } from "./effect.ts";
import { hashOf } from "./hash.ts";
import { judge } from "./judge.ts";
import type { Host } from "./host.ts";
import { resolveCall, type Effective } from "./resolve-call.ts";

/** How many files, and how many tokens of each and of all. */
const FILES = { most: 5, tokens: 5_000, together: 25_000 };
/** Exchanges that are looked through for them. */
const LOOK_BACK = 200;

/**
 * The files and skills that were read last and are no longer shown, each read by its own tool with its own arguments.
 * What a review does not allow, and what cannot be read, is skipped with a note.
 */
export async function readAgain(job: Job, cut: CutDirective, spare: number): Promise<Reread[]> {
  const { host } = job;
  const files: Reread[] = [];
  let left = Math.min(FILES.together, spare);
  const { entries, directives } = host.transcript;
  for (const { part, call, path } of await recentReads(host, entries, [...directives, cut])) {
    if (files.length >= FILES.most || left <= 0 || job.settled) break;
    try {
      const said = await readOnce(job, part, call);
      const text = within(said, Math.min(left, FILES.tokens), host);
      files.push({ tool: call.name, path, hash: hashOf(said), text });
      left -= host.count(text) + host.count(path);
    } catch (error) {
      host.journal.note({ type: "reread.skipped", tool: call.name, path, message: messageOf(error) });
    }
  }
  return files;
}

type Read = { part: ToolCallPart; call: Effective; path: string };

/** Reads that went well, newest first, each path once, without those that are still shown. */
async function recentReads(host: Host, entries: readonly Entry[], directives: readonly Directive[]): Promise<Read[]> {
  const cut = directives.findLast(isCut)!;
  const hidden = new Set(cut.results?.flatMap((r) => r.callIds.map((id) => `${r.entry}/${id}`)));
  const reads: Read[] = [];
  const seen = new Set<string>();
  const oldest = Math.max(0, entries.length - LOOK_BACK);
  for (let at = entries.length - 1; at >= oldest && reads.length < FILES.most * 2; at--) {
    const entry = entries[at]!;
    if (entry.kind !== "exchange" || !entry.results) continue;
    for (const part of entry.message.parts.toReversed()) {
      const result = part.type === "tool-call" ? entry.results.parts.find((r) => r.callId === part.callId) : undefined;
      if (part.type !== "tool-call" || result?.status !== "ok" || part.args === undefined) continue;
      const read = await readOf(host, part);
      if (!read || seen.has(read.path)) continue;
      seen.add(read.path);
      if (at < cut.upTo || hidden.has(`${at}/${part.callId}`)) reads.push(read);
    }
  }
  return reads;
}

/** What a call reads in, if anything. A tool that cannot say so has read nothing. */
async function readOf(host: Host, part: ToolCallPart): Promise<Read | undefined> {
  try {
    const call = await resolveCall(host, part.name, part.args!);
    if (typeof call === "string" || !call.tool.readOnly) return undefined;
    const path = call.tool.reads?.(call.value);
    return typeof path === "string" && path !== "" ? { part, call, path } : undefined;
  } catch {
    return undefined;
  }
}

/** @throws Error when it may not be read, cannot be, or takes too long */
async function readOnce(job: Job, part: ToolCallPart, { tool, value }: Effective): Promise<string> {
  const { host } = job;
  const verdict = await judge(host, part, () => job.signal);
  if (verdict.verdict !== "allow") throw new Error(`It may not be read: ${verdict.reason ?? verdict.verdict}.`);
  const stop = new AbortController();
  const leave = () => stop.abort(job.signal.reason);
  job.signal.addEventListener("abort", leave, { once: true });
  let cancelTimer = () => {};
  const late = new Promise<never>((_, reject) => {
    stop.signal.addEventListener("abort", () => reject(new Error("It took too long, or was cancelled.")), {
      once: true,
    });
    const ms = tool.timeoutMs ?? host.limits.toolTimeoutMs;
    if (ms > 0) cancelTimer = host.clock.setTimer(ms, () => stop.abort());
  });
  late.catch(() => {});
  try {
    const said = tool.execute(value, contextOf(host, part.callId, stop.signal));
    return textOf(toContent(isThenable(said) ? await Promise.race([said, late]) : said));
  } finally {
    cancelTimer();
    job.signal.removeEventListener("abort", leave);
  }
}

/** It reads, and nothing else: what it would leave or hand back is not taken. */
const contextOf = (host: Host, callId: string, signal: AbortSignal): ToolContext => ({
  callId,
  signal,
  progress: () => {},
  session: {
    ...host.toolSession,
    notify: () => {},
    background: () => ({ taskId: "", settle: () => {} }),
  },
  context: host.run.context,
});

/** Whole lines from the beginning, as many as fit. */
function within(said: string, tokens: number, host: Host): string {
  if (host.count(said) <= tokens) return said;
  let left = tokens;
  const lines: string[] = [];
  for (const line of said.split("\n")) {
    left -= host.count(line) + 1;
    if (left < 0) break;
    lines.push(line);
  }
  return [...lines, `[… ${said.length - lines.join("\n").length} characters left out …]`].join("\n");
}

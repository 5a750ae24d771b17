/** The store of a machine: readable journals in a folder, one line a record, safe between processes. */
import { resolve } from "node:path";
import { AgentError } from "../../core/errors.ts";
import type { Clock, Logger, Store } from "../../ports.ts";
import { JsonlStore } from "./jsonl-store.ts";
import type { Fsync } from "./jsonl-writer.ts";

export type JsonlOptions = {
  /**
   * When an append waits for the disk. `never` (default): records survive `kill -9`, a power cut may take the newest.
   * `commit`: exchanges, started tools and ends of runs survive a power cut too. `always`: everything does.
   */
  fsync?: Fsync;
  clock?: Clock;
  /** Where dropped tails are reported; without it they are process warnings. */
  logger?: Logger;
};

/**
 * Makes a store of the journals in a folder, `dir/<yyyy-mm-dd>/<sessionId>_001.jsonl`, the day by UTC, readable by its
 * owner only. The folder is made when the first session is.
 *
 * Between processes of one machine: at most one holds the lease of a session. A holder that is known to be dead is
 * replaced; one on another host or in another pid namespace counts as alive and needs `takeover`. An append looks at the
 * lease before and after its write: one that returns is in the journal, and after a takeover none of the former holder
 * gets there, even one that was under way (that one is told `Fenced`). Not for network file systems.
 *
 * Acquire reads a journal only when somebody else may have written it. After `AppendOutcomeUnknown` the lease is gone.
 */
export function jsonlStore(dir: string, options: JsonlOptions = {}): Store {
  requireOptions(dir, options);
  return new JsonlStore(resolve(dir), options);
}

function requireOptions(dir: unknown, options: JsonlOptions): void {
  if (typeof dir !== "string" || dir === "")
    throw new AgentError("invalid_options", "jsonlStore(dir): dir must be the path of a folder");
  const fsync: unknown = options.fsync ?? "never";
  if (fsync !== "never" && fsync !== "commit" && fsync !== "always")
    throw new AgentError("invalid_options", `fsync: expected "never", "commit" or "always"`);
}

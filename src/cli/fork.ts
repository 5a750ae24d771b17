/** `rcra fork`: a new session that begins as another one did. Asks no model. */
import { systemClock, systemIds } from "../adapters/system.ts";
import { forkJournal } from "../session/fork.ts";
import { EXIT } from "./exit-codes.ts";
import { GoingOn, type Repeated } from "./going-on.ts";
import { print } from "./output.ts";
import { say } from "./say.ts";
import { findSession, openStore, type StoreFlags } from "./workbench.ts";

export type ForkFlags = StoreFlags & { at?: number; id?: string; json?: boolean };

/** Prints the new session's id, alone on stdout; how to go on with it is on stderr. */
export async function forkCommand(what: string, flags: ForkFlags, repeated: Repeated): Promise<number> {
  const store = openStore(flags);
  const { id: from } = await findSession(store, what);
  const id = flags.id ?? systemIds.next("session");
  const owner = systemIds.next("fork");
  await forkJournal({ store, from, id, at: flags.at, owner, agent: "rcra", now: systemClock.now() });
  const info = await store.info(id);
  print(flags.json ? `${JSON.stringify({ id, from, records: info?.head, status: info?.status })}\n` : `${id}\n`);
  if (!flags.json)
    say(`forked from ${from} with ${info?.head} records; go on with: ${new GoingOn(id, repeated).resume}`);
  return EXIT.completed;
}

/**
 * Who may append to a journal on disk, decided by the file system. Every acquire creates the file `lease-<epoch>` with a
 * number above all before it; creating fails when the name exists, so two processes never get one epoch. The highest
 * number rules. A lease is lost when its file is unlinked, which its holder sees through the descriptor it keeps.
 *
 * A lease is taken in two steps: first it is only `entered`, then, once its holder has the journal open, it is `ready`.
 * Nobody takes over from a living process between the two, so there is never more than one that moves files about.
 */
import { closeSync, fstatSync, ftruncateSync, linkSync, openSync, readFileSync, readdirSync, writeSync } from "node:fs";
import { join } from "node:path";
import { errno } from "./io-failure.ts";
import { isDead, thisProcess, type ProcessIdentity } from "./process-identity.ts";
import { leaseHeld } from "./store-errors.ts";
import { FILE_MODE, makeFolder, remove, temporaryName, writeAll } from "./whole-files.ts";

/** What a lease file says; an empty file is a lease given back. */
type Holder = ProcessIdentity & { owner: string; epoch: number };

/** The lease that rules a session: its epoch (0 when there never was one) and who holds it, if anybody. */
export type RulingLease = { epoch: number; holder?: Holder; dead?: boolean; ready: boolean };

/** The first byte of a lease file says how far it is; behind it stands JSON, which does not mind a space. */
const ENTERED = "-";
const READY = " ";

/** A lease of this process. `fencedLive`: somebody who had it before may still be running. */
export type TakenLease = { epoch: number; fd: number; fencedLive: boolean; previous: number };

const leaseFile = (state: string, epoch: number): string => join(state, `lease-${epoch}`);

/** Epochs that have a lease file, in no order. */
function epochsIn(state: string): number[] {
  try {
    return readdirSync(state)
      .flatMap((name) => /^lease-(\d+)$/.exec(name)?.[1] ?? [])
      .map(Number);
  } catch (error) {
    if (errno(error) === "ENOENT") return [];
    throw error;
  }
}

/** Reads who rules. Never changes anything. */
export function rulingLease(state: string): RulingLease {
  for (;;) {
    const epoch = Math.max(0, ...epochsIn(state));
    if (epoch === 0) return { epoch, ready: true };
    try {
      const text = readFileSync(leaseFile(state, epoch), "utf8");
      const holder = parseHolder(text.slice(1));
      const ready = text === "" || text.startsWith(READY);
      return holder ? { epoch, holder, dead: isDead(holder), ready } : { epoch, ready };
    } catch (error) {
      // A newer lease has replaced it meanwhile: look again.
      if (errno(error) !== "ENOENT") throw error;
    }
  }
}

/** A file that a power cut left unreadable belongs to nobody who lives. */
function parseHolder(text: string): Holder | undefined {
  try {
    const holder = JSON.parse(text) as Holder;
    return typeof holder.pid === "number" && typeof holder.owner === "string" ? holder : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Enters the lease for this process. `if-free` leaves a living holder alone. `undefined`, only where `patient`: another
 * living process is just entering it; look again in a moment.
 * @throws StoreError `LeaseHeld`
 */
export function takeLease(
  state: string,
  id: string,
  owner: string,
  mode: "if-free" | "takeover",
  patient: boolean,
): TakenLease | undefined {
  makeFolder(state);
  for (;;) {
    const before = rulingLease(state);
    const alive = before.holder !== undefined && !before.dead;
    if (alive && mode === "if-free") throw leaseHeld(id, before.holder!.owner, before.holder!);
    if (alive && !before.ready && patient) return undefined;
    const epoch = before.epoch + 1;
    const fd = placeLease(state, { owner, ...thisProcess(), epoch });
    if (fd === undefined) continue;
    const others = epochsIn(state);
    // Our number may have been free only because a higher one had already replaced it.
    if (others.some((other) => other > epoch)) {
      remove(leaseFile(state, epoch));
      closeSync(fd);
      continue;
    }
    // From here on the former holder's descriptor tells it that it has lost.
    for (const other of others) if (other < epoch) remove(leaseFile(state, other));
    // One that died while it entered may have left a living predecessor behind.
    return { epoch, fd, fencedLive: alive || !before.ready, previous: before.epoch };
  }
}

/** Creates the file with its content already in it. `undefined` when somebody else has this number. */
function placeLease(state: string, holder: Holder): number | undefined {
  const path = leaseFile(state, holder.epoch);
  const temporary = temporaryName(path);
  const fd = openSync(temporary, "wx", FILE_MODE);
  let placed = false;
  try {
    writeAll(fd, Buffer.from(ENTERED + JSON.stringify(holder)));
    linkSync(temporary, path);
    placed = true;
  } catch (error) {
    if (errno(error) !== "EEXIST") throw error;
  } finally {
    remove(temporary);
    if (!placed) closeSync(fd);
  }
  return placed ? fd : undefined;
}

/** The second step: the journal is open. */
export const leaseIsReady = (lease: TakenLease): void => {
  writeSync(lease.fd, READY, 0);
};

/** Whether nobody has taken the lease since. One `fstat`, about a microsecond. */
export const stillHeld = (lease: TakenLease): boolean => fstatSync(lease.fd).nlink > 0;

/** Gives the lease back; the file stays behind empty, so that epochs go on rising. A lost lease is only let go. */
export function giveLease(lease: TakenLease): void {
  try {
    ftruncateSync(lease.fd, 0);
  } finally {
    closeSync(lease.fd);
  }
}

/** The errors that every store gives the same words to. */
import { StoreError, type Lease } from "../../ports.ts";
import { isSessionId } from "./file-names.ts";

/** There is no such session, or there cannot be one. */
export function notFound(id: string): never {
  throw noSuchSession(id);
}

/** As an error to throw later. */
export const noSuchSession = (id: string): StoreError =>
  new StoreError(
    "NotFound",
    isSessionId(id)
      ? `there is no session ${id}`
      : `there is no session ${JSON.stringify(id.slice(0, 140))}: this cannot be a session id`,
  );

/** Somebody else writes. `details` says who, as far as it is known. */
export const leaseHeld = (id: string, owner: string, more?: { pid: number; host: string }): StoreError =>
  new StoreError(
    "LeaseHeld",
    `session ${id} is in use by ${owner}${more ? ` (process ${more.pid} on ${more.host})` : ""}`,
    { details: { owner, ...more } },
  );

/** The lease was taken over, released, or never given by this store. */
export const fenced = (lease: Lease): StoreError =>
  new StoreError(
    "Fenced",
    `the lease on session ${lease.id} (epoch ${lease.epoch}) is no longer valid: stop, and write nothing more`,
    { details: { epoch: lease.epoch } },
  );

/** The lease is the right one, but an older copy of it. */
export const headConflict = (lease: Lease, head: number): StoreError =>
  new StoreError(
    "HeadConflict",
    `session ${lease.id} is at record ${head}, not at ${lease.head}: use the lease that the last append returned`,
    { details: { head } },
  );

/** Records must go on where the journal ends. */
export const notDense = (id: string, expected: number, found: number): StoreError =>
  new StoreError("HeadConflict", `session ${id} goes on with record ${expected}, not ${found}`, {
    details: { expected, found },
  });

/** The folder that sessions live in, by day: finding one, making one, removing one. */
import { closeSync, existsSync, openSync, readdirSync, rmSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "../../ports.ts";
import {
  dateFolder,
  isDateFolder,
  isSessionId,
  parseSegmentName,
  requireSessionId,
  sessionPaths,
  type SessionPaths,
} from "./file-names.ts";
import { errno } from "./io-failure.ts";
import { giveLease, takeLease } from "./jsonl-lease.ts";
import { segmentsOf } from "./jsonl-read.ts";
import { notFound } from "./store-errors.ts";
import { FILE_MODE, makeFolder, remove, syncFolder } from "./whole-files.ts";

/** Finds sessions by id. A session is where its first segment is; its day is found once and remembered. */
export class SessionFolder {
  readonly root: string;
  readonly #days = new Map<string, string>();

  constructor(root: string) {
    this.root = root;
  }

  /** Where a session is; `undefined` when there is none, also for what cannot be a session id. */
  find(id: string): SessionPaths | undefined {
    if (!isSessionId(id)) return undefined;
    const known = this.#days.get(id);
    if (known !== undefined) {
      const paths = sessionPaths(join(this.root, known), id);
      if (existsSync(paths.segment(1))) return paths;
      this.#days.delete(id);
    }
    const day = this.#daysOf(id)[0];
    if (day === undefined) return undefined;
    this.#days.set(id, day);
    return sessionPaths(join(this.root, day), id);
  }

  /** @throws StoreError `NotFound` */
  require(id: string): SessionPaths {
    return this.find(id) ?? notFound(id);
  }

  /** Makes the empty first segment. @throws StoreError `Exists` */
  create(id: string, at: number, sync: boolean): SessionPaths {
    requireSessionId(id);
    if (this.find(id)) throw exists(id);
    const paths = sessionPaths(join(this.root, dateFolder(at)), id);
    makeFolder(paths.folder);
    try {
      closeSync(openSync(paths.segment(1), "wx", FILE_MODE));
    } catch (error) {
      throw errno(error) === "EEXIST" ? exists(id) : error;
    }
    // Two processes can do this on two sides of midnight; neither of them may win then, but not both.
    if (this.#daysOf(id).length > 1) {
      remove(paths.segment(1));
      throw exists(id);
    }
    if (sync) syncFolder(paths.folder);
    return paths;
  }

  /** All sessions whose id begins with a text, in no order. Looks at names only. */
  all(prefix: string): { id: string; paths: SessionPaths }[] {
    return this.#allDays().flatMap((day) => {
      const folder = join(this.root, day);
      const names = namesIn(folder).map(parseSegmentName);
      const firsts = names.filter((name) => name?.segment === 1 && name.id.startsWith(prefix));
      return firsts.map((name) => ({ id: name!.id, paths: sessionPaths(folder, name!.id) }));
    });
  }

  /**
   * Removes a session while holding its lease, its first segment last: what is interrupted is still found and can be
   * deleted again, and a session of the same name made right after is not touched.
   * @throws StoreError `LeaseHeld`
   */
  async delete(id: string): Promise<void> {
    const paths = this.require(id);
    const lease = takeLease(paths.state, id, "its deletion", "if-free", false)!;
    try {
      for (const segment of (await segmentsOf(paths, id)).reverse()) if (segment > 1) remove(paths.segment(segment));
      rmSync(paths.files, { recursive: true, force: true });
      rmSync(paths.signals, { recursive: true, force: true });
      for (const name of readdirSync(paths.state)) if (name !== `lease-${lease.epoch}`) remove(join(paths.state, name));
      remove(paths.segment(1));
      this.#days.delete(id);
      remove(join(paths.state, `lease-${lease.epoch}`));
    } finally {
      giveLease(lease);
    }
    removeIfEmpty(paths.state);
    removeIfEmpty(paths.folder);
  }

  /** Days that hold a session of this id, newest first. More than one only while two are being made. */
  #daysOf(id: string): string[] {
    return this.#allDays().filter((day) => existsSync(sessionPaths(join(this.root, day), id).segment(1)));
  }

  #allDays(): string[] {
    return namesIn(this.root).filter(isDateFolder).sort().reverse();
  }
}

const exists = (id: string): StoreError => new StoreError("Exists", `a session ${id} exists already`);

/** Names in a folder; none when it is not there. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errno(error) === "ENOENT") return [];
    // A file that happens to be called like a day is a neighbour, not a mistake; the root itself must be a folder.
    if (errno(error) === "ENOTDIR" && isDateFolder(folder.slice(-10))) return [];
    throw error;
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Something else is in it, which stays.
  }
}

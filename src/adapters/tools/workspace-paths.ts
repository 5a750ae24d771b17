/** Which paths a tool may touch: those that really are in the workspace, whatever links and dots stand in between. */
import { constants, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";

/** A judged path: `real` has no links in it, `shown` is relative to the workspace. */
export type Place = { root: string; real: string; shown: string };

/**
 * Judges a path by where it really leads. Works for files that do not exist yet, by the nearest folder that does.
 * @throws Error that a model can read, when it leads out of the workspace or nowhere
 */
export function placeIn(workspace: string | undefined, path: string): Place {
  if (workspace === undefined) throw new Error("This session has no workspace, so there are no files.");
  if (path.includes("\0")) throw new Error("A path cannot contain a zero byte.");
  const root = realRoot(workspace);
  const real = realTarget(root, withoutRoot(resolve(workspace), path));
  if (real !== root && !real.startsWith(root.endsWith(sep) ? root : root + sep))
    throw new Error(`${path} is outside of the workspace.`);
  return { root, real, shown: relative(root, real) || "." };
}

function realRoot(workspace: string): string {
  try {
    return realpathSync(workspace);
  } catch (error) {
    throw readable(`The workspace ${workspace}`, error);
  }
}

/** A model may name a file by the workspace's own address, which can have links in it. */
const withoutRoot = (root: string, path: string): string =>
  path === root || path.startsWith(root + sep) ? `.${path.slice(root.length)}` : path;

const MOST_LINKS = 40;

/**
 * Goes along a path as the system would: a link is followed before the dots behind it count. Parts that do not exist yet
 * are taken as they are.
 */
function realTarget(start: string, path: string, links = { left: MOST_LINKS }): string {
  const { root } = parse(path);
  let real = isAbsolute(path) ? root : start;
  for (const name of path.slice(root.length).split(SEPARATORS)) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      real = dirname(real);
      continue;
    }
    const next = join(real, name);
    const stats = statsOf(next);
    if (stats === undefined || !stats.isSymbolicLink()) real = next;
    else if (links.left-- > 0) real = realTarget(real, readlinkSync(next), links);
    else throw new Error(`${path} leads through a circle of links.`);
  }
  return real;
}

const SEPARATORS = sep === "/" ? "/" : /[/\\]/;

/** Of what is there itself, not of what a link leads to. */
function statsOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw readable(path, error);
  }
}

/**
 * Opens a regular file for reading. A link put in its place meanwhile is not followed; devices, pipes and folders are
 * refused without waiting for them.
 */
export async function openFile(place: Place): Promise<{ file: FileHandle; size: number; mode: number }> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  let file: FileHandle;
  try {
    file = await open(place.real, flags);
  } catch (error) {
    throw readable(place.shown, error);
  }
  const stats = await file.stat();
  if (stats.isFile()) return { file, size: stats.size, mode: stats.mode };
  await file.close();
  throw new Error(stats.isDirectory() ? `${place.shown} is a folder.` : `${place.shown} is not a regular file.`);
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error ? String(error.code) : undefined;

/** A file-system error in words. */
export function readable(path: string, error: unknown): Error {
  switch (codeOf(error)) {
    case "ENOENT":
      return new Error(`${path} does not exist.`, { cause: error });
    case "ENOTDIR":
      return new Error(`${path} leads through something that is not a folder.`, { cause: error });
    case "EISDIR":
      return new Error(`${path} is a folder.`, { cause: error });
    case "EACCES":
    case "EPERM":
      return new Error(`${path}: permission denied.`, { cause: error });
    case "ENXIO":
    case "ELOOP":
      return new Error(`${path} is not a regular file.`, { cause: error });
    case "ENAMETOOLONG":
      return new Error("The path is too long.", { cause: error });
    default:
      return error instanceof Error ? error : new Error(String(error));
  }
}

/** How far into a file binary content is looked for. */
export const PROBE_BYTES = 8_192;

/** Whether bytes are not text: a zero byte, or the mark of a 16-bit encoding. */
export const isBinary = (bytes: Uint8Array): boolean =>
  bytes.subarray(0, PROBE_BYTES).includes(0) ||
  (bytes[0] === 0xff && bytes[1] === 0xfe) ||
  (bytes[0] === 0xfe && bytes[1] === 0xff);

/** Walking through the files of a workspace: in a stable order, without what nobody means, never out of it. */
import { realpathSync, type Dirent } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import { join, matchesGlob, relative, sep } from "node:path";
import { codeOf, readable, type Place } from "./workspace-paths.ts";

/** Folders that are never what a question is about. */
const PASSED_OVER = new Set(["node_modules", ".git", ".rcra", "dist"]);

/** A file: `shown` is relative to the workspace, with slashes. */
export type FoundFile = { real: string; shown: string; size: number };

/**
 * Yields the files under a place, sorted by path; a place that is a file is just that one. Links to files inside of the
 * workspace count as files, links to folders are not entered, links that lead out are passed over.
 * @throws Error for a place that does not exist and for a glob that could take too long
 */
export async function* walk(place: Place, glob: string | undefined): AsyncGenerator<FoundFile> {
  const matches = matcher(glob);
  const stats = await lstat(place.real).catch((error: unknown) => {
    throw readable(place.shown, error);
  });
  if (stats.isFile()) yield { real: place.real, shown: withSlashes(place.shown), size: stats.size };
  else if (stats.isDirectory()) yield* walkFolder(place, place.real, matches);
  else throw new Error(`${place.shown} is neither a file nor a folder.`);
}

type Matcher = (fromStart: string) => boolean;

async function* walkFolder(place: Place, folder: string, matches: Matcher): AsyncGenerator<FoundFile> {
  for (const entry of await sortedEntries(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!PASSED_OVER.has(entry.name)) yield* walkFolder(place, path, matches);
      continue;
    }
    if (!matches(withSlashes(relative(place.real, path)))) continue;
    const size = await sizeInside(place.root, path, entry);
    if (size !== undefined) yield { real: path, shown: withSlashes(relative(place.root, path)), size };
  }
}

/** In the order of whole paths: a folder stands where its name with a slash would. */
async function sortedEntries(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const key = (entry: Dirent) => (entry.isDirectory() ? `${entry.name}/` : entry.name);
    return entries.sort((a, b) => (key(a) < key(b) ? -1 : 1));
  } catch (error) {
    // Removed meanwhile, or not for this user: what can be seen is shown.
    if (codeOf(error) === "ENOENT" || codeOf(error) === "EACCES") return [];
    throw error;
  }
}

/** The size of a regular file that really is in the workspace. */
async function sizeInside(root: string, path: string, entry: Dirent): Promise<number | undefined> {
  if (!entry.isFile() && !entry.isSymbolicLink()) return undefined;
  try {
    if (entry.isSymbolicLink() && !realpathSync(path).startsWith(root + sep)) return undefined;
    const stats = await stat(path);
    return stats.isFile() ? stats.size : undefined;
  } catch {
    return undefined;
  }
}

const withSlashes = (path: string): string => (sep === "/" ? path : path.replaceAll(sep, "/"));

const LONGEST_GLOB = 200;
const MOST_CHOICES = 4;

/** A glob without a slash speaks of names, one with a slash of paths from where the walk begins. */
function matcher(glob: string | undefined): Matcher {
  if (glob === undefined) return () => true;
  // Choices multiply, and nested repetition can take for ever.
  const choices = glob.split("{").length - 1;
  if (glob.length > LONGEST_GLOB || choices > MOST_CHOICES || /\{[^}]*\.\.|[+*?@!]\(/.test(glob))
    throw new Error("This glob is too complicated: use *, **, ?, [abc] and at most four {a,b}.");
  const pattern = glob.includes("/") ? glob.replace(/^\.?\//, "") : `**/${glob}`;
  return (path) => matchesGlob(path, pattern);
}

/** What the file system says, in words that help. */
import { AgentError } from "../../core/errors.ts";
import { StoreError } from "../../ports.ts";

/** The code of a file-system error, if it is one. */
export const errno = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;

/** Runs one piece of file work; what fails in it becomes `StoreUnavailable`, errors that are typed already pass. */
export function guarded<T>(path: string, what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw unavailable(path, what, error);
  }
}

/** As {@link guarded}, for work that waits. */
export async function guardedAsync<T>(path: string, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw unavailable(path, what, error);
  }
}

/** Nothing was written: `StoreUnavailable` with the path and what mends it. */
export function unavailable(path: string, what: string, error: unknown): Error {
  if (error instanceof StoreError || error instanceof AgentError) return error;
  const code = errno(error);
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreError("StoreUnavailable", `cannot ${what} ${path}: ${mend(code) ?? reason}`, {
    cause: error,
    details: { path, code },
  });
}

function mend(code: string | undefined): string | undefined {
  switch (code) {
    case "ENOSPC":
      return "the disk is full (ENOSPC); free some space and try again";
    case "EDQUOT":
      return "the disk quota is used up (EDQUOT); free some space and try again";
    case "EACCES":
    case "EPERM":
      return `permission denied (${code}); give this user the right to read and write there`;
    case "EROFS":
      return "the file system is read-only (EROFS); remount it for writing or choose another folder";
    case "ENOTDIR":
    case "EEXIST":
      return `a file stands where a folder is needed (${code}); move it away or choose another folder`;
    case "EMFILE":
    case "ENFILE":
      return `too many open files (${code}); raise the limit or run fewer sessions at once`;
    case "EISDIR":
      return "a folder stands where a file is needed (EISDIR); move it away";
    default:
      return undefined;
  }
}

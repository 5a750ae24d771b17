/** The version of this package, as `package.json` has it. */
import { readFileSync } from "node:fs";

/** Found from the sources and from the bundle alike: the nearest package.json upwards that is ours. */
function find(): string {
  for (const up of ["../../package.json", "../package.json"])
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(up, import.meta.url), "utf8"));
      if (name === "rcra") return version;
    } catch {
      // Not here: the next place.
    }
  return "unknown";
}

export const VERSION = find();

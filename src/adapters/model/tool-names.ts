/** Names of tools on the wire: chat providers take only letters, digits, `_` and `-`, at most 64 of them. */
import { createHash } from "node:crypto";

const accepted = /^[a-zA-Z0-9_-]{1,64}$/;
/** How a mapped name ends. A tool whose own name ends so is mapped as well, so no two names can meet. */
const mapped = /_x[0-9a-f]{10}$/;

/**
 * The name a provider is shown for a tool: the tool's own when it is accepted, else its readable part and a hash. A pure
 * function of the name, so histories and requests agree in every process.
 */
export function wireName(name: string): string {
  if (accepted.test(name) && !mapped.test(name)) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 10);
  const readable = name.replace(/[^a-zA-Z0-9_-]+/g, "_").slice(0, 52);
  return `${readable}_x${hash}`;
}

/**
 * How names of these tools come back from the wire. A name that is not among them comes back as it is.
 * @throws Error when two tools would look alike to the provider (the same name twice, or a hash collision).
 */
export function toolNames(tools: readonly { name: string }[]): (wire: string) => string {
  const back = new Map<string, string>();
  for (const { name } of tools) {
    const wire = wireName(name);
    const other = back.get(wire);
    if (other !== undefined)
      throw new Error(`Tools ${JSON.stringify(other)} and ${JSON.stringify(name)} have one wire name.`);
    back.set(wire, name);
  }
  return (wire) => back.get(wire) ?? wire;
}

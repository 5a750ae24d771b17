/** Where two JSON values differ first. */

/** `path` is like `results[0].status`; empty when the values differ as a whole. A side that is missing is undefined. */
export type Difference = { path: string; expected: unknown; actual: unknown };

/** Undefined when both are the same JSON: fields that are undefined count as missing, the order of keys does not matter. */
export function difference(expected: unknown, actual: unknown, path = ""): Difference | undefined {
  if (expected === actual) return undefined;
  if (Array.isArray(expected) && Array.isArray(actual)) {
    for (let i = 0; i < Math.max(expected.length, actual.length); i++) {
      const found = difference(expected[i], actual[i], `${path}[${i}]`);
      if (found) return found;
    }
    return undefined;
  }
  if (isRecord(expected) && isRecord(actual)) {
    for (const key of Object.keys({ ...expected, ...actual })) {
      const found = difference(expected[key], actual[key], path === "" ? key : `${path}.${key}`);
      if (found) return found;
    }
    return undefined;
  }
  return { path, expected, actual };
}

const isRecord = (value: unknown): value is { [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

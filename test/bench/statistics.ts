/** Few numbers out of many, on a machine that others use too. */

/** The 25th percentile, between neighbours where it falls between them: low noise, and not a lucky best. */
export function quartile(values: readonly number[]): number {
  if (values.length === 0) throw new Error("nothing was measured");
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) / 4;
  const below = Math.floor(place);
  const low = sorted[below]!;
  return low + (sorted[Math.min(below + 1, sorted.length - 1)]! - low) * (place - below);
}

/** Rounded to what can be told apart: three significant digits. */
export const rounded = (value: number): number => Number(value.toPrecision(3));

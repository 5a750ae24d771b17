/** How full the model's context is, as far as anybody knows. */
export type Pressure = {
  /** Instructions and tools, estimated. */
  base: number;
  /** The view, estimated. */
  view: number;
  /** What the provider counted for the last request and its answer; null before it said anything. */
  anchor: number | null;
  /** Estimated growth since the anchor. */
  since: number;
  /** What the provider counts for one estimated token, as its last count told. */
  ratio: number;
};

/** A provider that counts far more or less counts something else: what it says of one request is not stretched further. */
const RATIO = { least: 0.75, most: 3 };

export const noPressure = (base = 0): Pressure => ({ base, view: 0, anchor: null, since: 0, ratio: 1 });

/** Tokens of the next request: what the provider counted plus growth, else an estimate of everything. */
export const tokensOf = (p: Pressure): number => (p.anchor === null ? (p.base + p.view) * p.ratio : p.anchor + p.since);

/** After this many more estimated tokens entered the view. */
export const grown = (p: Pressure, tokens: number): Pressure =>
  tokens === 0 ? p : { ...p, view: p.view + tokens, since: p.since + tokens };

/** After a provider counted a request, and the answer joined the view. Zero or nothing proves nothing. */
export function counted(p: Pressure, input: number | undefined, answer: number): Pressure {
  if (!input) return grown(p, answer);
  const estimate = p.base + p.view;
  const ratio = estimate > 0 ? Math.min(RATIO.most, Math.max(RATIO.least, input / estimate)) : 1;
  return { ...p, view: p.view + answer, anchor: input + answer, since: 0, ratio };
}

/** After a compaction left a view of this size: what was counted before says nothing any more. */
export const shrunk = (p: Pressure, view: number): Pressure => ({ ...p, view, anchor: null, since: 0 });

/** How large the view may be, in estimated tokens, for a request of this many as the provider counts them. */
export const viewWithin = (p: Pressure, tokens: number, pending: number): number => tokens / p.ratio - p.base - pending;

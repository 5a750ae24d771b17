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
};

export const noPressure: Pressure = { base: 0, view: 0, anchor: null, since: 0 };

/** Tokens of the next request: what the provider counted plus growth, else an estimate of everything. */
export const tokensOf = (p: Pressure): number => (p.anchor === null ? p.base + p.view : p.anchor + p.since);

/** After this many more estimated tokens entered the view. */
export const grown = (p: Pressure, tokens: number): Pressure =>
  tokens === 0 ? p : { ...p, view: p.view + tokens, since: p.since + tokens };

/** After the provider counted a request and its answer. */
export const counted = (p: Pressure, tokens: number): Pressure => ({ ...p, anchor: tokens, since: 0 });

/** After a compaction left a view of this size: what was counted before says nothing any more. */
export const shrunk = (p: Pressure, view: number): Pressure => ({ ...p, view, anchor: null, since: 0 });

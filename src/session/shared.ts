/** What every session of an agent shares, by the names that effects know it by. */
import type { Parts } from "./agent.ts";

export class Shared {
  readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  get chain() {
    return this.parts.chain;
  }
  get limits() {
    return this.parts.limits;
  }
  get compaction() {
    return this.parts.compaction;
  }
  get count() {
    return this.parts.count;
  }
  get store() {
    return this.parts.store;
  }
  get clock() {
    return this.parts.clock;
  }
  get ids() {
    return this.parts.ids;
  }
  get logger() {
    return this.parts.logger;
  }
  jitter(): number {
    return this.parts.jitter();
  }
}

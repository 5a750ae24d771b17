/** Fakes that stand in for the outside: time that moves when told, names that repeat from run to run. */
import type { Clock, Ids } from "../ports.ts";

export type FakeClock = Clock & {
  /** Moves time on and fires what is due, in order, letting promises settle in between. */
  advance(ms: number): Promise<void>;
  /** How many timers are set. */
  readonly timers: number;
};

/** A clock that stands still until `advance`. */
export function fakeClock(start = 1_700_000_000_000): FakeClock {
  let now = start;
  let next = 1;
  const timers = new Map<number, { at: number; fire: () => void }>();
  return {
    now: () => now,
    setTimer(ms, fire) {
      const id = next++;
      timers.set(id, { at: now + ms, fire });
      return () => void timers.delete(id);
    },
    get timers() {
      return timers.size;
    },
    async advance(ms) {
      const until = now + ms;
      await settled();
      while (true) {
        const due = [...timers].filter(([, t]) => t.at <= until).sort(([a, x], [b, y]) => x.at - y.at || a - b)[0];
        if (!due) break;
        timers.delete(due[0]);
        now = Math.max(now, due[1].at);
        due[1].fire();
        await settled();
      }
      now = until;
    },
  };
}

/** Lets everything that is ready happen: promise reactions, however deep, in one macrotask. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Ids that count: `run_1`, `in_1`, `in_2`. */
export function fakeIds(): Ids {
  const counts = new Map<string, number>();
  return {
    next(prefix) {
      const n = (counts.get(prefix) ?? 0) + 1;
      counts.set(prefix, n);
      return `${prefix}_${n}`;
    },
  };
}

/** The real clock and the real names; everything else in the runtime gets them through its ports. */
import type { Clock, Ids } from "../ports.ts";

/**
 * Wall-clock time. A timer keeps the process alive until it fires or is cancelled, because somebody is waiting for it.
 * A delay beyond what the platform can hold in one timer (24.8 days) is waited for in slices.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(ms, fire) {
    let timer: NodeJS.Timeout;
    const wait = (left: number) => {
      const slice = Math.min(left, LONGEST_TIMER_MS);
      timer = setTimeout(() => (left > slice ? wait(left - slice) : fire()), Math.max(0, slice));
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};

/** Node fires a timer at once when its delay does not fit 31 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Names such as `run_01k2v9m3xq7c0p5e8h4a`: twenty characters of lower-case Crockford base32, of which nine are the
 * millisecond and eleven (55 bits) are random. They sort by time; within a process each is greater than the one before,
 * also when the clock goes back.
 */
export const systemIds: Ids = {
  next: (prefix) => `${prefix}_${nextStamp()}`,
};

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_LENGTH = 9;
const RANDOM_LENGTH = 11;

let lastTime = 0;
let lastRandom: number[] = [];

function nextStamp(): string {
  const now = Date.now();
  if (now > lastTime) {
    lastTime = now;
    lastRandom = [...crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH))].map((byte) => byte & 31);
  } else if (!increment(lastRandom)) {
    lastTime += 1;
    lastRandom = [...crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH))].map((byte) => byte & 31);
  }
  let time = "";
  for (let rest = lastTime, i = 0; i < TIME_LENGTH; i++, rest = Math.floor(rest / 32))
    time = ALPHABET.charAt(rest % 32) + time;
  return time + lastRandom.map((digit) => ALPHABET.charAt(digit)).join("");
}

/** Counts up by one in base 32; `false` when every digit was at its highest. */
function increment(digits: number[]): boolean {
  for (let i = digits.length - 1; i >= 0; i--) {
    if (digits[i]! < 31) {
      digits[i]! += 1;
      return true;
    }
    digits[i] = 0;
  }
  return false;
}

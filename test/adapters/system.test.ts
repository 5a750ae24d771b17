import { expect, test, vi } from "vitest";
import { systemClock, systemIds } from "../../src/adapters/system.ts";

test("names of one process are all different and sort in the order they were made", () => {
  const names = Array.from({ length: 10_000 }, () => systemIds.next("run"));
  expect(new Set(names).size).toBe(names.length);
  expect([...names].sort()).toEqual(names);
  for (const name of names.slice(0, 10)) expect(name).toMatch(/^run_[0-9a-hjkmnp-tv-z]{20}$/);
});

test("names go on rising when the clock goes back", () => {
  const now = vi.spyOn(Date, "now");
  try {
    const before = systemIds.next("x");
    now.mockReturnValue(1);
    expect(systemIds.next("x") > before).toBe(true);
  } finally {
    now.mockRestore();
  }
});

test("a timer fires once, later, and not when it was cancelled", () => {
  vi.useFakeTimers();
  try {
    const fire = vi.fn();
    systemClock.setTimer(0, fire);
    const cancel = systemClock.setTimer(5, fire);
    expect(fire).not.toHaveBeenCalled();
    cancel();
    vi.advanceTimersByTime(100);
    expect(fire).toHaveBeenCalledTimes(1);
  } finally {
    vi.useRealTimers();
  }
});

test("a timer can be longer than the platform allows, and cancelled in between", () => {
  vi.useFakeTimers();
  try {
    const fire = vi.fn();
    const days = 24 * 60 * 60 * 1000;
    systemClock.setTimer(60 * days, fire);
    const cancel = systemClock.setTimer(60 * days, fire);
    vi.advanceTimersByTime(59 * days);
    expect(fire).not.toHaveBeenCalled();
    cancel();
    vi.advanceTimersByTime(2 * days);
    expect(fire).toHaveBeenCalledTimes(1);
  } finally {
    vi.useRealTimers();
  }
});

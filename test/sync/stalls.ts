/** Lets a silent git time out without a wait. On a busy machine, any git may be silent for seconds. */

import { expect, onTestFinished, vi } from "vitest";

/** A limit that no git process in a test reaches. */
const STALL_MS = 30 * 60_000;
export const STALL = { stallTimeout: "30m" };

/**
 * Watches the timers of runs with STALL. Returns a function that times out all running git processes, once there is
 * one.
 */
export function watchSilence(): () => Promise<void> {
  const running = new Map<unknown, () => void>();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const setAndNote = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const timer = set(callback, ms, ...args);
    if (ms === STALL_MS) running.set(timer, callback);
    return timer;
  };
  vi.spyOn(globalThis, "setTimeout").mockImplementation(setAndNote as typeof setTimeout);
  vi.spyOn(globalThis, "clearTimeout").mockImplementation((timer) => {
    running.delete(timer);
    clear(timer);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  return async () => {
    await expect.poll(() => running.size).toBeGreaterThan(0);
    for (const callback of running.values()) callback();
  };
}

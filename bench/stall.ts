/**
 * How long the thread that calls the engine is held up: the longest time between two turns of its
 * event loop, looked at every millisecond.
 *
 * On a machine with fewer cores than busy threads a part of that is no doing of the engine's: the
 * thread was ready to run and no core was free. Linux tells how much (the second number of schedstat),
 * and `ms` is without it. What the thread computes, collects as garbage or waits for on the disk stays.
 * A look costs some microseconds.
 */

import { closeSync, openSync, readSync } from "node:fs";

export interface Stall {
  readonly ms: number;
  /** With the time no core was free; the same as `ms` where the system does not tell. */
  readonly msWithWaiting: number;
}

const INTERVAL_MS = 1;

/** Answers the longest stall of the calling thread since the call. */
export function watchStalls(): () => Promise<Stall> {
  const waiting = openWaiting();
  let longest: Stall = { ms: 0, msWithWaiting: 0 };
  let last = { at: performance.now(), waited: waiting.ms() };
  const look = () => {
    const now = { at: performance.now(), waited: waiting.ms() };
    longest = longer(longest, stallOf(now.at - last.at, now.waited - last.waited));
    last = now;
  };
  const timer = setInterval(look, INTERVAL_MS);
  return async () => {
    await new Promise((resolve) => setTimeout(resolve, 5)); // until a stall just now is seen
    clearInterval(timer);
    waiting.close();
    return longest;
  };
}

/** Of the time between two looks, of which the thread waited some for a core. */
export function stallOf(ms: number, waited: number): Stall {
  return {
    ms: Math.max(0, ms - waited - INTERVAL_MS),
    msWithWaiting: Math.max(0, ms - INTERVAL_MS),
  };
}

/** Either of them by itself. */
const longer = (a: Stall, b: Stall): Stall => ({
  ms: Math.max(a.ms, b.ms),
  msWithWaiting: Math.max(a.msWithWaiting, b.msWithWaiting),
});

/** How long this thread has been ready without a core, all its life; 0 where the system does not tell. */
function openWaiting(): { ms(): number; close(): void } {
  const line = Buffer.alloc(128);
  try {
    const file = openSync("/proc/thread-self/schedstat", "r");
    return {
      ms() {
        const length = readSync(file, line, 0, line.length, 0);
        return Number(line.toString("latin1", 0, length).split(" ")[1]) / 1e6;
      },
      close: () => closeSync(file),
    };
  } catch {
    return { ms: () => 0, close: () => {} };
  }
}

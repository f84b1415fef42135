/**
 * Measures how long the thread that calls the engine is blocked: the longest time between two turns of its event loop,
 * sampled every millisecond.
 *
 * The clock alone does not say what blocked the thread. So these causes are distinguished. If the event loop had
 * nothing to do, nothing is to blame; a timer that comes late finds the loop asleep. If the thread was ready and no
 * core was free, the machine is to blame; Linux counts this time (the second number of schedstat). Pauses of V8's
 * garbage collector may wait for helper threads that have no core. A sample takes some ten microseconds, and two turns
 * of less than a millisecond may look like one.
 */

import { closeSync, openSync, readSync } from "node:fs";
import { PerformanceObserver, performance } from "node:perf_hooks";

/** The longest times, which may come from different turns. */
export interface Stall {
  /** Milliseconds without the time in which no core was free. */
  readonly ms: number;
  /** Milliseconds by the clock. The same as `ms` if the system does not report waiting. */
  readonly msWithWaiting: number;
  /** Milliseconds without pauses of the garbage collector, either: what the engine did, and waited for. */
  readonly msOfOurs: number;
  /** Milliseconds in which the thread worked, including garbage collection; 0 if the system does not report it. */
  readonly workedMs: number;
  /**
   * Milliseconds in which the thread worked, without garbage collection as far as is known. Noise affects this least.
   */
  readonly ownMs: number;
}

const INTERVAL_MS = 1;
/**
 * The shortest stall for which the garbage collector's part is recorded. For shorter stalls, only the length is
 * recorded.
 */
const KEPT_MS = 2;

export const NO_STALL: Stall = { ms: 0, msWithWaiting: 0, msOfOurs: 0, workedMs: 0, ownMs: 0 };

/** The clocks of one thread, read at the same moment. */
export interface Reading {
  readonly at: number;
  /** The time in which the event loop slept. */
  readonly idle: number;
  readonly waited: number;
  readonly worked: number;
}

interface Pause {
  readonly startTime: number;
  readonly duration: number;
}

/** Starts to watch. Returns a function that resolves to the longest stall of the calling thread since then. */
export function watchStalls(): () => Promise<Stall> {
  const clocks = openClocks();
  const pauses: Pause[] = [];
  const collector = new PerformanceObserver((list) => pauses.push(...list.getEntries()));
  collector.observe({ entryTypes: ["gc"] });
  const turns: (readonly [Reading, Reading])[] = [];
  let longest = NO_STALL;
  let last = clocks.read();
  const look = () => {
    const now = clocks.read();
    const stall = stallOf(last, now, []);
    if (stall.msWithWaiting > KEPT_MS) turns.push([last, now]);
    else longest = longer(longest, stall);
    last = now;
  };
  const timer = setInterval(look, INTERVAL_MS);
  return async () => {
    await new Promise((resolve) => setTimeout(resolve, 5)); // so that a stall just now is seen
    clearInterval(timer);
    await new Promise((resolve) => setTimeout(resolve, 5)); // so that the garbage collector's last entry arrives
    collector.disconnect();
    clocks.close();
    return turns.map(([from, to]) => stallOf(from, to, pauses)).reduce(longer, longest);
  };
}

/**
 * Returns the stall between two readings. Waiting that occurred while the loop slept delayed its waking, and is not a
 * part of the turn.
 */
export function stallOf(from: Reading, to: Reading, pauses: readonly Pause[]): Stall {
  const idle = to.idle - from.idle;
  const msWithWaiting = Math.max(0, to.at - from.at - idle);
  const asleep = Math.max(0, idle - INTERVAL_MS);
  const waited = Math.max(0, to.waited - from.waited - asleep);
  const ms = Math.max(0, msWithWaiting - waited);
  const collected = pauses.reduce((sum, { startTime, duration }) => {
    const inside = Math.min(startTime + duration, to.at) - Math.max(startTime, from.at);
    return sum + Math.max(0, inside);
  }, 0);
  // the time in which the thread waited for a core within a pause is in both
  const msOfOurs = Math.min(ms, Math.max(0, msWithWaiting - Math.max(collected, waited)));
  const workedMs = to.worked - from.worked;
  // at least the part of the pauses in which the thread worked; it may have waited for the rest
  const collecting = Math.max(0, collected - Math.max(0, msWithWaiting - workedMs));
  return { ms, msWithWaiting, msOfOurs, workedMs, ownMs: Math.max(0, workedMs - collecting) };
}

/** Returns the larger value of each field. */
export const longer = (a: Stall, b: Stall): Stall => ({
  ms: Math.max(a.ms, b.ms),
  msWithWaiting: Math.max(a.msWithWaiting, b.msWithWaiting),
  msOfOurs: Math.max(a.msOfOurs, b.msOfOurs),
  workedMs: Math.max(a.workedMs, b.workedMs),
  ownMs: Math.max(a.ownMs, b.ownMs),
});

/** A reading that takes longer was interrupted, so its numbers are not from the same moment. */
const MOST_READING_MS = 0.2;
const MOST_READINGS = 10;

/** Opens the clocks of the calling thread. */
export function openClocks(): { read(): Reading; close(): void } {
  const thread = openSchedule();
  const read = (): Reading => {
    const { worked, waited } = thread.read();
    return { at: performance.now(), idle: performance.eventLoopUtilization().idle, worked, waited };
  };
  return {
    read() {
      for (let tries = 1; ; tries++) {
        const begun = performance.now();
        const reading = read();
        if (reading.at - begun < MOST_READING_MS || tries === MOST_READINGS) return reading;
      }
    },
    close: () => thread.close(),
  };
}

/**
 * Opens the counts of how long this thread has worked in its life, and was ready without a core; 0 if the system does
 * not report them.
 */
function openSchedule(): { read(): Pick<Reading, "worked" | "waited">; close(): void } {
  const line = Buffer.alloc(128);
  try {
    const file = openSync("/proc/thread-self/schedstat", "r");
    return {
      read() {
        process.cpuUsage(); // makes Linux count up to now; otherwise the number may be 4 ms old
        const length = readSync(file, line, 0, line.length, 0);
        const [worked, waited] = line.toString("latin1", 0, length).split(" ");
        return { worked: Number(worked) / 1e6, waited: Number(waited) / 1e6 };
      },
      close: () => closeSync(file),
    };
  } catch {
    return { read: () => ({ worked: 0, waited: 0 }), close: () => {} };
  }
}

/**
 * How long the thread that calls the engine is held up: the longest time between two turns of its
 * event loop, looked at every millisecond.
 *
 * By the clock alone one cannot say who it was that held it up. What is told apart: time in which the
 * loop had nothing to do is nobody's (a timer that comes late finds the loop asleep); time in which the
 * thread was ready and no core was free is the machine's (Linux counts it, the second number of
 * schedstat); pauses of V8's collector, which may wait for helpers that have no core. A look costs some
 * ten microseconds, and two turns of less than a millisecond may be seen as one.
 */

import { closeSync, openSync, readSync } from "node:fs";
import { PerformanceObserver, performance } from "node:perf_hooks";

/** The longest of each, in one turn or in different ones. */
export interface Stall {
  /** Without the time no core was free. */
  readonly ms: number;
  /** With it, and so by the clock; the same as `ms` where the system does not tell. */
  readonly msWithWaiting: number;
  /** Without the collector's pauses too: what the engine did, and waited for. */
  readonly msOfOurs: number;
  /** In which the thread worked, the collector's part among it; 0 where the system does not tell. */
  readonly workedMs: number;
  /** The same without the collector's part, as far as one can tell: what noise adds least to. */
  readonly ownMs: number;
}

const INTERVAL_MS = 1;
/** Shorter ones are kept as numbers only, without what the collector did in them. */
const KEPT_MS = 2;

export const NO_STALL: Stall = { ms: 0, msWithWaiting: 0, msOfOurs: 0, workedMs: 0, ownMs: 0 };

/** Of the times of one thread: what they read at the same moment. */
export interface Reading {
  readonly at: number;
  /** In which the event loop slept. */
  readonly idle: number;
  readonly waited: number;
  readonly worked: number;
}

interface Pause {
  readonly startTime: number;
  readonly duration: number;
}

/** Answers the longest stall of the calling thread since the call. */
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
    await new Promise((resolve) => setTimeout(resolve, 5)); // until a stall just now is seen
    clearInterval(timer);
    await new Promise((resolve) => setTimeout(resolve, 5)); // until the collector's last entry is here
    collector.disconnect();
    clocks.close();
    return turns.map(([from, to]) => stallOf(from, to, pauses)).reduce(longer, longest);
  };
}

/** Between two looks. Of a wait, what came while the loop slept has delayed its waking and is no part of the turn. */
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
  // what the thread waited for a core within a pause is in both
  const msOfOurs = Math.min(ms, Math.max(0, msWithWaiting - Math.max(collected, waited)));
  const workedMs = to.worked - from.worked;
  // of a pause that part at least in which the thread worked; the rest it may have waited
  const collecting = Math.max(0, collected - Math.max(0, msWithWaiting - workedMs));
  return { ms, msWithWaiting, msOfOurs, workedMs, ownMs: Math.max(0, workedMs - collecting) };
}

/** Each of them by itself. */
export const longer = (a: Stall, b: Stall): Stall => ({
  ms: Math.max(a.ms, b.ms),
  msWithWaiting: Math.max(a.msWithWaiting, b.msWithWaiting),
  msOfOurs: Math.max(a.msOfOurs, b.msOfOurs),
  workedMs: Math.max(a.workedMs, b.workedMs),
  ownMs: Math.max(a.ownMs, b.ownMs),
});

/** A reading that took so long was interrupted: its numbers are not of the same moment. */
const MOST_READING_MS = 0.2;
const MOST_READINGS = 10;

/** Of the calling thread. */
export function openClocks(): { read(): Reading; close(): void } {
  const thread = openSchedule();
  const read = (): Reading => {
    const { worked, waited } = thread.read();
    return { at: performance.now(), idle: performance.eventLoopUtilization().idle, worked, waited };
  };
  return {
    read() {
      let reading = read();
      for (let tries = 1; tries < MOST_READINGS; tries++) {
        const before = reading.at;
        reading = read();
        if (reading.at - before < MOST_READING_MS) break;
      }
      return reading;
    },
    close: () => thread.close(),
  };
}

/** How long this thread has worked, and been ready without a core, all its life; 0 where the system does not tell. */
function openSchedule(): { read(): Pick<Reading, "worked" | "waited">; close(): void } {
  const line = Buffer.alloc(128);
  try {
    const file = openSync("/proc/thread-self/schedstat", "r");
    return {
      read() {
        process.cpuUsage(); // has Linux count up to now; the number is else up to 4 ms old
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

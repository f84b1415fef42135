/**
 * How long a thread may work on something, in its own processor time: on a busy machine a clock also
 * counts the time in which the thread had no core. Where the system does not tell, the clock alone counts.
 *
 * Cost: some 2 µs at the start, and a look at the clock for each question. How long the thread has
 * worked is looked at only once the clock says that it may be over.
 */

import { openSync, readSync } from "node:fs";

/** What a limit reads, in ms from whenever. */
export interface Times {
  clock(): number;
  /** In which the calling thread had a core; up to a tick of the scheduler old, 4 to 10 ms. Undefined where the system does not tell. */
  worked(): number | undefined;
}

/** By the clock a limit is over after so many times as long, whatever the thread has worked: nothing waits for ever. */
export const PATIENCE = 10;

let worked: Times["worked"] | undefined;

/** Of the calling thread. */
export const THREAD_TIMES: Times = {
  clock: () => performance.now(),
  worked: () => (worked ??= openWorked())(),
};

/** Answers whether it is over, and goes on saying so. */
export function startLimit(maxMs: number, times: Times = THREAD_TIMES): () => boolean {
  const [start, before] = [times.clock(), times.worked()];
  const end = start + PATIENCE * maxMs;
  let next = start + maxMs;
  return () => {
    const now = times.clock();
    if (now <= next) return false;
    const after = times.worked();
    if (before === undefined || after === undefined || now > end) return true;
    const left = maxMs - (after - before);
    if (left > 0) next = Math.min(now + left, end); // it cannot work so long sooner
    return left <= 0;
  };
}

/** Newer versions of Node tell, on Linux else the kernel. What this opens is the thread's until it ends. */
export function openWorked(): Times["worked"] {
  const { threadCpuUsage } = process as { threadCpuUsage?: typeof process.cpuUsage };
  if (threadCpuUsage !== undefined)
    return () => {
      const { user, system } = threadCpuUsage();
      return (user + system) / 1000;
    };
  try {
    const file = openSync("/proc/thread-self/schedstat", "r");
    const line = Buffer.alloc(64);
    return () => {
      const length = readSync(file, line, 0, line.length, 0);
      const nanoseconds = Number.parseInt(line.toString("latin1", 0, length), 10);
      return nanoseconds > 0 ? nanoseconds / 1e6 : undefined; // of a kernel that does not count it is 0
    };
  } catch {
    return () => undefined;
  }
}

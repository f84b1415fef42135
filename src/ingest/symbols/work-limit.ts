/**
 * Limits the processor time that a thread may spend on one task. A wall clock would also count the time in which the
 * thread waits for a core of a busy machine. The wall clock is used only if the system does not report the processor
 * time of threads.
 *
 * Starting a limit takes about 2 µs, and each check reads the wall clock. The processor time is read only when enough
 * wall-clock time has passed that the limit may be reached.
 */

import { openSync, readSync } from "node:fs";

/** The clocks that a limit reads. Both return milliseconds since an arbitrary moment. */
export interface Times {
  clock(): number;
  /**
   * Returns the processor time of the calling thread, or undefined if the system does not report it. The value may
   * lag by one tick of the scheduler, which is 4 to 10 ms.
   */
  worked(): number | undefined;
}

/**
 * A limit is also reached when the wall clock has advanced by PATIENCE times the limit. So every limit is reached
 * eventually, however little processor time the thread gets.
 */
const PATIENCE = 10;

let worked: Times["worked"] | undefined;

/** The clocks of the calling thread. */
export const THREAD_TIMES: Times = {
  clock: () => performance.now(),
  worked: () => (worked ??= openWorked())(),
};

/** Starts a limit of `maxMs` milliseconds. Returns a function that returns true when the limit is reached. */
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
    if (left > 0) next = Math.min(now + left, end); // the limit cannot be reached before this time
    return left <= 0;
  };
}

/**
 * Returns a function that reads the processor time of the calling thread. Newer versions of Node.js report this time.
 * In older versions, the function reads it from a file of the Linux kernel, which stays open until the thread ends.
 * On other systems, the function returns undefined.
 */
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
      // the kernel returns 0 if it does not count processor time
      return nanoseconds > 0 ? nanoseconds / 1e6 : undefined;
    };
  } catch {
    return () => undefined;
  }
}

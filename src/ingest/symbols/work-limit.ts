/**
 * Limits how long a thread may work on something. The limit is in the thread's processor time, because on a busy
 * machine a clock also counts the time in which the thread had no core. If the system does not report processor time,
 * the clock decides.
 *
 * A limit costs about 2 µs at the start, and a read of the clock at each check. The thread's processor time is read
 * only once the clock says that the limit may be reached.
 */

import { openSync, readSync } from "node:fs";

/** The clocks that a limit reads, in milliseconds from any starting point. */
export interface Times {
  clock(): number;
  /**
   * Returns the processor time of the calling thread. It may lag by a tick of the scheduler (4 to 10 ms). Undefined if
   * the system does not report it.
   */
  worked(): number | undefined;
}

/**
 * A limit is also reached when the clock has advanced by this many times its length. So every limit ends, however
 * little the thread works.
 */
const PATIENCE = 10;

let worked: Times["worked"] | undefined;

/** The clocks of the calling thread. */
export const THREAD_TIMES: Times = {
  clock: () => performance.now(),
  worked: () => (worked ??= openWorked())(),
};

/** Starts a limit. Returns a function that says whether the limit is reached. */
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
 * Returns a function that reads the thread's processor time: from Node in newer versions, otherwise from the kernel
 * on Linux. The file that it opens stays open until the thread ends.
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
      return nanoseconds > 0 ? nanoseconds / 1e6 : undefined; // the value is 0 if the kernel does not count processor time
    };
  } catch {
    return () => undefined;
  }
}

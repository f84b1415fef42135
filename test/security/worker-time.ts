/**
 * Measures how long the only worker of an engine has worked. Linux reports this for each thread of the process,
 * independent of other load. The value may be a tick of the scheduler old, 4 to 10 ms, while the thread works.
 */

import { readdirSync, readFileSync } from "node:fs";

const TASKS = "/proc/self/task";

const workedMs = (task: string): number => {
  try {
    return Number.parseInt(readFileSync(`${TASKS}/${task}/schedstat`, "latin1"), 10) / 1e6;
  } catch {
    return 0; // it has ended
  }
};

/** Returns the clock of the thread that works most while `keepBusy` runs, other than the calling one. */
export async function workerClock(keepBusy: () => Promise<unknown>): Promise<() => number> {
  const read = () => new Map(readdirSync(TASKS).map((task) => [task, workedMs(task)]));
  const before = read();
  await keepBusy();
  let [busiest, most] = ["", 0];
  for (const [task, worked] of read()) {
    const more = worked - (before.get(task) ?? 0);
    if (task !== String(process.pid) && more > most) [busiest, most] = [task, more];
  }
  return () => workedMs(busiest);
}

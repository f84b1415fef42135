/** Measures how long the work of a call blocks the thread of the tests. */

import { watchStalls } from "../../bench/stall.ts";
import { SLOWNESS } from "../slowness.ts";

/** The maximum milliseconds of processor time in one turn. The documented limit is 5. */
export const MOST_MS = 7 * SLOWNESS;
export const TRIES = 15;

/**
 * Resolves to the longest turn of the thread, in the run in which that was shortest. quern's own work is in every run.
 */
export async function longestTurn(run: () => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let left = TRIES; left > 0 && least >= MOST_MS; left--) {
    const longest = watchStalls();
    await run();
    least = Math.min(least, (await longest()).ownMs);
  }
  return least;
}

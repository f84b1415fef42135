/** How long a thread of the tests is held up by its own work. */

import { watchStalls } from "../../bench/stall.ts";
import { SLOWNESS } from "../slowness.ts";

/** Of its processor time, ms: the promise is 5. */
export const MOST_MS = 7 * SLOWNESS;
export const TRIES = 5;

/** The longest turn of the thread's own work, of the run in which it was least: what is ours is in every one. */
export async function longestTurn(run: () => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let left = TRIES; left > 0 && least >= MOST_MS; left--) {
    const longest = watchStalls();
    await run();
    least = Math.min(least, (await longest()).ownMs);
  }
  return least;
}

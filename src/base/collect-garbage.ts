/**
 * Collects all garbage of this thread's heap immediately. V8 itself does not collect garbage while a thread is idle.
 * After trim(), a process with 400 MB of cached text takes 238 MiB of memory, and would take 638 MiB without this code.
 */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Collects all garbage now, which takes 4 to 30 ms. REQUIRES: the call is not on the host's thread, because a
 * collection blocks the whole thread.
 */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc"); // contexts that the host creates later must not see the flag
  collect();
}

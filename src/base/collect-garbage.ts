/** A full collection of this thread's heap at once: of a thread that rests V8 collects nothing. */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Takes 4 to 30 ms. REQUIRES: a thread of ours, since all of it stands still. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc"); // what contexts the host makes is not to change
  collect();
}

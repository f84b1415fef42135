/** Giving way to the event loop in long loops of the caller's thread. */

import { setImmediate as nextTurn } from "node:timers/promises";

const SLICE_MS = 2;

/** Await what it returns, in every round: a promise only when a slice is used up. */
export function turnstile(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SLICE_MS) return undefined;
    return nextTurn().then(() => void (since = performance.now()));
  };
}

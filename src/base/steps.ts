/** Divides work into steps of at most a few milliseconds, so that a shared thread can yield between them. */

import type { Pause } from "./yield.ts";

export type Steps<T> = Generator<void, T>;

/** Runs all steps without pauses. */
export function takeAll<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Runs all steps, with a pause after each step. */
export async function takeInSlices<T>(steps: Steps<T>, pause: Pause): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await pause();
  }
}

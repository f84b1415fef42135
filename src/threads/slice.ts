/** Slices of a thread's tasks. They share one clock: what one task has used up the next one has not. */

import { door } from "../base/turnstile.ts";

const SLICE_MS = 4; // what a host may be blocked is 5 ms, and a task looks only every 50 µs or so

class Slice {
  #start = 0;

  /** True at the first call after a rest, too: harmless. */
  get isUsedUp(): boolean {
    return performance.now() - this.#start >= SLICE_MS;
  }

  async giveWay(): Promise<void> {
    await door.wait();
    this.#start = performance.now();
  }
}

/** This thread's: several pools without workers share the one event loop of their host. */
export const slice = new Slice();

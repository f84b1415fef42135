/** Slices of the tasks of a thread, which share one clock: what one has used up the next one has not. */

import { door } from "../base/turnstile.ts";

const SLICE_MS = 4; // what a host may be blocked is 5 ms, and a task looks only every 50 µs or so

class Turnstile {
  #sliceStart = 0;

  /** Whether the thread has worked for a slice. True at the first call after a rest, too: harmless. */
  isDue(): boolean {
    return performance.now() - this.#sliceStart >= SLICE_MS;
  }

  async wait(): Promise<void> {
    await door.wait();
    this.#sliceStart = performance.now();
  }
}

/** This thread's: several pools without workers share the one event loop of their host. */
export const turnstile = new Turnstile();

/** Long loops on the caller's thread: they give the event loop its turn and hear the abort signal. */

import { setImmediate } from "node:timers/promises";
import { QuernError } from "../base/errors.ts";

// ms; leaves room below the promise of 5 ms for the step that is just running
const SLICE = 2;

export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted)
    throw new QuernError("ABORTED", "indexing was aborted", { cause: signal.reason });
}

/** A loop asks `due` (some 40 ns) at each step, and rests when it is. */
export class Pace {
  readonly #signal: AbortSignal;
  #until = performance.now() + SLICE;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get due(): boolean {
    return performance.now() >= this.#until;
  }

  /** Resolves after the event loop has had a turn; rejects with ABORTED. */
  async rest(): Promise<void> {
    throwIfAborted(this.#signal);
    await setImmediate();
    throwIfAborted(this.#signal);
    this.#until = performance.now() + SLICE;
  }
}

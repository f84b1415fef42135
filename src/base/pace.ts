/** Long loops on the caller's thread: they give the event loop its turn and hear the abort signal. */

import { QuernError } from "./errors.ts";
import { door, SLICE_MS } from "./turnstile.ts";

/** What of an AbortSignal is looked at. */
export type Stop = Pick<AbortSignal, "aborted" | "reason">;

export function throwIfAborted(signal: Stop): void {
  if (signal.aborted) throw aborted(signal);
}

export const aborted = ({ reason }: Pick<Stop, "reason">): QuernError =>
  new QuernError("ABORTED", "the caller's signal aborted the run", { cause: reason });

/** A loop asks `due` (some 40 ns) at each step, and rests when it is. */
export class Pace {
  readonly #signal: Stop;
  #until = performance.now() + SLICE_MS;

  constructor(signal: Stop) {
    this.#signal = signal;
  }

  get due(): boolean {
    return performance.now() >= this.#until;
  }

  /** Resolves after the event loop has had a turn; rejects with ABORTED. */
  async rest(): Promise<void> {
    throwIfAborted(this.#signal);
    await door.wait();
    throwIfAborted(this.#signal);
    this.#until = performance.now() + SLICE_MS;
  }
}

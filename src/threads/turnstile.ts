/**
 * Lets the event loop turn between slices of work. All tasks of a thread that give way share one
 * turnstile, and it lets one of them through per turn of the loop: two tasks that resumed in the
 * same turn would block it for two slices.
 */

const SLICE_MS = 4; // what a host may be blocked is 5 ms, and a task looks only every 50 µs or so

class Turnstile {
  #sliceStart = 0;
  readonly #waiting: (() => void)[] = [];

  /** Whether the thread has worked for a slice. True at the first call after a rest, too: harmless. */
  isDue(): boolean {
    return performance.now() - this.#sliceStart >= SLICE_MS;
  }

  /** Resolves in a turn of the event loop in which nobody else is let through. First come, first served. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#admit);
    });
  }

  // an immediate is pending if and only if somebody waits
  readonly #admit = () => {
    const resume = this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(this.#admit);
    this.#sliceStart = performance.now();
    resume?.();
  };
}

/** This thread's: several pools without workers share the one event loop of their host. */
export const turnstile = new Turnstile();

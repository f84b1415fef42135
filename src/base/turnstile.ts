/**
 * Giving way to the event loop in long loops of a thread that others use too. Whatever gives way,
 * searches, index runs and tasks that run inline, goes through one door, which lets one through per
 * turn of the loop: two that went on in the same turn would block it for two slices.
 */

// ms; leaves room below the promise of 5 ms for the step that is just running
export const SLICE_MS = 2;

class Door {
  readonly #waiting: (() => void)[] = [];

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
    resume?.();
  };
}

/** This thread's: several engines share the one event loop of their host. */
export const door = new Door();

/** Called now and then in a long loop: await what it returns, a promise only when it is somebody else's turn. */
export type Pause = () => Promise<void> | undefined;

/** For one loop. A shorter slice is for rounds that take long. */
export function turnstile(sliceMs = SLICE_MS): Pause {
  let since = performance.now();
  const goOn = () => void (since = performance.now());
  return () => (performance.now() - since < sliceMs ? undefined : door.wait().then(goOn));
}

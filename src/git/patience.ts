/**
 * Limits how long git may work without any output. A repository can make git wait forever, if it has a pipe instead
 * of a file for a reference or an object. It can also make git work forever, if each of its trees lists the next tree
 * thousands of times.
 */

import { QuernError } from "../base/errors.ts";

/**
 * The maximum time without output, in milliseconds. Even for a large repository on a slow disk, git answers within
 * seconds.
 */
export const PATIENCE_MS = 120_000;
/**
 * The maximum time that a caller waits for one process in total, in milliseconds. Without this limit, a process that
 * writes one word a minute could work for days.
 */
export const MOST_WAITED_MS = 3_600_000;

/**
 * A timer that limits how long one process may be silent. While output is expected, each piece of output restarts the
 * timer.
 */
export class Patience {
  readonly #onLost: (ms: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #since = 0;
  #waitedMs = 0;

  /** `onLost` is called when a limit is exceeded. Its argument is this limit. */
  constructor(onLost: (ms: number) => void) {
    this.#onLost = onLost;
  }

  expect(): void {
    this.rest();
    this.#since = performance.now();
    const leftMs = MOST_WAITED_MS - this.#waitedMs;
    const isLast = leftMs < PATIENCE_MS;
    this.#timer = setTimeout(
      () => this.#onLost(isLast ? MOST_WAITED_MS : PATIENCE_MS),
      isLast ? leftMs : PATIENCE_MS,
    );
  }

  /** Stops the timer, because no output is expected. */
  rest(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waitedMs += performance.now() - this.#since;
  }
}

export function tooSlow(folder: string, ms: number): QuernError {
  const what =
    ms === MOST_WAITED_MS
      ? `git has worked for ${ms / 60_000} minutes on one task in`
      : `git has been silent for ${ms / 1_000} s over`;
  const message = `${what} the repository ${folder}; it may contain a pipe instead of a file, or objects that refer to each other; run git fsck for details`;
  return new QuernError("SOURCE_UNREADABLE", message);
}

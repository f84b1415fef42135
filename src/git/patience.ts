/**
 * Limits how long git may be silent while it works. A repository can make git wait forever, with a pipe in place of a
 * reference or an object. A repository can also make git work forever, with trees that each list the next one thousands
 * of times.
 */

import { QuernError } from "../base/errors.ts";

/** How long git may be silent. Even for a large repository on a slow disk, git answers within seconds. */
export const PATIENCE_MS = 120_000;
/**
 * The limit for the total time that a caller waits for one process. Without it, a process that writes one word a
 * minute could work for days.
 */
export const MOST_WAITED_MS = 3_600_000;

/** A timer for the silence of one process. While output is expected, each piece of output restarts the timer. */
export class Patience {
  readonly #onLost: (ms: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #since = 0;
  #waitedMs = 0;

  /** Calls `onLost` with the limit that was exceeded. */
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
  const message = `${what} the repository ${folder}; a pipe in the place of a file, or objects that name each other, may be in it; git fsck may tell more`;
  return new QuernError("SOURCE_UNREADABLE", message);
}

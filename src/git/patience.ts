/**
 * Limits how long git may be silent while it works. A repository can make git wait for ever, with a pipe in
 * place of a reference or an object, or with trees that name each other thousands of times.
 */

import { QuernError } from "../base/errors.ts";

/** Large repositories on slow disks answer within seconds. */
export const PATIENCE_MS = 120_000;

/** A timer for the silence of one process. While output is expected, each piece of it restarts the timer. */
export class Patience {
  readonly #onLost: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(onLost: () => void) {
    this.#onLost = onLost;
  }

  expect(): void {
    this.rest();
    this.#timer = setTimeout(this.#onLost, PATIENCE_MS);
  }

  /** Stops the timer, because no output is expected. */
  rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

export function silent(folder: string): QuernError {
  const message = `git has been silent for ${PATIENCE_MS / 1_000} s over the repository ${folder}; a pipe in the place of a file, or trees that name each other, may be in it; git fsck may tell more`;
  return new QuernError("SOURCE_UNREADABLE", message);
}

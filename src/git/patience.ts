/**
 * How long git may be silent while something is asked of it. A repository can make it wait for ever: a
 * pipe in the place of a reference or an object never answers, and a tree that names another a thousand
 * times, which does the same, is walked without end.
 */

import { QuernError } from "../base/errors.ts";

/** Large repositories on slow disks answer within seconds. */
export const PATIENCE_MS = 120_000;

/** Told of one process. While it is expected to say something, every word starts the time anew. */
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

  /** Nothing is expected. */
  rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

export function silent(folder: string): QuernError {
  const message = `git has been silent for ${PATIENCE_MS / 1_000} s over the repository ${folder}; a pipe in the place of a file, or trees that name each other, may be in it; git fsck may tell more`;
  return new QuernError("SOURCE_UNREADABLE", message);
}

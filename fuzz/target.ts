/** Defines what is fuzzed: how an input is made from the seeds, and which properties every input must have. */

import type { Random } from "../test/regex/random.ts";

/** An input is a sequence of bytes for every target, so it can be mutated, printed and stored as a seed. */
export interface Target {
  /**
   * Makes a new input. The input depends only on the numbers and the seeds; `seed` is the number of the case. Default:
   * a mutated seed.
   */
  readonly make?: (random: Random, seeds: readonly Buffer[], seed: number) => Buffer;
  /** Throws or rejects with what is wrong. Ends in less than MOST_MS. */
  readonly check: (input: Buffer) => void | Promise<void>;
  /** Returns a summary of what has been compared. It is printed at the end of a run. */
  readonly summary?: () => string;
}

/**
 * The maximum processor time of a case. The slowest cases take a twentieth of it, so a longer case fails even on a busy
 * machine.
 */
export const MOST_MS = 20_000;

export class Wrong extends Error {
  override readonly name = "Wrong";
}

export function holds(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Wrong(what);
}

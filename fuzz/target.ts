/** What is fuzzed: how an input is made of the seeds, and what must hold of any input. */

import type { Random } from "../test/regex/random.ts";

/** An input is bytes, whatever the target makes of them: so it can be mutated, printed and kept as a seed. */
export interface Target {
  /** A new input, made of the numbers and the seeds alone; `seed` is the case's number. Default: a seed, mutated. */
  readonly make?: (random: Random, seeds: readonly Buffer[], seed: number) => Buffer;
  /** Throws (or rejects with) what is wrong. Ends in less than MOST_MS. */
  readonly check: (input: Buffer) => void | Promise<void>;
  /** Says what has been compared so far; printed at the end of a run. */
  readonly summary?: () => string;
}

/** Longer is a failure, however loaded the machine is: the slowest cases take a twentieth of it. */
export const MOST_MS = 20_000;

export class Wrong extends Error {
  override readonly name = "Wrong";
}

export function holds(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Wrong(what);
}

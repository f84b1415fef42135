/**
 * Bounds recursion over types. Aliases and calls may contain themselves, and generic types may grow without end. Two
 * limits hold: a depth, and a number of steps for each question. What is beyond a limit is unknown.
 */

const MAX_DEPTH = 24;
const MAX_STEPS = 20_000;

export class Depth {
  #depth = 0;
  #steps = 0;
  /** How often a limit was reached. A value that was computed meanwhile is not final. */
  #cuts = 0;

  /** Starts a new question. */
  start(): void {
    if (this.#depth === 0) this.#steps = 0;
  }

  /** Returns what `make` returns, or undefined if a limit is reached. */
  within<T>(make: () => T): T | undefined {
    if (this.#depth >= MAX_DEPTH || this.#steps >= MAX_STEPS) {
      this.#cuts++;
      return undefined;
    }
    this.#depth++;
    this.#steps++;
    try {
      return make();
    } finally {
      this.#depth--;
    }
  }

  /**
   * Returns the value under a key of a memo, which is made when it is first needed. Within its own making, the value is
   * undefined. It is kept unless a limit below may have changed it.
   */
  memo<K, T>(memo: Map<K, T | undefined>, key: K, make: () => T | undefined): T | undefined {
    if (memo.has(key)) return memo.get(key);
    const before = this.#cuts;
    memo.set(key, undefined);
    const made = this.within(make);
    if (this.#cuts === before || this.#depth === 0) memo.set(key, made);
    else memo.delete(key);
    return made;
  }
}

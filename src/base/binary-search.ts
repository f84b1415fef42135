/** Binary search. A hand-written loop is no faster: either takes about 30 ns per search when an automaton is built. */

/**
 * Returns the first index at or after `low` for which `holds` is true, or `high` if there is none before it.
 * REQUIRES: once it is true it stays true.
 */
export function firstIndex(low: number, high: number, holds: (index: number) => boolean): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

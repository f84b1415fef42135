/**
 * Sorts in slices, with yields to the event loop between them. Array.sort() would block the event loop for 60 ms if it
 * sorted 100 000 unordered names.
 */

import type { Pause } from "./yield.ts";

/** The number of items that are sorted without a yield, which takes about 0.3 ms. */
const PIECE = 512;

/**
 * Returns a sorted copy, as items.toSorted(compare) does, and awaits `pause` now and then. The sort is stable and takes
 * O(n log n) time. REQUIRES: `items` does not change until the promise resolves.
 */
export async function sortInSlices<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  pause: Pause,
): Promise<T[]> {
  const runs: T[][] = [];
  for (let at = 0; at < items.length; at += PIECE) {
    runs.push(items.slice(at, at + PIECE).sort(compare));
    await pause();
  }
  // merges only neighbouring runs, which keeps the sort stable
  while (runs.length > 1)
    for (let at = 0; at + 1 < runs.length; at++)
      runs.splice(at, 2, await merge(runs[at]!, runs[at + 1]!, { compare, pause }));
  return runs[0] ?? [];
}

async function merge<T>(
  left: readonly T[],
  right: readonly T[],
  how: { compare: (a: T, b: T) => number; pause: Pause },
): Promise<T[]> {
  const merged: T[] = [];
  for (let [l, r] = [0, 0]; l < left.length || r < right.length;) {
    const isLeft = r === right.length || (l < left.length && how.compare(left[l]!, right[r]!) <= 0);
    merged.push(isLeft ? left[l++]! : right[r++]!);
    if (merged.length % PIECE === 0) await how.pause();
  }
  return merged;
}

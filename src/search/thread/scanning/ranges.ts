/**
 * Merges ranges of a file, which are pairs (start, end) of byte offsets in one array. The matches of each
 * atom are leftmost and do not overlap. Those of several atoms are merged by one rule: sorted by offset,
 * longer first, and one that overlaps an earlier kept one is dropped. Touching ranges are both kept; an
 * empty range is kept unless another one ends or is empty at its place.
 */

/** Merges lists of ranges. REQUIRES: each list is sorted by offset. */
export function mergeRanges(lists: readonly Uint32Array[]): Uint32Array {
  if (lists.length === 1) return lists[0]!;
  const total = lists.reduce((sum, list) => sum + list.length, 0);
  const out = new Uint32Array(total);
  const next = new Uint32Array(lists.length);
  let length = 0;
  let end = -1;
  for (;;) {
    const best = earliest(lists, next);
    if (best < 0) return out.subarray(0, length);
    const at = next[best]!;
    next[best] = at + 2;
    const [from, to] = [lists[best]![at]!, lists[best]![at + 1]!];
    if (from < end || (from === to && from === end)) continue;
    out[length++] = from;
    out[length++] = to;
    end = to;
  }
}

/** Returns the list whose next range comes first, the longer of two at one place; -1 at the end of all. */
function earliest(lists: readonly Uint32Array[], next: Uint32Array): number {
  let best = -1;
  let [bestFrom, bestTo] = [Infinity, -1];
  for (let i = 0; i < lists.length; i++) {
    const at = next[i]!;
    if (at >= lists[i]!.length) continue;
    const [from, to] = [lists[i]![at]!, lists[i]![at + 1]!];
    if (from > bestFrom || (from === bestFrom && to <= bestTo)) continue;
    [best, bestFrom, bestTo] = [i, from, to];
  }
  return best;
}

/**
 * Assigns ranges of a window to its blobs, some at a time, because a blob may have a range at each byte. If the search
 * is stopped, later ranges are not assigned.
 */

import { bestEdge, noneFound, type Found } from "../reading/literal-scanner.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import type { Window } from "../reading/window.ts";

/** How many ranges are assigned between two checks of the clock. This takes at most a millisecond. */
const RANGES_AT_ONCE = 2 ** 15;

/**
 * Returns what was found in each blob. The ranges become offsets in their blobs. REQUIRES: the blobs and the ranges
 * ascend; ranges are addresses relative to `origin`, and none is empty.
 */
export async function byBlob(
  ranges: Uint32Array,
  origin: number,
  { window, blobs }: { readonly window: Window; readonly blobs: readonly number[] },
  tools: SearchTools,
): Promise<Found> {
  const found = { ...noneFound(blobs.length), pairs: ranges };
  let next = 0;
  let done = 0; // ranges since the last check of the clock
  for (let index = 0; index < blobs.length && next < ranges.length; index++) {
    const lowest = window.address(blobs[index]!) - origin;
    const limit = lowest + window.length(blobs[index]!);
    found.starts[index] = next / 2;
    while (next < ranges.length && ranges[next]! < limit) {
      const first = next;
      const most = Math.min(ranges.length, first + 2 * (RANGES_AT_ONCE - done));
      for (; next < most && ranges[next]! < limit; next += 2) {
        ranges[next]! -= lowest;
        ranges[next + 1]! -= lowest;
      }
      found.counts[index]! += (next - first) / 2;
      addEdge(found, index, ranges.subarray(first, next), [lowest + origin, limit + origin], tools);
      done += (next - first) / 2;
      if (done < RANGES_AT_ONCE) continue;
      if (tools.isStopped()) return found;
      await tools.pause();
      done = 0;
    }
  }
  return found;
}

/** The best value of an edge. */
const BEST_EDGE = 4;

/** Updates the best edge of a blob by some of its ranges, which are offsets in the text [lowest, limit). */
export function addEdge(
  { edges }: Found,
  index: number,
  ranges: Uint32Array,
  text: readonly [lowest: number, limit: number],
  tools: SearchTools,
): void {
  if (edges[index] === BEST_EDGE) return;
  edges[index] = Math.max(edges[index]!, bestEdge(ranges, text, tools));
}

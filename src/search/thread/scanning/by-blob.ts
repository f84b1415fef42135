/**
 * Assigns the ranges that were found in a window to its blobs. Checks the clock after every RANGES_AT_ONCE ranges,
 * because a blob may have a range at each byte. If the search is stopped, the remaining ranges are not assigned.
 */

import { bestEdge, noneFound, type Found } from "../reading/literal-scanner.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import type { Window } from "../reading/window.ts";

/** The number of ranges that are assigned between two checks of the clock. This takes at most a millisecond. */
const RANGES_AT_ONCE = 2 ** 15;

/**
 * Returns the ranges in each blob. Changes `ranges` itself, so that each range has offsets from the start of its blob.
 * REQUIRES: `blobs` and `ranges` are in ascending order. The ranges are addresses relative to `origin`, and none is
 * empty.
 */
export async function byBlob(
  ranges: Uint32Array,
  origin: number,
  { window, blobs }: { readonly window: Window; readonly blobs: readonly number[] },
  tools: SearchTools,
): Promise<Found> {
  const found = { ...noneFound(blobs.length), pairs: ranges };
  let next = 0;
  let done = 0; // counts the ranges since the last check of the clock
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

/** The highest edge rating. */
const BEST_EDGE = 4;

/**
 * Raises the edge rating of a blob to the best rating among `ranges`, if this is higher. The ranges are offsets in the
 * blob, whose text is at the addresses [lowest, limit).
 */
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

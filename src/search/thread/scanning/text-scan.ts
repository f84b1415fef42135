/**
 * Finds the matches of an expression that matches only a few texts (src/regex/few-texts.ts). It searches the same
 * pages for one text after another, and merges the results. `fixme|todo` takes three quarters of the time of the
 * automaton.
 */

import type { Bitset } from "../../../base/bitset.ts";
import { noneFound, type Found, type PlacedLiteral } from "../reading/literal-scanner.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import type { Window } from "../reading/window.ts";
import { mergeRanges } from "./ranges.ts";

/** Scans the candidate pages of ascending blobs, or all pages if there are no candidates. */
export function scanTexts(
  texts: readonly PlacedLiteral[],
  window: Window,
  blobs: readonly number[],
  pages: Bitset | undefined,
  tools: SearchTools,
): Found {
  const base = window.address(window.firstBlob);
  const lists = tools.literals
    .rangesOfEach(window, blobs, texts, pages)
    .filter(({ length }) => length > 0)
    .map((list) => shifted(list, -base)); // limits their number, so that they can be merged
  if (lists.length === 0) return noneFound(blobs.length);
  return byBlob(shifted(mergeRanges(lists), base), window, blobs, tools);
}

function shifted(ranges: Uint32Array, by: number): Uint32Array {
  for (let i = 0; i < ranges.length; i++) ranges[i]! += by;
  return ranges;
}

/** Assigns ranges to their blobs. The ranges are ascending addresses. */
function byBlob(
  ranges: Uint32Array,
  window: Window,
  blobs: readonly number[],
  { kernel, arena }: SearchTools,
): Found {
  const found = noneFound(blobs.length);
  const mark = arena.mark();
  const at = arena.take(ranges.byteLength);
  kernel.words.set(ranges, at >>> 2);
  let next = 0;
  for (let index = 0; index < blobs.length && next < ranges.length; index++) {
    const lowest = window.address(blobs[index]!);
    const limit = lowest + window.length(blobs[index]!);
    const first = next;
    for (; next < ranges.length && ranges[next]! < limit; next += 2) {
      ranges[next]! -= lowest;
      ranges[next + 1]! -= lowest;
    }
    found.starts[index] = first / 2;
    found.counts[index] = (next - first) / 2;
    found.edges[index] = kernel.run.bestEdge(at + 4 * first, at + 4 * next, lowest, limit);
  }
  arena.release(mark);
  found.pairs = ranges;
  return found;
}

/**
 * Finds the matches of an expression that matches only a few texts (src/regex/few-texts.ts). It searches the same
 * pages for one text after another, and merges the results. `fixme|todo` takes three quarters of the time of the
 * automaton.
 */

import type { Bitset } from "../../../base/bitset.ts";
import { noneFound, type Found, type PlacedLiteral } from "../reading/literal-scanner.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import type { Window } from "../reading/window.ts";
import { byBlob } from "./by-blob.ts";
import { mergeInSlices } from "./file-ranges.ts";

/** Scans the candidate pages of ascending blobs, or all pages if there are no candidates. */
export async function scanTexts(
  texts: readonly PlacedLiteral[],
  window: Window,
  blobs: readonly number[],
  pages: Bitset | undefined,
  tools: SearchTools,
): Promise<Found> {
  const origin = window.address(window.firstBlob); // RangeMerge needs numbers below SPAN
  const all = await tools.literals.rangesOfEach(window, blobs, { texts, pages, origin }, tools);
  const lists = all.filter(({ length }) => length > 0);
  if (lists.length === 0) return noneFound(blobs.length);
  return byBlob(await mergeInSlices(lists, tools), origin, { window, blobs }, tools);
}

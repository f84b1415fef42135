/**
 * Finds the pages that may contain all grams of a literal in a segment without posting lists. To do so, reads the text
 * of all files in scope, once for all literals of a query. The plan of such a segment is then like that of a segment
 * with posting lists, but has a few more candidate pages.
 */

import { emptyBitset, nextBit, setBit, type Bitset } from "../../../base/bitset.ts";
import { getOrMake } from "../../../base/get-or-make.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import { PageGrams, placeGrams } from "../../../kernel/page-grams.ts";
import { OVERLAP, PAGE_BYTES } from "../../../store/format/format.ts";
import type { Lookup } from "./candidates.ts";
import { pagesOf } from "./pages.ts";
import type { PreparedQuery } from "./prepare.ts";

/** The PageGrams of each kernel. A PageGrams is reused, because a kernel never frees its memory. */
const pageGrams = new WeakMap<Kernel, PageGrams>();

/**
 * Returns the parameters for looking up the grams of a query. If the segment has no posting lists, the parameters
 * include the pages in scope that may contain each literal of the query.
 */
export async function withScannedPages(
  lookup: Lookup,
  { atoms }: PreparedQuery,
  scope: Bitset,
): Promise<Lookup> {
  const { reader, snapshot, kernel, arena, isStopped, pause } = lookup;
  const { pages, textBytes, postingBlocks } = reader.header;
  if (postingBlocks > 0 || textBytes === 0) return lookup;
  const scanned = new Map<readonly number[], Bitset>();
  const literals = atoms.flatMap((atom) => atom.literals);
  for (const { grams } of literals) if (grams.length > 0) scanned.set(grams, emptyBitset(pages));
  if (scanned.size === 0) return lookup;
  const mark = arena.mark();
  const wanted = Array.from(scanned, ([grams, found]) => ({
    placed: placeGrams(grams, arena),
    found,
  }));
  const page = getOrMake(pageGrams, kernel, () => new PageGrams(kernel, PAGE_BYTES + OVERLAP));
  const inScope = pagesOf(scope, reader);
  const { pageBytes } = reader;
  for (let number = nextBit(inScope, 0); number >= 0; number = nextBit(inScope, number + 1)) {
    if (isStopped()) break;
    const blob = reader.pageBlobs[number]!;
    const from = reader.blobStarts[blob]! + pageBytes * (number - reader.firstPages[blob]!);
    const to = Math.min(from + pageBytes + OVERLAP, reader.blobStarts[blob + 1]!);
    reader.copyText(snapshot, from, to, kernel.bytes, page.at);
    page.load(to - from);
    for (const { placed, found } of wanted) if (page.mayHaveAll(placed)) setBit(found, number);
    const wait = pause();
    if (wait) await wait;
  }
  arena.release(mark);
  return { ...lookup, scanned };
}

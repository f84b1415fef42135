/**
 * Finds the pages that may contain all grams of a literal in a segment without posting lists, by reading its text. So
 * such a segment has a plan like one with lists, with a few more candidate pages. Reads the text once for all literals
 * of a query.
 */

import { emptyBitset, nextBit, setBit, type Bitset } from "../../../base/bitset.ts";
import { getOrMake } from "../../../base/get-or-make.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import { PageGrams, placeGrams } from "../../../kernel/page-grams.ts";
import { OVERLAP, PAGE_BYTES } from "../../../store/format/format.ts";
import type { Lookup } from "./candidates.ts";
import { pagesOf } from "./pages.ts";
import type { PreparedQuery } from "./prepare.ts";

/** The PageGrams of each kernel. They are reused, because memory that a kernel has given out is never freed. */
const pageGrams = new WeakMap<Kernel, PageGrams>();

/**
 * Returns the parameters for looking up the grams of a query. In a segment without lists, they include the pages in
 * scope that may contain the query's literals.
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
    const turn = pause();
    if (turn) await turn;
  }
  arena.release(mark);
  return { ...lookup, scanned };
}

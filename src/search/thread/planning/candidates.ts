/** Uses the grams of a literal to find the pages on which the literal can begin. */

import { intersect, wordsFor, type Bitset } from "../../../base/bitset.ts";
import { bytesOf } from "../../../base/growable.ts";
import type { Pause } from "../../../base/yield.ts";
import type { Arena } from "../../../kernel/arena.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import {
  BITS,
  BROKEN,
  MOST_GRAMS,
  mostBlockBytes,
  scratchBytes,
} from "../../../kernel/page-lists.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import type { PostingsReader } from "../../../store/segments/postings.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";

export interface Lookup {
  readonly reader: SegmentReader;
  /** The posting lists to read. If undefined, the lists of the segment's text are read. */
  readonly lists?: PostingsReader | undefined;
  readonly snapshot: Snapshot;
  /**
   * Maps the grams of each literal to the pages in scope that may contain all of them. Set only if the segment's text
   * has no posting lists (scanned-pages.ts).
   */
  readonly scanned?: ReadonlyMap<readonly number[], Bitset> | undefined;
  readonly kernel: Kernel;
  readonly arena: Arena;
  /** Returns how many of the given pages are in scope. Other pages must not influence any counter. */
  readonly countInScope: (pages: Bitset) => number;
  /** Returns true once the search was stopped. After that, further look-ups are useless. */
  readonly isStopped: () => boolean;
  /** Called between atoms, to yield to the event loop if needed. */
  readonly pause: Pause;
}

export interface Candidates {
  /** The pages that contain every gram. Undefined if there are no grams, so that any page is a candidate. */
  readonly pages: Bitset | undefined;
  /** The number of bytes of the posting lists that were looked up. */
  readonly listBytes: number;
}

/**
 * Returns the pages that contain all the given grams. Looks up the lists of all grams, even if no page is left after
 * some of them. Otherwise, a counter would reveal something about the length of a list.
 */
export function pagesWith(grams: readonly number[], lookup: Lookup): Candidates {
  if (grams.length === 0) return { pages: undefined, listBytes: 0 };
  if (lookup.scanned && !lookup.lists) return { pages: lookup.scanned.get(grams), listBytes: 0 };
  const { reader, snapshot, kernel, arena, lists = reader.postings } = lookup;
  const mark = arena.mark();
  const firsts = arena.put(bytesOf(lists.firstGrams));
  const most = mostBlockBytes(reader.header.pages);
  kernel.readBlock = (block, at) =>
    lists.copyBlock(snapshot, block, { target: kernel.bytes, at, most });
  let all: ReturnType<typeof pagesWithSome>;
  for (let from = 0; from < grams.length; from += MOST_GRAMS) {
    if (all && lookup.isStopped()) break;
    const found = pagesWithSome(grams.slice(from, from + MOST_GRAMS), firsts, lookup);
    if (!found) throw lists.broken();
    if (all) intersect(found.pages, all.pages);
    all = { pages: found.pages, listBytes: found.listBytes + (all?.listBytes ?? 0) };
  }
  arena.release(mark);
  return all!;
}

/** Does the same for at most MOST_GRAMS grams. Returns undefined if a list violates the format. */
function pagesWithSome(
  grams: readonly number[],
  firsts: number,
  { reader, kernel, arena, lists = reader.postings }: Lookup,
): { readonly pages: Bitset; readonly listBytes: number } | undefined {
  const { pages } = reader.header;
  const mark = arena.mark();
  const wanted = arena.put(bytesOf(Uint32Array.from(grams)));
  const scratch = arena.take(scratchBytes(grams.length, pages));
  const blocks = lists.firstGrams.length;
  const found = kernel.run.pagesWithAll(0, firsts, blocks, wanted, grams.length, pages, scratch);
  arena.release(mark);
  if (found === BROKEN) return undefined;
  const { words } = kernel;
  const bits = (scratch + BITS) >>> 2;
  return { pages: words.slice(bits, bits + wordsFor(pages)), listBytes: words[scratch >>> 2]! };
}

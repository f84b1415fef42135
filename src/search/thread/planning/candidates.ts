/** Uses the grams of a literal to find the pages on which the literal can begin. */

import { intersect, wordsFor, type Bitset } from "../../../base/bitset.ts";
import type { Pause } from "../../../base/yield.ts";
import type { Arena } from "../../../kernel/arena.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import { FIRST_MEMORY_SEGMENT } from "../../../store/format/format.ts";
import { MOST_GRAMS, type KeptLists, type KeptPages } from "../../../store/segments/kept-lists.ts";
import { decodeList } from "../../../store/segments/posting-bits.ts";
import type { PostingsReader } from "../../../store/segments/postings.ts";
import { corrupt } from "../../../store/format/sealed.ts";
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
  /** The lists that threads share. Undefined if there are none. */
  readonly kept?: KeptLists | undefined;
  readonly kernel: Kernel;
  readonly arena: Arena;
  /** Returns how many of the given pages are in scope. Other pages must not influence any counter. */
  readonly countInScope: (pages: Bitset) => number;
  /** Returns true once the search was stopped. After that, further look-ups are useless. */
  readonly isStopped: () => boolean;
  /** Called between atoms, to yield to the event loop if needed. */
  readonly pause: Pause;
}

/** The number of posting lists that are read between two checks of the time limit. */
const LISTS_AT_ONCE = 256;

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
  return keptPagesWith(grams, lookup) ?? readPagesWith(grams, lookup);
}

/**
 * Looks up the grams in the lists that threads share. Returns undefined if threads share no lists, if the memory for
 * these lists is full, or if the segment is in memory.
 */
function keptPagesWith(grams: readonly number[], lookup: Lookup): Candidates | undefined {
  const { reader, snapshot, kept, lists = reader.postings } = lookup;
  if (!kept || reader.segment >= FIRST_MEMORY_SEGMENT) return undefined;
  const how = { pages: reader.header.pages, kept };
  let all: KeptPages | undefined;
  for (let from = 0; from < grams.length; from += MOST_GRAMS) {
    if (all && lookup.isStopped()) break;
    const slice =
      from === 0 && grams.length <= MOST_GRAMS ? grams : grams.slice(from, from + MOST_GRAMS);
    const found = lists.findKept(snapshot, slice, how);
    if (!found) return undefined;
    all = all ? both(all, found) : found;
  }
  return all;
}

const both = (into: KeptPages, other: KeptPages): KeptPages => ({
  pages: intersect(into.pages, other.pages),
  listBytes: into.listBytes + other.listBytes,
});

/** Looks up the grams in the stored lists. */
function readPagesWith(grams: readonly number[], lookup: Lookup): Candidates {
  const { reader, kernel, arena, lists = reader.postings } = lookup;
  const mark = arena.mark();
  const words = wordsFor(reader.header.pages);
  const bytes = (4 * words + 15) & ~15;
  const [all, one] = [arena.take(bytes), arena.take(bytes)];
  let listBytes = 0;
  let isEmpty = false;
  for (const [i, gram] of grams.entries()) {
    if (i % LISTS_AT_ONCE === LISTS_AT_ONCE - 1 && lookup.isStopped()) break;
    const target = i === 0 ? all : one;
    const list = lists.find(lookup.snapshot, gram);
    listBytes += list?.bytes.length ?? 0;
    if (isEmpty) continue; // the list only adds to `listBytes`
    kernel.bytes.fill(0, target, target + bytes);
    if (list && !decodeList(list, reader.header.pages, lookup, target))
      throw corrupt(`a posting list of segment ${reader.segment}`);
    if (i > 0) kernel.run.intersectBits(all, one, bytes);
    isEmpty = kernel.run.countBits(all, bytes) === 0;
  }
  const pages = kernel.words.slice(all >>> 2, (all >>> 2) + words);
  arena.release(mark);
  return { pages, listBytes };
}

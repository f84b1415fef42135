/**
 * Counts, for each repository, the files whose symbols are indexed. Most segments have the symbols of either all their
 * blobs or none, and the manifest says which. A merge of segments of both kinds makes a segment in which only the
 * symbols of some blobs are known. The edition of such a segment records for each blob whether its symbols are known.
 */

import {
  countBits,
  emptyBitset,
  forEachBit,
  hasBit,
  setBit,
  unite,
  type Bitset,
} from "../../base/bitset.ts";
import type { Catalog, CatalogRepository } from "../catalog/catalog.ts";
import type { Snapshot } from "../lmdb/environment.ts";
import { NO_BLOB } from "../format/format.ts";
import type { ManifestSegment } from "../catalog/manifest.ts";
import { isCorrupt } from "../format/sealed.ts";
import { readFiles } from "../segments/file-tables.ts";
import { openSymbols } from "./symbols.ts";

export interface Progress {
  /** The number of files whose symbols are indexed. */
  readonly done: number;
  /** The number of files of all revisions. A file that several revisions share counts once. */
  readonly total: number;
}

/**
 * Returns a function that counts the files of a repository. REQUIRES: the snapshot stays open while the function is
 * used.
 */
export function symbolProgress(
  snapshot: Snapshot,
  { manifest, headers }: Catalog,
): (repository: CatalogRepository) => Progress {
  const segments = new Map(manifest.segments.map((one) => [one.segment, one]));
  const known = new Map<number, Bitset>();
  const knownIn = (segment: number): Bitset => {
    const set =
      known.get(segment) ??
      knownFiles(snapshot, segments.get(segment)!, headers.get(segment)!.files);
    known.set(segment, set);
    return set;
  };
  return ({ places }) => {
    let [done, total] = [0, 0];
    for (const { segment, first, count, sets } of places) {
      const named = emptyBitset(count);
      for (const set of sets) if (set) unite(named, set);
      const files = countBits(named);
      total += files;
      const { symbols, hasSymbols } = segments.get(segment)!;
      if (hasSymbols) done += files;
      else if (symbols > 0) done += countFrom(knownIn(segment), first, named);
    }
    return { done, total };
  };
}

/** Counts the bits of `set` that are also in `all`. Bit i of `set` stands for bit `first + i` of `all`. */
function countFrom(all: Bitset, first: number, set: Bitset): number {
  let count = 0;
  forEachBit(set, (bit) => {
    if (hasBit(all, first + bit)) count++;
  });
  return count;
}

/**
 * Returns the files whose symbols are indexed, including files without content. If the edition is damaged, returns no
 * files, because `sym:` finds nothing in it.
 */
function knownFiles(
  snapshot: Snapshot,
  { segment, content = segment, symbols }: ManifestSegment,
  files: number,
): Bitset {
  const known = emptyBitset(files);
  try {
    const states = openSymbols(snapshot, content, symbols)?.states;
    if (!states) return known;
    readFiles(snapshot, segment, { content, files }).blobs.forEach((blob, file) => {
      if (blob === NO_BLOB || states[blob] !== 0) setBit(known, file);
    });
  } catch (error) {
    if (!isCorrupt(error)) throw error;
  }
  return known;
}

/** Converts between pages, blobs and files of a segment. */

import {
  countBits,
  countBitsBetween,
  emptyBitset,
  forEachBit,
  hasBit,
  intersect,
  nextBit,
  setBit,
  type Bitset,
} from "../../../base/bitset.ts";
import { NO_BLOB } from "../../../store/format/format.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import { isAllContent } from "../../../store/segments/segment-tables.ts";

/** Returns the blobs that have at least one page in the set. */
export function blobsOf(
  pages: Bitset,
  { header, pageBlobs, firstPages }: Pick<SegmentReader, "header" | "firstPages" | "pageBlobs">,
): Bitset {
  const blobs = emptyBitset(header.blobs);
  for (let page = nextBit(pages, 0); page >= 0;) {
    const blob = pageBlobs[page]!;
    setBit(blobs, blob);
    page = nextBit(pages, firstPages[blob + 1]!);
  }
  return blobs;
}

/** Returns how many of the given pages belong to one of the given blobs. */
export function countPagesOf(
  blobs: Bitset,
  pages: Bitset,
  { firstPages, pageBlobs }: Pick<SegmentReader, "firstPages" | "pageBlobs">,
): number {
  let count = 0;
  if (countBits(blobs) < countBits(pages))
    forEachBit(blobs, (blob) => {
      count += countBitsBetween(pages, firstPages[blob]!, firstPages[blob + 1]!);
    });
  else
    forEachBit(pages, (page) => {
      if (hasBit(blobs, pageBlobs[page]!)) count++;
    });
  return count;
}

/** Returns the files whose blob is in the set. Without a set, returns all files with content. */
export function filesOf(blobs: Bitset | undefined, reader: SegmentReader): Bitset {
  const { files, header, blobFileStarts, blobFiles } = reader;
  const out = emptyBitset(header.files);
  if (blobs) {
    forEachBit(blobs, (blob) => {
      for (let i = blobFileStarts[blob]!; i < blobFileStarts[blob + 1]!; i++)
        setBit(out, blobFiles[i]!);
    });
    return out;
  }
  for (let file = 0; file < header.files; file++)
    if (files.blobs[file] !== NO_BLOB) setBit(out, file);
  return out;
}

/** Returns the pages of files in scope. */
export function pagesOf(scope: Bitset, { files, firstPages, header }: SegmentReader): Bitset {
  const pages = emptyBitset(header.pages);
  forEachBit(scope, (file) => {
    const blob = files.blobs[file]!;
    if (blob === NO_BLOB) return;
    for (let page = firstPages[blob]!; page < firstPages[blob + 1]!; page++) setBit(pages, page);
  });
  return pages;
}

/**
 * Returns a function that counts how many of the given pages belong to files in scope. The pages in scope are computed
 * at the first call, because the plan of a single literal does not need them.
 */
export function counterInScope(scope: Bitset, reader: SegmentReader): (pages: Bitset) => number {
  let isAll: boolean | undefined;
  let inScope: Bitset | undefined;
  return (pages) => {
    isAll ??= isAllContent(reader.segment, reader.header, countBits(scope));
    if (isAll) return countBits(pages);
    return countBits(intersect(pages.slice(), (inScope ??= pagesOf(scope, reader))));
  };
}

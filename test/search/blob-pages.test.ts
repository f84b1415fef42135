import fc from "fast-check";
import { expect, test } from "vitest";
import { emptyBitset, hasBit, setBit, type Bitset } from "../../src/base/bitset.ts";
import { blobsOf, countPagesOf } from "../../src/search/thread/planning/pages.ts";
import type { SegmentReader } from "../../src/store/segments/segment-reader.ts";

const setOf = (members: readonly boolean[]): Bitset => {
  const set = emptyBitset(members.length);
  for (const [i, isMember] of members.entries()) if (isMember) setBit(set, i);
  return set;
};

/** Blobs, each with its pages in the set, and whether it is chosen. */
const blobsOfAtMost = (maxLength: number) =>
  fc.array(fc.record({ pages: fc.array(fc.boolean(), { maxLength }), isChosen: fc.boolean() }), {
    maxLength: 40,
  });
const blobs = fc.oneof(blobsOfAtMost(70), blobsOfAtMost(1)); // more pages than chosen blobs, and fewer

test("converting between blobs and pages gives the same as looking at each page", () => {
  fc.assert(
    fc.property(blobs, (given) => {
      const all = given.flatMap(({ pages }, blob) => pages.map((isIn) => ({ blob, isIn })));
      const firstPages = Uint32Array.from(
        Array.from({ length: given.length + 1 }, (_, end) => end),
        (end) => given.slice(0, end).reduce((sum, { pages }) => sum + pages.length, 0),
      );
      const reader = {
        header: { blobs: given.length } as SegmentReader["header"],
        firstPages,
        pageBlobs: Uint32Array.from(all, ({ blob }) => blob),
      };
      const pages = setOf(all.map(({ isIn }) => isIn));
      const found = blobsOf(pages, reader);
      for (const [blob, one] of given.entries())
        expect(hasBit(found, blob)).toBe(one.pages.includes(true));
      const chosen = setOf(given.map(({ isChosen }) => isChosen));
      const count = all.filter(({ blob, isIn }) => isIn && given[blob]!.isChosen).length;
      expect(countPagesOf(chosen, pages, reader)).toBe(count);
    }),
  );
});

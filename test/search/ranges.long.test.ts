/**
 * Compares the merged ranges of several terms, and the distance between terms, with a twin that looks at all ranges for
 * each.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import { gapBetween, mergeRanges, RangeMerge } from "../../src/search/thread/scanning/ranges.ts";
import { RUNS } from "../runs.ts";

type Range = readonly [from: number, to: number];

const pairs = (ranges: readonly Range[]): Uint32Array => Uint32Array.from(ranges.flat());
const rangesOf = (words: Uint32Array): Range[] =>
  Array.from({ length: words.length / 2 }, (_, i) => [words[2 * i]!, words[2 * i + 1]!]);

/** The rule itself, as a slow twin. */
function twin(lists: readonly (readonly Range[])[]): Range[] {
  const kept: Range[] = [];
  let end = -1;
  for (const [from, to] of lists.flat().toSorted((a, b) => a[0] - b[0] || b[1] - a[1])) {
    if (from < end || (from === to && from === end)) continue;
    kept.push([from, to]);
    end = to;
  }
  return kept;
}

const gapTwin = (a: readonly Range[], b: readonly Range[]): number =>
  Math.min(
    ...a.flatMap(([from, to]) =>
      b.map(([start, end]) => Math.max(0, from < start ? start - to : from - end)),
    ),
  );

test.each<[what: string, lists: Range[][], merged: Range[]]>([
  ["no list", [], []],
  ["empty lists", [[], []], []],
  ["one list", [[[1, 2]]], [[1, 2]]],
  ["the longer at one place", [[[3, 4]], [[3, 9]]], [[3, 9]]],
  [
    "touching ones",
    [[[0, 2]], [[2, 4]]],
    [
      [0, 2],
      [2, 4],
    ],
  ],
  ["an empty one where another ends", [[[0, 2]], [[2, 2]]], [[0, 2]]],
  ["an empty one alone", [[[5, 5]], [[5, 5]]], [[5, 5]]],
  [
    "one that hides many",
    [
      [[0, 9]],
      [
        [1, 2],
        [3, 4],
        [8, 9],
        [9, 10],
      ],
    ],
    [
      [0, 9],
      [9, 10],
    ],
  ],
])("%s", (_, lists, merged) => {
  expect(rangesOf(mergeRanges(lists.map(pairs)))).toEqual(merged);
});

/**
 * Ranges in ascending order that do not overlap, like the matches of one term. Some are empty, and no two begin at the
 * same place.
 */
const list = fc.array(fc.tuple(fc.nat(6), fc.nat(5)), { maxLength: 30 }).map((steps) => {
  let [at, last] = [0, -1];
  return steps.map(([gap, length]): Range => {
    at = last = Math.max(at + gap, last + 1);
    return [last, (at += length)];
  });
});

test("any lists, in steps of any size", () => {
  fc.assert(
    fc.property(
      fc.array(list, { maxLength: 12 }),
      fc.integer({ min: 1, max: 50 }),
      (lists, step) => {
        const merge = new RangeMerge(lists.map(pairs));
        while (!merge.advance(step));
        expect(rangesOf(merge.merged)).toEqual(twin(lists));
      },
    ),
    { numRuns: 1_000 * RUNS },
  );
});

test("any two lists", () => {
  fc.assert(
    fc.property(list, list, (a, b) => {
      expect(gapBetween(pairs(a), pairs(b))).toBe(gapTwin(a, b));
    }),
    { numRuns: 1_000 * RUNS },
  );
});

test("two thousand lists beside a million ranges take as long as their ranges", () => {
  const many = Uint32Array.from({ length: 2_000_000 }, (_, i) => 2 * (i >> 1) + (i & 1));
  const others = Array.from({ length: 2_000 }, (_, i) =>
    Uint32Array.of(3e6 + 9 * i, 3e6 + 9 * i + 5),
  );
  const before = process.cpuUsage();
  expect(mergeRanges([many, ...others])).toHaveLength(2_004_000);
  const gaps = others.map((other) => gapBetween(many, other));
  expect(gaps[0]).toBe(3e6 - 2_000_000 + 1);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(2_000); // it was 10 s and more
});

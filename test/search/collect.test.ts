/** The collector keeps the files that a sorted list of all files begins with. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { Collector, type RankedFile } from "../../src/search/thread/ranking/collect.ts";
import { RUNS } from "../runs.ts";

const byFile = (a: RankedFile, b: RankedFile): number => a.file - b.file;

/** The slow twin: sorts all files. */
function bestOf(files: readonly RankedFile[], least: { matches: number; files: number }) {
  if (least.matches === 0) return [];
  const sorted = files.toSorted((a, b) => b.score - a.score || byFile(a, b));
  let ranges = 0;
  const end = sorted.findIndex(({ count }, i) => {
    if (ranges >= least.matches && i >= least.files) return true;
    ranges += count;
    return false;
  });
  return end < 0 ? sorted : sorted.slice(0, end);
}

const states = fc.record({
  matches: fc.oneof(fc.nat(4), fc.nat(300)),
  files: fc.oneof(fc.constant(0), fc.nat(50)),
  scores: fc.oneof(
    fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 300 }),
    fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { maxLength: 300 }),
    // enough files for the collector to drop some before the end
    fc.array(fc.nat(20), { minLength: 2000, maxLength: 5000, size: "max" }),
  ),
  counts: fc.array(fc.oneof(fc.constant(1), fc.nat(3), fc.nat(100)), {
    minLength: 1,
    maxLength: 20,
  }),
});

test("keeps the best of any files", () => {
  const check = ({
    scores,
    counts,
    ...least
  }: typeof states extends fc.Arbitrary<infer T> ? T : never) => {
    const files = scores.map((score, i) => ({
      score,
      segment: 0,
      file: (i * 7919) % 10_007,
      count: counts[i % counts.length]!,
    }));
    const collector = new Collector(least, byFile);
    for (const file of files) if (file.score >= collector.threshold) collector.add(file);
    expect(collector.best()).toEqual(bestOf(files, least));
  };
  fc.assert(fc.property(states, check), { numRuns: 50 * RUNS });
});

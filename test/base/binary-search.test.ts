import fc from "fast-check";
import { expect, test } from "vitest";
import { firstIndex } from "../../src/base/binary-search.ts";

test("finds the same as a search from the beginning", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), fc.nat(20), fc.nat(5), (values, wanted, skipped) => {
      const sorted = values.toSorted((a, b) => a - b);
      const low = Math.min(skipped, sorted.length);
      const walked = sorted.findIndex((value, i) => i >= low && value >= wanted);
      const found = firstIndex(low, sorted.length, (i) => sorted[i]! >= wanted);
      expect(found).toBe(walked < 0 ? sorted.length : walked);
    }),
  );
});

test("compares each index at most once, and only a few of them", () => {
  const asked: number[] = [];
  expect(firstIndex(0, 1000, (i) => (asked.push(i), i >= 700))).toBe(700);
  expect(new Set(asked).size).toBe(asked.length);
  expect(asked.length).toBeLessThanOrEqual(10);
});

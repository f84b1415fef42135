import fc from "fast-check";
import { expect, test } from "vitest";
import { geometricMean, sample, spreadOf, timed } from "../../bench/statistics.ts";

test.each<[number[], number, number]>([
  [[3], 3, 3],
  [[2, 1], 1, 2],
  [[3, 1, 2], 2, 3],
  [Array.from({ length: 20 }, (_, i) => 20 - i), 10, 19],
  [Array.from({ length: 100 }, (_, i) => i + 1), 50, 95],
])("of %j the median is %d, p95 %d", (times, median, p95) => {
  expect(spreadOf(times)).toEqual({ median, p95, runs: times.length });
});

test("the median and p95 are measured values, with at most half and a twentieth above them", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { minLength: 1 }), (times) => {
      const { median, p95 } = spreadOf(times);
      const above = (limit: number) => times.filter((time) => time > limit).length;
      expect(times).toContain(median);
      expect(times).toContain(p95);
      expect(above(median)).toBeLessThanOrEqual(times.length / 2);
      expect(above(p95)).toBeLessThanOrEqual(times.length / 20);
    }),
  );
});

test("the geometric mean of 2 and 8 is 4, and that of no values is undefined", () => {
  expect(geometricMean([2, 8])).toBeCloseTo(4);
  expect(geometricMean([])).toBeUndefined();
});

test("the time of a run is the one that it reports", async () => {
  const told = [9, 1, 2, 3];
  expect(await sample(async () => told.shift() ?? NaN, { least: 1, most: 9, ms: 6 })).toEqual([
    1, 2, 3,
  ]);
});

test("the first run is not counted, and slow ones are repeated only twice", async () => {
  let runs = 0;
  const quick = async () => void runs++;
  expect(await sample(() => timed(quick), { least: 3, most: 5, ms: 1e9 })).toHaveLength(5);
  expect(runs).toBe(6);
  const slow = () => new Promise((resolve) => setTimeout(resolve, 5));
  expect(await sample(() => timed(slow), { least: 9, most: 50, ms: 1 })).toHaveLength(2);
});

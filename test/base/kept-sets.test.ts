import { expect, test } from "vitest";
import { isKept, keepSet } from "../../src/base/kept-sets.ts";

test("equal sets become one, which no change of theirs reaches", () => {
  const mine = new Set([3, 1, 2]);
  const kept = keepSet(mine);
  expect(kept).not.toBe(mine);
  expect([isKept(kept), isKept(mine)]).toEqual([true, false]);
  expect(keepSet(new Set([1, 2, 3]))).toBe(kept);
  expect(keepSet([2, 3, 1, 1])).toBe(kept);
  expect(keepSet(kept)).toBe(kept);
  mine.delete(3);
  mine.add(9);
  expect([...kept].toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
  expect(keepSet(mine)).not.toBe(kept);
});

test("sets of one size that differ are two", () => {
  expect(keepSet([1, 2])).not.toBe(keepSet([1, 3]));
  expect([...keepSet([])]).toEqual([]);
});

test("as many are kept as have room, and what was handed out stays as it was", () => {
  const first = keepSet([-1]);
  for (let i = 0; i < 100; i++) keepSet([1000 + i]);
  expect(keepSet([-1])).not.toBe(first);
  expect([isKept(first), ...first]).toEqual([true, -1]);
});

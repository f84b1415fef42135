import { expect, test } from "vitest";
import { isInterned, internSet } from "../../src/base/interned-sets.ts";

test("equal sets become one set, which later changes of the originals do not affect", () => {
  const mine = new Set([3, 1, 2]);
  const kept = internSet(mine);
  expect(kept).not.toBe(mine);
  expect([isInterned(kept), isInterned(mine)]).toEqual([true, false]);
  expect(internSet(new Set([1, 2, 3]))).toBe(kept);
  expect(internSet([2, 3, 1, 1])).toBe(kept);
  expect(internSet(kept)).toBe(kept);
  mine.delete(3);
  mine.add(9);
  expect([...kept].toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
  expect(internSet(mine)).not.toBe(kept);
});

test("different sets of the same size stay different", () => {
  expect(internSet([1, 2])).not.toBe(internSet([1, 3]));
  expect([...internSet([])]).toEqual([]);
});

test("keeps as many sets as fit, and never changes a returned set", () => {
  const first = internSet([-1]);
  for (let i = 0; i < 100; i++) internSet([1000 + i]);
  expect(internSet([-1])).not.toBe(first);
  expect([isInterned(first), ...first]).toEqual([true, -1]);
});

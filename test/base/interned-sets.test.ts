import { expect, test } from "vitest";
import { isInterned, internSet } from "../../src/base/interned-sets.ts";

test("equal sets become one, which no change of theirs reaches", () => {
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

test("sets of one size that differ are two", () => {
  expect(internSet([1, 2])).not.toBe(internSet([1, 3]));
  expect([...internSet([])]).toEqual([]);
});

test("as many are kept as have room, and what was handed out stays as it was", () => {
  const first = internSet([-1]);
  for (let i = 0; i < 100; i++) internSet([1000 + i]);
  expect(internSet([-1])).not.toBe(first);
  expect([isInterned(first), ...first]).toEqual([true, -1]);
});

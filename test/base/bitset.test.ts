import fc from "fast-check";
import { expect, test } from "vitest";
import {
  clearBit,
  countBits,
  countBitsBetween,
  emptyBitset,
  forEachBit,
  fullBitset,
  hasBit,
  intersect,
  isEmpty,
  nextBit,
  placeBits,
  setBit,
  subtract,
  unite,
  type Bitset,
} from "../../src/base/bitset.ts";

const SIZE = 150;
const members = fc.uniqueArray(fc.nat(SIZE - 1)).map((set) => set.sort((a, b) => a - b));

function bitset(set: readonly number[], size = SIZE): Bitset {
  const bits = emptyBitset(size);
  for (const bit of set) setBit(bits, bit);
  return bits;
}

function list(bits: Bitset): number[] {
  const out: number[] = [];
  forEachBit(bits, (bit) => out.push(bit));
  return out;
}

test("a set contains the bits that were added", () => {
  fc.assert(
    fc.property(members, fc.nat(SIZE - 1), (set, bit) => {
      const bits = bitset(set);
      expect(list(bits)).toEqual(set);
      expect(countBits(bits)).toBe(set.length);
      expect(isEmpty(bits)).toBe(set.length === 0);
      expect(hasBit(bits, bit)).toBe(set.includes(bit));
      expect(nextBit(bits, bit)).toBe(set.find((one) => one >= bit) ?? -1);
      clearBit(bits, bit);
      expect(list(bits)).toEqual(set.filter((one) => one !== bit));
    }),
  );
});

test("bits in a range are counted", () => {
  fc.assert(
    fc.property(members, fc.nat(SIZE), fc.nat(SIZE), (set, from, to) => {
      const between = set.filter((bit) => bit >= from && bit < to);
      expect(countBitsBetween(bitset(set), from, to)).toBe(between.length);
    }),
  );
});

test("computes intersections, unions and differences", () => {
  fc.assert(
    fc.property(members, members, (a, b) => {
      expect(list(intersect(bitset(a), bitset(b)))).toEqual(a.filter((bit) => b.includes(bit)));
      expect(list(unite(bitset(a), bitset(b)))).toEqual(
        [...new Set([...a, ...b])].sort((x, y) => x - y),
      );
      expect(list(subtract(bitset(a), bitset(b)))).toEqual(a.filter((bit) => !b.includes(bit)));
    }),
  );
});

test("bits are copied to any offset", () => {
  fc.assert(
    fc.property(members, fc.nat(100), (set, at) => {
      const into = emptyBitset(SIZE + 100);
      placeBits(into, at, bitset(set), SIZE);
      expect(list(into)).toEqual(set.map((bit) => bit + at));
    }),
  );
});

test.each([0, 1, 31, 32, 33, 64, 100])("a full set of %i has no bits beyond its size", (size) => {
  expect(countBits(fullBitset(size))).toBe(size);
});

/**
 * Represents sets of small integers as bits in a Uint32Array. The integer i is bit i & 31 of word i >> 5. Bits beyond
 * the size of the set are zero.
 */

export type Bitset = Uint32Array;

export const wordsFor = (size: number): number => (size + 31) >>> 5;

export function emptyBitset(size: number): Bitset {
  return new Uint32Array(wordsFor(size));
}

export function fullBitset(size: number): Bitset {
  const set = emptyBitset(size).fill(0xffff_ffff);
  if (size & 31) set[set.length - 1]! >>>= 32 - (size & 31);
  return set;
}

export const hasBit = (set: Bitset, bit: number): boolean =>
  ((set[bit >>> 5]! >>> (bit & 31)) & 1) === 1;

export function setBit(set: Bitset, bit: number): void {
  set[bit >>> 5]! |= 1 << (bit & 31);
}

export function clearBit(set: Bitset, bit: number): void {
  set[bit >>> 5]! &= ~(1 << (bit & 31));
}

export function countBits(set: Bitset): number {
  let count = 0;
  for (let i = 0; i < set.length; i++) {
    // this is popcount(), because before V8 optimizes this function, the calls take most of its time
    let word = set[i]!;
    word -= (word >>> 1) & 0x5555_5555;
    word = (word & 0x3333_3333) + ((word >>> 2) & 0x3333_3333);
    count += (((word + (word >>> 4)) & 0x0f0f_0f0f) * 0x0101_0101) >>> 24;
  }
  return count;
}

/** Returns the number of bits in [from, to) that are set. */
export function countBitsBetween(set: Bitset, from: number, to: number): number {
  if (from >= to) return 0;
  const [first, last] = [from >>> 5, (to - 1) >>> 5];
  const head = 0xffff_ffff << (from & 31);
  const tail = 0xffff_ffff >>> (31 - ((to - 1) & 31));
  if (first === last) return popcount(set[first]! & head & tail);
  let count = popcount(set[first]! & head) + popcount(set[last]! & tail);
  for (let i = first + 1; i < last; i++) count += popcount(set[i]!);
  return count;
}

function popcount(word: number): number {
  word -= (word >>> 1) & 0x5555_5555;
  word = (word & 0x3333_3333) + ((word >>> 2) & 0x3333_3333);
  return (((word + (word >>> 4)) & 0x0f0f_0f0f) * 0x0101_0101) >>> 24;
}

export function isEmpty(set: Bitset): boolean {
  for (let i = 0; i < set.length; i++) if (set[i] !== 0) return false;
  return true;
}

// intersect(), unite() and subtract() change the first set and return it. REQUIRES: both sets have the same size.
export function intersect(into: Bitset, other: Bitset): Bitset {
  for (let i = 0; i < into.length; i++) into[i]! &= other[i]!;
  return into;
}

export function unite(into: Bitset, other: Bitset): Bitset {
  for (let i = 0; i < into.length; i++) into[i]! |= other[i]!;
  return into;
}

export function subtract(into: Bitset, other: Bitset): Bitset {
  for (let i = 0; i < into.length; i++) into[i]! &= ~other[i]!;
  return into;
}

/** Returns the first set bit at or after `from`, or -1. */
export function nextBit(set: Bitset, from: number): number {
  let index = from >>> 5;
  if (index >= set.length) return -1;
  let word = set[index]! & (0xffff_ffff << (from & 31));
  while (word === 0) {
    if (++index === set.length) return -1;
    word = set[index]!;
  }
  return (index << 5) + 31 - Math.clz32(word & -word);
}

export function forEachBit(set: Bitset, visit: (bit: number) => void): void {
  for (let index = 0; index < set.length; index++) {
    for (let word = set[index]!; word !== 0; word &= word - 1)
      visit((index << 5) + 31 - Math.clz32(word & -word));
  }
}

/** ORs the first `size` bits of `from` into `into`, beginning at bit `at` of `into`. */
export function placeBits(into: Bitset, at: number, from: Bitset, size: number): void {
  const shift = at & 31;
  const base = at >>> 5;
  for (let i = 0; i < wordsFor(size); i++) {
    const word = from[i]!;
    into[base + i]! |= word << shift;
    if (shift !== 0 && word >>> (32 - shift) !== 0) into[base + i + 1]! |= word >>> (32 - shift);
  }
}

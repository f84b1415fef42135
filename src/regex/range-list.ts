/** Stores the ranges that are found in a text as pairs of u32, so that a range needs no object of its own. */

export interface RangeList {
  length: number; // counted in pairs
  data: Uint32Array;
}

/**
 * Creates an empty list. By default, the list has 64 bytes, because V8 allocates a typed array of up to 64 bytes in
 * 24 ns, but takes 210 ns for a longer one. Most paths and texts have few ranges.
 */
export function newRangeList(capacity = 8): RangeList {
  return { length: 0, data: new Uint32Array(2 * capacity) };
}

export function pushRange(list: RangeList, start: number, end: number): void {
  reserveRanges(list, 1);
  list.data[2 * list.length] = start;
  list.data[2 * list.length + 1] = end;
  list.length++;
}

/** Makes room for `more` additional pairs. */
export function reserveRanges(list: RangeList, more: number): void {
  const needed = 2 * (list.length + more);
  if (needed <= list.data.length) return;
  const grown = new Uint32Array(Math.max(needed, 2 * list.data.length, 128));
  grown.set(list.data.subarray(0, 2 * list.length));
  list.data = grown;
}

/** Adds `by` to the start and the end of all ranges, from the range with index `first` on. */
export function shiftRanges({ data, length }: RangeList, first: number, by: number): void {
  if (by === 0) return;
  for (let i = 2 * first; i < 2 * length; i++) data[i]! += by;
}

/**
 * Decodes, encodes and intersects sets of pages. A list is stored as a bitmap, or as the gaps between its page numbers.
 * Gaps are varints, and the first gap counts from page -1. Both forms are decoded to bitmaps here. A segment has about
 * ten thousand pages, so a bitmap takes 3 KB, and an intersection takes 0.1 µs.
 */

/**
 * Sets the bit of every page of a list of gaps. Returns the number of pages, or -1 if the list is invalid. A list is
 * invalid if it has a gap of zero, a page number of at least `pages`, or a varint that is truncated or longer than 32
 * bits.
 */
export function decodeGaps(list: usize, length: usize, pages: u32, bits: usize): i32 {
  const end = list + length;
  let at = list;
  let next: u32 = 0; // the previous page + 1
  let count: i32 = 0;
  while (at < end) {
    let byte: u32 = load<u8>(at++);
    let gap = byte & 0x7f;
    for (let shift: u32 = 7; byte > 0x7f; shift += 7) {
      if (at == end || shift > 28) return -1;
      byte = load<u8>(at++);
      if (shift == 28 && byte > 0x0f) return -1;
      gap |= (byte & 0x7f) << shift;
    }
    if (gap == 0 || gap > pages - next) return -1;
    next += gap;
    const page = next - 1;
    const word = bits + ((page >> 5) << 2);
    store<u32>(word, load<u32>(word) | (1 << (page & 31)));
    count++;
  }
  return count;
}

/** Writes the pages of `bits` in [0, pages) to `out` as gaps. Returns the number of bytes that were written. */
export function encodeGaps(bits: usize, pages: u32, out: usize): u32 {
  let to = out;
  let before: u32 = 0;
  for (let base: u32 = 0; base < pages; base += 32) {
    let word = load<u32>(bits + (base >> 3));
    if (word == 0) {
      // skips 128 pages at a time while their bits are zero, because most lists have few pages
      while (base + 160 <= pages && !v128.any_true(v128.load(bits + (base >> 3), 4))) base += 128;
      continue;
    }
    for (; word; word &= word - 1) {
      const next = base + ctz(word) + 1;
      let gap = next - before;
      before = next;
      while (gap > 0x7f) {
        store<u8>(to++, (gap & 0x7f) | 0x80);
        gap >>= 7;
      }
      store<u8>(to++, gap);
    }
  }
  return <u32>(to - out);
}

/** Computes into := into AND other. REQUIRES: both are `bytes` long, a multiple of 16. */
export function intersectBits(into: usize, other: usize, bytes: usize): void {
  for (let i: usize = 0; i < bytes; i += 16)
    v128.store(into + i, v128.and(v128.load(into + i), v128.load(other + i)));
}

/** Counts the bits. REQUIRES: `bytes` is a multiple of 8. */
export function countBits(bits: usize, bytes: usize): u32 {
  let count: u64 = 0;
  for (let i: usize = 0; i < bytes; i += 8) count += popcnt(load<u64>(bits + i));
  return <u32>count;
}

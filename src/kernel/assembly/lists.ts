/**
 * Intersects posting lists in memory that threads share (store/segments/kept-lists.ts describes its layout). One call
 * processes all grams of a literal. Intersecting twenty lists takes 2 to 8 µs. Reading them from the data file would
 * take 40 µs.
 */

import { countBits, decodeGaps, intersectBits } from "./postings";

/** Special results of pagesWithAll(), which otherwise returns a number of pages. */
export const MISSING: i32 = -1;
const BROKEN: i32 = -2;
/**
 * The bit that marks a list as a bitmap. In a block, this bit is set in the gram of the list. In an entry (below), it
 * is set in the length of the list.
 */
const BITMAP: u32 = 0x8000_0000;

// offsets in a thread's scratch memory
export const LIST_BYTES: usize = 0;
const MISSING_COUNT: usize = 4;
const MISSING_BLOCKS: usize = 16;
/** The maximum number of grams in one call. */
const MOST_GRAMS: usize = 256;
/** The offset of the entries. An entry is the (address, length) of a list, and the shortest list comes first. */
const ENTRIES: usize = MISSING_BLOCKS + 4 * MOST_GRAMS;
export const BITS: usize = ENTRIES + 8 * MOST_GRAMS;

/**
 * Finds the pages that have all the grams. Sets the bits of these pages at BITS of `scratch`, and returns the number of
 * pages. Writes the total length of the lists at LIST_BYTES. Returns MISSING if some blocks must be loaded first. The
 * numbers of these blocks are then at MISSING_BLOCKS. Returns BROKEN if a list violates the format.
 * REQUIRES: there are 1 to MOST_GRAMS grams. `scratch` has room for two sets of pages at BITS, each a multiple of 16
 * bytes long.
 */
export function pagesWithAll(
  set: usize,
  grams: usize,
  count: u32,
  pages: u32,
  scratch: usize,
): i32 {
  store<u32>(scratch, 0, LIST_BYTES);
  store<u32>(scratch, 0, MISSING_COUNT);
  for (let i: u32 = 0; i < count; i++)
    if (!addList(set, load<u32>(grams + (<usize>i << 2)), i, scratch)) return BROKEN;
  if (load<u32>(scratch, MISSING_COUNT) > 0) return MISSING;
  return intersect(count, pages, scratch);
}

/**
 * Finds the list of a gram, and inserts it into the `count` entries. Returns false if the block of the list violates
 * the format.
 */
function addList(set: usize, gram: u32, count: u32, scratch: usize): bool {
  const blocks = load<u32>(set);
  const firsts = set + 4;
  const number = lastAtMost(firsts, blocks, gram);
  if (number < 0) return insert(0, 0, count, scratch);
  const block = <usize>atomic.load<u32>(firsts + ((<usize>blocks + <usize>number) << 2));
  if (block == 0) {
    const missing = load<u32>(scratch, MISSING_COUNT);
    store<u32>(scratch + (<usize>missing << 2), <u32>number, MISSING_BLOCKS);
    store<u32>(scratch, missing + 1, MISSING_COUNT);
    return true;
  }
  const bytes = load<u32>(block);
  const lists = load<u32>(block, 4);
  const keys = block + 8;
  if (bytes < 4 || lists > (bytes - 4) >> 3) return false;
  const at = lastAtMost(keys, lists, gram);
  const key: u32 = at < 0 ? 0 : load<u32>(keys + (<usize>at << 2));
  if (at < 0 || (key & ~BITMAP) != gram) return insert(0, 0, count, scratch);
  const ends = keys + (<usize>lists << 2);
  const from: u32 = at == 0 ? 0 : load<u32>(ends + (<usize>(at - 1) << 2));
  const to = load<u32>(ends + (<usize>at << 2));
  if (from > to || to > bytes - 4 - (lists << 3)) return false;
  const list = ends + (<usize>lists << 2) + <usize>from;
  return insert(list, (to - from) | (key & BITMAP), count, scratch);
}

/**
 * Inserts a list into the `count` entries, which are ordered by length. `sized` is the length of the list, with the bit
 * BITMAP if the list is a bitmap.
 */
function insert(list: usize, sized: u32, count: u32, scratch: usize): bool {
  const length = sized & ~BITMAP;
  store<u32>(scratch, load<u32>(scratch, LIST_BYTES) + length, LIST_BYTES);
  // if a block is missing, the entries are incomplete and will not be read
  if (load<u32>(scratch, MISSING_COUNT) > 0) return true;
  let entry = scratch + ENTRIES + (<usize>count << 3);
  while (entry > scratch + ENTRIES && (load<u32>(entry - 4) & ~BITMAP) > length) {
    store<u64>(entry, load<u64>(entry - 8));
    entry -= 8;
  }
  store<u32>(entry, <u32>list);
  store<u32>(entry, sized, 4);
  return true;
}

/**
 * Intersects the lists as bitmaps, beginning with the shortest list. Once only a few pages are left, looks up each of
 * these pages in the remaining lists instead.
 */
function intersect(count: u32, pages: u32, scratch: usize): i32 {
  const bytes = <usize>(((pages + 127) >> 7) << 4);
  const all = scratch + BITS;
  const one = all + bytes;
  let found: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const list = <usize>load<u32>(scratch + (<usize>i << 3), ENTRIES);
    const sized = load<u32>(scratch + (<usize>i << 3), ENTRIES + 4);
    const into = i == 0 ? all : one;
    memory.fill(into, 0, bytes);
    if (!decode(list, sized, pages, into)) return BROKEN;
    if (i > 0) intersectBits(all, one, bytes);
    found = countBits(all, bytes);
    if (found == 0) break;
    if (<usize>found << 2 <= bytes) return keepFew(found, i + 1, count, pages, scratch);
  }
  return <i32>found;
}

/**
 * Copies the `found` pages to an array, and keeps only those that are in all lists from number `from` on. Returns the
 * number of pages that are kept, or BROKEN.
 */
function keepFew(found: u32, from: u32, count: u32, pages: u32, scratch: usize): i32 {
  const bytes = <usize>(((pages + 127) >> 7) << 4);
  const all = scratch + BITS;
  const few = all + bytes;
  let to = few;
  for (let base: u32 = 0; base < pages; base += 32)
    for (let word = load<u32>(all + (base >> 3)); word; word &= word - 1) {
      store<u32>(to, base + ctz(word));
      to += 4;
    }
  let left = <i32>found;
  for (let i = from; i < count && left > 0; i++) {
    const list = <usize>load<u32>(scratch + (<usize>i << 3), ENTRIES);
    const sized = load<u32>(scratch + (<usize>i << 3), ENTRIES + 4);
    const length = <usize>(sized & ~BITMAP);
    if ((sized & BITMAP) == 0) left = keepInGaps(list, length, pages, few, left);
    else if (length != <usize>((pages + 7) >> 3)) left = BROKEN;
    else left = keepInBitmap(list, few, left);
  }
  if (left < 0) return BROKEN;
  memory.fill(all, 0, bytes);
  for (let at = few; at < few + (<usize>left << 2); at += 4) {
    const page = load<u32>(at);
    const word = all + ((page >> 5) << 2);
    store<u32>(word, load<u32>(word) | (1 << (page & 31)));
  }
  return left;
}

/** Keeps only those of the `count` pages at `few` that are in a bitmap. Returns the number of pages that are kept. */
function keepInBitmap(list: usize, few: usize, count: i32): i32 {
  let to = few;
  for (let at = few; at < few + (<usize>count << 2); at += 4) {
    const page = load<u32>(at);
    if (((load<u8>(list + (page >> 3)) >> (page & 7)) & 1) == 0) continue;
    store<u32>(to, page);
    to += 4;
  }
  return <i32>((to - few) >> 2);
}

/**
 * Keeps only those of the `count` ascending pages at `few` that are in a list of gaps. Returns the number of pages that
 * are kept, or BROKEN. As long as the next of these pages is far away in the list, skips 16 gaps of one byte each at a
 * time.
 */
function keepInGaps(list: usize, length: usize, pages: u32, few: usize, count: i32): i32 {
  const end = list + length;
  const last = few + (<usize>count << 2);
  let at = list;
  let next: u32 = 0; // the previous page + 1
  let from = few;
  let to = few;
  let wanted = load<u32>(from);
  while (at < end) {
    while (at + 16 <= end) {
      const gaps = v128.load(at);
      if (i8x16.bitmask(gaps) != 0 || !i8x16.all_true(gaps)) break;
      const pairs = i16x8.extadd_pairwise_i8x16_u(gaps);
      const fours = i32x4.extadd_pairwise_i16x8_u(pairs);
      const sum =
        i32x4.extract_lane(fours, 0) +
        i32x4.extract_lane(fours, 1) +
        i32x4.extract_lane(fours, 2) +
        i32x4.extract_lane(fours, 3);
      if (next + <u32>sum > wanted) break;
      next += <u32>sum;
      at += 16;
    }
    if (at == end) break;
    let byte: u32 = load<u8>(at++);
    let gap = byte & 0x7f;
    for (let shift: u32 = 7; byte > 0x7f; shift += 7) {
      if (at == end || shift > 28) return BROKEN;
      byte = load<u8>(at++);
      if (shift == 28 && byte > 0x0f) return BROKEN;
      gap |= (byte & 0x7f) << shift;
    }
    if (gap == 0 || gap > pages - next) return BROKEN;
    next += gap;
    while (wanted < next - 1) {
      from += 4;
      if (from == last) return <i32>((to - few) >> 2);
      wanted = load<u32>(from);
    }
    if (wanted != next - 1) continue;
    store<u32>(to, wanted);
    to += 4;
    from += 4;
    if (from == last) break;
    wanted = load<u32>(from);
  }
  return <i32>((to - few) >> 2);
}

/** Sets the bits of a list's pages. Returns false if the list violates the format. */
function decode(list: usize, sized: u32, pages: u32, bits: usize): bool {
  const length = <usize>(sized & ~BITMAP);
  if ((sized & BITMAP) == 0) return decodeGaps(list, length, pages, bits) >= 0;
  if (length != <usize>((pages + 7) >> 3)) return false;
  memory.copy(bits, list, length);
  return true;
}

/**
 * Returns the last index whose gram is at most `gram`, or -1. Takes 8 ns for 1 200 grams.
 * REQUIRES: the grams are in ascending order.
 */
function lastAtMost(grams: usize, count: u32, gram: u32): i32 {
  let low: u32 = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((load<u32>(grams + (<usize>middle << 2)) & ~BITMAP) <= gram) low = middle + 1;
    else high = middle;
  }
  return <i32>low - 1;
}

/**
 * Intersects posting lists (store/segments/postings.ts describes their blocks). One call reads and processes all lists of
 * a literal. Intersecting twenty lists takes 2 to 8 µs, and reading a block about 2 µs.
 */

import { countBits, decodeGaps, intersectBits } from "./postings";

/**
 * Copies a block of lists to `at`, and returns its length. `set` tells the sets of lists of one caller apart. Throws if
 * the block is damaged or longer than MOST_BLOCK_BYTES and a bitmap of all pages.
 */
@external("env", "readBlock")
declare function readBlock(set: u32, block: u32, at: usize): u32;

/** The result of pagesWithAll() if a list violates the format. Otherwise, the result is a number of pages. */
export const BROKEN: i32 = -1;
/**
 * The bit that marks a list as a bitmap. In a block, this bit is set in the gram of the list. In an entry (below), it
 * is set in the length of the list.
 */
const BITMAP: u32 = 0x8000_0000;

// offsets in the scratch memory; kernel/page-lists.ts has them, too
export const LIST_BYTES: usize = 0;
/** The maximum number of grams in one call. */
const MOST_GRAMS: usize = 256;
/** The offset of the entries. An entry is the (address, length) of a list, and the shortest list comes first. */
const ENTRIES: usize = 16;
export const BITS: usize = ENTRIES + 8 * MOST_GRAMS;

/**
 * Finds the pages that have all the grams. Sets the bits of these pages at BITS of `scratch`, and returns the number of
 * pages, or BROKEN. Writes the total length of the lists at LIST_BYTES. `firsts` has the first gram of each block of the
 * set.
 * REQUIRES: there are 1 to MOST_GRAMS grams. `scratch` has as many bytes as page-lists.ts says.
 */
export function pagesWithAll(
  set: u32,
  firsts: usize,
  blocks: u32,
  grams: usize,
  count: u32,
  pages: u32,
  scratch: usize,
): i32 {
  store<u32>(scratch, 0, LIST_BYTES);
  let at = scratch + BITS + 2 * <usize>(((pages + 127) >> 7) << 4);
  for (let i: u32 = 0; i < count; i++) {
    const gram = load<u32>(grams + (<usize>i << 2));
    const block = lastAtMost(firsts, blocks, gram);
    const length = block < 0 ? 0 : readBlock(set, <u32>block, at);
    const sized = keepList(gram, at, length);
    if (sized == NO_LIST) return BROKEN;
    insert(at, sized, i, scratch);
    at += <usize>(sized & ~BITMAP);
  }
  return intersect(count, pages, scratch);
}

const NO_LIST: u32 = 0xffff_ffff;

/**
 * Moves the list of a gram to the start of its block, which is at `block`. Returns the length of the list, with the bit
 * BITMAP if it is a bitmap. Returns 0 if the block lacks the gram, and NO_LIST if the block violates the format.
 */
function keepList(gram: u32, block: usize, bytes: u32): u32 {
  if (bytes == 0) return 0;
  if (bytes < 4) return NO_LIST;
  const lists = load<u32>(block);
  const keys = block + 4;
  if (lists > (bytes - 4) >> 3) return NO_LIST;
  const at = lastAtMost(keys, lists, gram);
  const key: u32 = at < 0 ? 0 : load<u32>(keys + (<usize>at << 2));
  if (at < 0 || (key & ~BITMAP) != gram) return 0;
  const ends = keys + (<usize>lists << 2);
  const from: u32 = at == 0 ? 0 : load<u32>(ends + (<usize>(at - 1) << 2));
  const to = load<u32>(ends + (<usize>at << 2));
  if (from > to || to > bytes - 4 - (lists << 3)) return NO_LIST;
  memory.copy(block, ends + (<usize>lists << 2) + <usize>from, <usize>(to - from));
  return (to - from) | (key & BITMAP);
}

/**
 * Inserts a list into the `count` entries, which are ordered by length. `sized` is the length of the list, with the bit
 * BITMAP if the list is a bitmap.
 */
function insert(list: usize, sized: u32, count: u32, scratch: usize): void {
  const length = sized & ~BITMAP;
  store<u32>(scratch, load<u32>(scratch, LIST_BYTES) + length, LIST_BYTES);
  let entry = scratch + ENTRIES + (<usize>count << 3);
  while (entry > scratch + ENTRIES && (load<u32>(entry - 4) & ~BITMAP) > length) {
    store<u64>(entry, load<u64>(entry - 8));
    entry -= 8;
  }
  store<u32>(entry, <u32>list);
  store<u32>(entry, sized, 4);
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

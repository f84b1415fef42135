/**
 * Finds the grams of a page, and builds posting lists from them.
 *
 * A gram is three bytes of folded text, each of which is reduced to a class. The class is 0 for ASCII other than
 * [a-z0-9_], 1-26 for letters, 27-36 for digits, 37 for '_', and 38 + (byte - 128) beyond ASCII. Let c0, c1 and c2 be
 * the three classes. If all three are of ASCII, the gram's number is (c0 * 38 + c1) * 38 + c2. Otherwise, it is
 * ASCII_GRAMS + (c0 * 166 + c1) * 166 + c2.
 *
 * A page of ASCII is processed in two passes. The first pass collects the distinct grams of the page. Its loop has no
 * branches, and its bitset of 7 KB stays in the first-level cache. The second pass appends the page to the list of each
 * of these grams. Both passes together take 1.3 ns per byte.
 *
 * A list is stored as the gaps between its page numbers, which are varints. The first gap counts from page -1. A list
 * consists of blocks. The first block has 12 bytes of the list, and every other block has 60. At the end of each block
 * is the address of the next one. The first block is small because a third of all lists fit into it. Every other block
 * is a line of the processor's cache, because the processor waits for memory at each block. If all blocks had 16 bytes,
 * copying the lists would take a fifth of the time of an index run.
 *
 * A slot represents one list. It has four words (u32): the gram of the list, its last page + 1, the address of its
 * first block, and the address at which its next byte will be stored.
 *
 * The state has eleven words (u32), listed here with their byte offsets. All words except slotCount are addresses. In
 * this list, a page includes its overlap, which is the bytes after it that its grams also cover.
 *
 *     0 classes    u8[256]: the class of each byte
 *     4 seen       a bit for each ASCII gram, all zero between calls
 *     8 fresh      room for a u32 for each byte of a page
 *     12 ascii     a u32 for each ASCII gram: the address of its slot, or 0
 *     16 others    the same for all other grams; `others` itself is 0 until such a gram occurs
 *     20 slots     the slots
 *     24 slotCount
 *     28 arena     where the next line will be stored, a multiple of 64
 *     32 folding   the folding table
 *     36 folded    room for three times a page
 *     40 first     where the next first block will be stored; a multiple of 64 if no line has room for one
 */

import { decode, decodedLength, fold } from "./folding";

const ASCII_CLASSES: u32 = 38;
const ASCII_GRAMS: u32 = 38 * 38 * 38;
const CLASSES: u32 = 166;
const SLOT: usize = 16;
const LINE: usize = 64;
/** The length of a first block. */
const FIRST: usize = 16;
/** The length of the address at the end of a block. */
const NEXT: usize = 4;

/**
 * Adds the text [from, to) as page `page`. Returns 1 if folding changes a code point beyond ASCII in the text, else
 * 0. Returns 2, and adds nothing, if the text needs the table `others` and there is none.
 * REQUIRES: pages are added in ascending order. For each byte of the folded text, there is room for one line in the
 * arena and for one slot.
 */
export function addPage(state: usize, from: usize, to: usize, page: u32): u32 {
  if (isAscii(from, to)) {
    if (to - from > 2) addAscii(state, from, to, page);
    return 0;
  }
  if (load<u32>(state, 16) == 0) return 2;
  // the length is not checked here, because folding may lengthen a text of two bytes so that it contains a gram
  const folded = <usize>load<u32>(state, 36);
  const result = foldText(from, to, <usize>load<u32>(state, 32), folded);
  addAny(state, folded, folded + (result >> 1), page);
  return result & 1;
}

export function isAscii(from: usize, to: usize): bool {
  let all = i8x16.splat(0);
  let at = from;
  for (; at + 16 <= to; at += 16) all = v128.or(all, v128.load(at));
  let rest: u32 = 0;
  for (; at < to; at++) rest |= load<u8>(at);
  return i8x16.bitmask(all) == 0 && rest < 0x80;
}

function addAscii(state: usize, from: usize, to: usize, page: u32): void {
  const classes = <usize>load<u32>(state);
  const seen = <usize>load<u32>(state, 4);
  const fresh = <usize>load<u32>(state, 8);
  let last: u32 = load<u8>(classes + load<u8>(from, 1));
  let pair: u32 = <u32>load<u8>(classes + load<u8>(from)) * ASCII_CLASSES + last;
  let end = fresh;
  for (let at = from + 2; at < to; at++) {
    const next: u32 = load<u8>(classes + load<u8>(at));
    const gram = pair * ASCII_CLASSES + next;
    pair = last * ASCII_CLASSES + next;
    last = next;
    const word = seen + ((gram >> 5) << 2);
    const bits = load<u32>(word);
    store<u32>(word, bits | (1 << (gram & 31)));
    store<u32>(end, gram);
    end += (((bits >> (gram & 31)) & 1) ^ 1) << 2;
  }
  const ascii = <usize>load<u32>(state, 12);
  for (let at = fresh; at < end; at += 4) {
    const gram = load<u32>(at);
    store<u32>(seen + ((gram >> 5) << 2), 0);
    append(state, ascii + (gram << 2), gram, page);
  }
}

/**
 * Writes the folded text of [from, to) to `start`. Returns twice the length of the folded text, plus 1 if folding has
 * changed a code point beyond ASCII.
 */
export function foldText(from: usize, to: usize, folding: usize, start: usize): u32 {
  let out = start;
  let changed: u32 = 0;
  for (let at = from; at < to; ) {
    const point = decode(at, to);
    const length = decodedLength;
    const folded = fold(point, folding);
    if (folded == point) for (let i: usize = 0; i < length; i++) store<u8>(out + i, load<u8>(at + i));
    if (folded == point) out += length;
    else {
      changed |= <u32>(point >= 0x80);
      out = encode(out, folded);
    }
    at += length;
  }
  return (<u32>(out - start) << 1) | changed;
}

function encode(out: usize, point: u32): usize {
  if (point < 0x80) {
    store<u8>(out, point);
    return out + 1;
  }
  if (point < 0x800) {
    store<u8>(out, 0xc0 | (point >> 6));
    store<u8>(out, 0x80 | (point & 63), 1);
    return out + 2;
  }
  if (point < 0x10000) {
    store<u8>(out, 0xe0 | (point >> 12));
    store<u8>(out, 0x80 | ((point >> 6) & 63), 1);
    store<u8>(out, 0x80 | (point & 63), 2);
    return out + 3;
  }
  store<u8>(out, 0xf0 | (point >> 18));
  store<u8>(out, 0x80 | ((point >> 12) & 63), 1);
  store<u8>(out, 0x80 | ((point >> 6) & 63), 2);
  store<u8>(out, 0x80 | (point & 63), 3);
  return out + 4;
}

/**
 * Adds folded text that is not all ASCII. This is slower than addAscii(), because repeated grams are not dropped first.
 */
function addAny(state: usize, from: usize, to: usize, page: u32): void {
  if (to - from < 3) return;
  const classes = <usize>load<u32>(state);
  const ascii = <usize>load<u32>(state, 12);
  const others = <usize>load<u32>(state, 16);
  let c0: u32 = load<u8>(classes + load<u8>(from));
  let c1: u32 = load<u8>(classes + load<u8>(from, 1));
  for (let at = from + 2; at < to; at++) {
    const c2: u32 = load<u8>(classes + load<u8>(at));
    if (max(max(c0, c1), c2) < ASCII_CLASSES) {
      const gram = (c0 * ASCII_CLASSES + c1) * ASCII_CLASSES + c2;
      append(state, ascii + (gram << 2), gram, page);
    } else {
      const index = (c0 * CLASSES + c1) * CLASSES + c2;
      append(state, others + (index << 2), ASCII_GRAMS + index, page);
    }
    c0 = c1;
    c1 = c2;
  }
}

/** Appends `page` to the list of `gram`, unless the list already ends with this page. */
@inline
function append(state: usize, entry: usize, gram: u32, page: u32): void {
  let slot = <usize>load<u32>(entry);
  if (slot == 0) slot = addSlot(state, entry, gram);
  const last = load<u32>(slot, 4);
  if (last == page + 1) return;
  store<u32>(slot, page + 1, 4);
  let gap = page + 1 - last;
  while (gap > 0x7f) {
    appendByte(state, slot, (gap & 0x7f) | 0x80);
    gap >>= 7;
  }
  appendByte(state, slot, gap);
}

function addSlot(state: usize, entry: usize, gram: u32): usize {
  const count = load<u32>(state, 24);
  const slot = <usize>load<u32>(state, 20) + <usize>count * SLOT;
  let block = load<u32>(state, 40);
  if ((block & <u32>(LINE - 1)) == 0) block = <u32>newLine(state);
  store<u32>(state, count + 1, 24);
  store<u32>(state, block + <u32>FIRST, 40);
  store<u32>(slot, gram);
  store<u32>(slot, 0, 4);
  store<u32>(slot, block, 8);
  store<u32>(slot, block, 12);
  store<u32>(entry, <u32>slot);
  return slot;
}

@inline
function newLine(state: usize): usize {
  const line = <usize>load<u32>(state, 28);
  store<u32>(state, <u32>(line + LINE), 28);
  return line;
}

@inline
function appendByte(state: usize, slot: usize, byte: u32): void {
  let at = <usize>load<u32>(slot, 12);
  if ((at & (LINE - 1)) == LINE - NEXT || at == <usize>load<u32>(slot, 8) + FIRST - NEXT) {
    const line = newLine(state);
    store<u32>(at, <u32>line);
    at = line;
  }
  store<u8>(at, byte);
  store<u32>(slot, <u32>(at + 1), 12);
}

/** Copies the list of a slot to `out`, and writes up to 64 more bytes. Returns the length of the list in bytes. */
export function copyList(slot: usize, out: usize): u32 {
  const end = <usize>load<u32>(slot, 12);
  let from = <usize>load<u32>(slot, 8);
  let limit = from + FIRST - NEXT;
  let to = out;
  v128.store(to, v128.load(from));
  while (end < from || end > limit) {
    to += limit - from;
    from = <usize>load<u32>(limit);
    limit = from + LINE - NEXT;
    v128.store(to, v128.load(from));
    v128.store(to, v128.load(from, 16), 16);
    v128.store(to, v128.load(from, 32), 32);
    v128.store(to, v128.load(from, 48), 48);
  }
  return <u32>(to + end - from - out);
}

/** Removes all lists, by clearing the entries of their grams in `ascii` and `others`. The caller must reset `arena`. */
export function clearGrams(state: usize): void {
  const ascii = <usize>load<u32>(state, 12);
  const others = <usize>load<u32>(state, 16);
  const slots = <usize>load<u32>(state, 20);
  const count = load<u32>(state, 24);
  for (let i: u32 = 0; i < count; i++) {
    const gram = load<u32>(slots + <usize>i * SLOT);
    if (gram < ASCII_GRAMS) store<u32>(ascii + (gram << 2), 0);
    else store<u32>(others + ((gram - ASCII_GRAMS) << 2), 0);
  }
  store<u32>(state, 0, 24);
  store<u32>(state, 0, 40);
}

/**
 * Rates how well matches fit the names of the definitions in their blob, for ranking. The rating of a match is
 *
 *     3  if the match is exactly the name of a definition
 *     2  if it is the name of a member (MEMBERS), or begins or ends a name and has its other end at a joint (edges.ts)
 *     1  if it is anywhere else within a name
 *     0  otherwise
 *
 * Definitions are read in their stored form, a run of varints (src/store/symbols/symbol-run.ts), and only up to the
 * last match. This takes 2 ns per definition. Decoding the definitions in JavaScript first would take 9 ns.
 */

import { edgeAfter, edgeBefore } from "./edges";

const EXACT: i32 = 3;
const EDGE: i32 = 2;
const INSIDE: i32 = 1;
/** The rating in edges.ts of a match from one end of a name (2 points) to a joint within the name (1 point). */
const AT_JOINT: u32 = 3;
/** The value of the low two bits of a kind after which the number of the parent follows. */
const OTHER_PARENT: u32 = 3;
/**
 * The kinds that occur only inside other definitions: constructor, field, property. The number of a bit is the kind's
 * index in SYMBOL_KINDS.
 */
const MEMBERS: u32 = (1 << 2) | (1 << 14) | (1 << 15);

/** The address that varint() reads next. It is a global variable, because varint() can return only one value. */
let cursor: usize = 0;

/**
 * Returns the best rating of the matches, which are ascending pairs (start, end) at the addresses [pairs, pairsEnd).
 * Returns -1 if a definition in the run [run, runEnd) is outside a blob of `length` bytes. The positions of matches and
 * definitions are relative to the start of the blob, whose address is `origin`.
 * REQUIRES: the text of the blob is loaded around the matches.
 */
export function bestDefinition(
  run: usize,
  runEnd: usize,
  pairs: usize,
  pairsEnd: usize,
  origin: usize,
  length: u32,
): i32 {
  if (run == runEnd) return 0; // a blob without definitions
  cursor = run;
  const count = varint();
  varint(); // skips the number of names that only serve as parents, which are stored after the definitions
  let best: i32 = 0;
  let first = pairs;
  let start: u32 = -1;
  for (let row: u32 = 0; row < count && first < pairsEnd; row++) {
    if (cursor >= runEnd) return -1;
    const gap = varint();
    const nameBytes = varint();
    const kind = varint();
    if ((kind & 3) == OTHER_PARENT) varint();
    if (gap > length || nameBytes > length) return -1;
    start += gap + 1;
    const end = start + nameBytes;
    if (end > length) return -1;
    const whole = MEMBERS & (1 << (kind >> 2)) ? EDGE : EXACT;
    while (first < pairsEnd && load<u32>(first) < start) first += 8;
    for (let pair = first; pair < pairsEnd && load<u32>(pair) < end; pair += 8) {
      const fit = min(whole, fitOf(load<u32>(pair), load<u32>(pair, 4), start, end, origin));
      if (fit == EXACT) return EXACT;
      if (fit > best) best = fit;
    }
  }
  return best;
}

@inline
function fitOf(from: u32, to: u32, start: u32, end: u32, origin: usize): i32 {
  if (to > end || from == to) return 0;
  if (from == start && to == end) return EXACT;
  if (from != start && to != end) return INSIDE;
  const edges = edgeBefore(origin + from, origin + start) + edgeAfter(origin + to, origin + end);
  return edges >= AT_JOINT ? EDGE : INSIDE;
}

/**
 * Finds the names of definitions that overlap one of the ranges of `reach` bytes that begin at the given places. The
 * places are ascending addresses (u32) in [places, placesEnd). If there are no places, finds all names.
 *
 * Writes the start and the end of each name to `out`, relative to `origin`, the address of the blob. Returns the number
 * of names. Returns -1 if the run [run, runEnd) is invalid or has a name outside a blob of `length` bytes.
 * REQUIRES: for every three bytes of the run, `out` has room for eight bytes.
 */
export function namesAt(
  run: usize,
  runEnd: usize,
  places: usize,
  placesEnd: usize,
  origin: usize,
  reach: u32,
  length: u32,
  out: usize,
): i32 {
  if (run == runEnd) return 0;
  cursor = run;
  const count = varint();
  varint();
  if (count > <u32>(runEnd - run) / 3) return -1;
  const areAll = places == placesEnd;
  let next = places;
  let found: i32 = 0;
  let start: u32 = -1;
  for (let row: u32 = 0; row < count; row++) {
    if (cursor >= runEnd) return -1;
    const gap = varint();
    const nameBytes = varint();
    if ((varint() & 3) == OTHER_PARENT) varint();
    if (gap > length || nameBytes > length) return -1;
    start += gap + 1;
    const end = start + nameBytes;
    if (end > length) return -1;
    if (!areAll) {
      while (load<u32>(next) + reach <= <u32>origin + start) {
        next += 4;
        if (next == placesEnd) return found;
      }
      if (load<u32>(next) >= <u32>origin + end) continue;
    }
    store<u32>(out, start);
    store<u32>(out, end, 4);
    out += 8;
    found++;
  }
  return found;
}

/**
 * Reads a varint. If the run ends within the varint, reads bytes after the run. This is safe, because the callers check
 * the cursor before they read the next definition.
 */
@inline
function varint(): u32 {
  let byte = <u32>load<u8>(cursor++);
  if (byte < 128) return byte;
  let value = byte & 127;
  for (let shift: u32 = 7; shift < 35; shift += 7) {
    byte = <u32>load<u8>(cursor++);
    value |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  return value;
}

/** Finds the lines of a text. */

/** Counts the newlines in [from, to), 16 bytes at a time. */
export function countNewlines(from: usize, to: usize): u32 {
  const newline = i8x16.splat(10);
  let count: u32 = 0;
  let at = from;
  for (; at + 16 <= to; at += 16) count += popcnt(i8x16.bitmask(i8x16.eq(v128.load(at), newline)));
  for (; at < to; at++) count += <u32>(load<u8>(at) == 10);
  return count;
}

/**
 * Writes to `out` the lines of the text [from, to) that contain at least one of the places. `places` has `count`
 * ascending addresses (u32). A line is written as the pair (start, end) of its addresses, and includes its newline.
 * Adjacent lines become one pair. `from` counts as the start of a line and `to` as the end of one, even without a
 * newline there. Returns the number of pairs. REQUIRES: `out` has room for `count` pairs.
 */
export function linesAround(places: usize, count: u32, from: usize, to: usize, out: usize): u32 {
  let next = out;
  let end = from; // the end of the last line
  let begun = false;
  for (let i: u32 = 0; i < count; i++) {
    const place = <usize>load<u32>(places + (<usize>i << 2));
    if (begun && place < end) continue;
    const start = startOfLine(place, end);
    const joins = begun && start == end;
    end = endOfLine(place, to);
    if (joins) store<u32>(next - 4, <u32>end);
    else {
      store<u32>(next, <u32>start);
      store<u32>(next, <u32>end, 4);
      next += 8;
      begun = true;
    }
  }
  return <u32>((next - out) >> 3);
}

/**
 * Writes to `out` those parts of the regions that are worth searching around the places, as pairs (start, end). If a
 * region has on average more than one place in `dense` bytes, the part is the whole region. In every other region, the
 * parts are the lines with a place. Regions (start, end) and places are in ascending order. Returns the number of
 * pairs.
 * REQUIRES: every place is in a region. `out` has room for one pair per place and one pair per region.
 */
export function stretchesWith(
  regions: usize,
  regionCount: u32,
  places: usize,
  placeCount: u32,
  dense: u32,
  out: usize,
): u32 {
  const stop = places + (<usize>placeCount << 2);
  let place = places;
  let next = out;
  for (let region = regions, end = regions + (<usize>regionCount << 3); region < end; region += 8) {
    const from = <usize>load<u32>(region);
    const to = <usize>load<u32>(region, 4);
    const first = place;
    while (place < stop && <usize>load<u32>(place) < to) place += 4;
    const count = <u32>((place - first) >> 2);
    if (count == 0) continue;
    if (<usize>count * dense > to - from) {
      store<u32>(next, <u32>from);
      store<u32>(next, <u32>to, 4);
      next += 8;
    } else next += <usize>linesAround(first, count, from, to, next) << 3;
  }
  return <u32>((next - out) >> 3);
}

/** Returns the position after the last newline before `place`, but at least `lowest`. */
export function startOfLine(place: usize, lowest: usize): usize {
  const newline = i8x16.splat(10);
  let at = place;
  while (at >= lowest + 16) {
    const hits = i8x16.bitmask(i8x16.eq(v128.load(at - 16), newline));
    if (hits) return at - 16 + (32 - clz<u32>(hits));
    at -= 16;
  }
  while (at > lowest && load<u8>(at - 1) != 10) at--;
  return at;
}

/** Returns the position after the first newline at or after `place`, at most `limit`. */
export function endOfLine(place: usize, limit: usize): usize {
  const newline = i8x16.splat(10);
  let at = place;
  for (; at < limit; at += 16) {
    const hits = i8x16.bitmask(i8x16.eq(v128.load(at), newline));
    if (hits) return min<usize>(limit, at + ctz(hits) + 1);
  }
  return limit;
}

/**
 * Finds the positions at which three successive bytes belong to three given sets of ASCII characters, one set for each
 * byte. A set is a table of 16 bytes, one for each low half (four bits) of a character. Each bit of such a byte stands
 * for a high half, and is set if the two halves form a member of the set. With SIMD look-ups of both halves, 16 bytes
 * of text are tested at once.
 */

/**
 * Writes the positions in the given regions (start, end) to `out`, as ascending addresses (u32). Returns the number of
 * positions, or -1 if there are more than `room`. `sets` is the address of the tables of the three sets.
 */
export function scanTriples(
  regions: usize,
  regionCount: u32,
  sets: usize,
  out: usize,
  room: u32,
): i32 {
  const first = v128.load(sets);
  const second = v128.load(sets, 16);
  const third = v128.load(sets, 32);
  let count: u32 = 0;
  for (let region = regions, end = regions + (<usize>regionCount << 3); region < end; region += 8) {
    const to = <usize>load<u32>(region, 4);
    for (let at = <usize>load<u32>(region); at + 2 < to; at += 16) {
      let hits = i8x16.bitmask(
        v128.and(
          v128.and(members(v128.load(at), first), members(v128.load(at, 1), second)),
          members(v128.load(at, 2), third),
        ),
      );
      for (; hits; hits &= hits - 1) {
        const place = at + ctz(hits);
        if (place + 2 >= to) break;
        if (count == room) return -1;
        store<u32>(out + (<usize>count << 2), <u32>place);
        count++;
      }
    }
  }
  return count;
}

@inline
function members(text: v128, set: v128): v128 {
  const highs = i8x16.swizzle(
    i8x16(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0),
    i8x16.shr_u(text, 4),
  );
  const lows = i8x16.swizzle(set, v128.and(text, i8x16.splat(15)));
  return i8x16.ne(v128.and(lows, highs), i8x16.splat(0));
}

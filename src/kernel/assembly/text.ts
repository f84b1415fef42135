/** Line structure of text. */

/** Newlines in [from, to), 16 bytes at a time. */
export function countNewlines(from: usize, to: usize): u32 {
  const newline = i8x16.splat(10);
  let count: u32 = 0;
  let at = from;
  for (; at + 16 <= to; at += 16) count += popcnt(i8x16.bitmask(i8x16.eq(v128.load(at), newline)));
  for (; at < to; at++) count += <u32>(load<u8>(at) == 10);
  return count;
}

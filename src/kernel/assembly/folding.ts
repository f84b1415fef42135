/**
 * Decodes and folds one code point. `folding` is the address of the table that kernel/folding.ts writes:
 * 1024 block numbers (u8), then blocks of 128 deltas (i32).
 */

const BLOCKS: usize = 1024;

/** Added to a byte that begins no valid code point, so that the result equals no code point. */
const RAW: u32 = 0x110000;

/** The length in bytes of the last decoded code point. It is a global variable, because a function has one result. */
export let decodedLength: usize = 1;

/** Returns the unfolded code point at `at`, and stores its length in decodedLength. REQUIRES: at < limit. */
@inline
export function decode(at: usize, limit: usize): u32 {
  const lead: u32 = load<u8>(at);
  decodedLength = 1;
  if (lead < 0x80) return lead;
  if (lead - 0xc2 < 0x1e && at + 1 < limit) {
    const second: u32 = load<u8>(at, 1) ^ 0x80;
    if (second >= 0x40) return RAW + lead;
    decodedLength = 2;
    return ((lead & 0x1f) << 6) | second;
  }
  if (lead - 0xe0 < 0x10 && at + 2 < limit) {
    const second: u32 = load<u8>(at, 1) ^ 0x80;
    const third: u32 = load<u8>(at, 2) ^ 0x80;
    const value = ((lead & 0xf) << 12) | (second << 6) | third;
    // invalid: malformed continuation bytes, overlong forms, surrogates
    if ((second | third) >= 0x40 || value < 0x800 || value - 0xd800 < 0x800) return RAW + lead;
    decodedLength = 3;
    return value;
  }
  if (lead - 0xf0 < 5 && at + 3 < limit) {
    const second: u32 = load<u8>(at, 1) ^ 0x80;
    const third: u32 = load<u8>(at, 2) ^ 0x80;
    const fourth: u32 = load<u8>(at, 3) ^ 0x80;
    const value = ((lead & 7) << 18) | (second << 12) | (third << 6) | fourth;
    if ((second | third | fourth) >= 0x40 || value - 0x10000 >= 0x100000) return RAW + lead;
    decodedLength = 4;
    return value;
  }
  return RAW + lead;
}

@inline
export function fold(point: u32, folding: usize): u32 {
  if (point >= 0x20000) return point;
  const block: usize = load<u8>(folding + (point >> 7));
  return point + load<u32>(folding + BLOCKS + (((block << 7) | (point & 127)) << 2));
}

/** Returns the folded code point at `at`, and stores its unfolded length in decodedLength. REQUIRES: at < limit. */
@inline
export function decodeFolded(at: usize, limit: usize, folding: usize): u32 {
  return fold(decode(at, limit), folding);
}

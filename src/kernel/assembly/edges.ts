/**
 * Rates how well the ends of a match fit the surrounding words, for ranking. The rating of an end is
 *
 *     2  at an edge of a word, which is an end of the text, or next to a character other than a letter, digit or '_'
 *     1  at a joint within a word, which is next to '_', between a and B in aB, or between a letter and a digit
 *     0  anywhere else
 *
 * The rating of a match is the sum for both ends, from 0 to 4. Bytes beyond ASCII count as letters.
 */

/**
 * Returns the best rating of the matches, or 0 if there are none. The matches are pairs (start, end) at the addresses
 * [pairs, stop). Empty matches are rated 0. The text is at the addresses [lowest, limit).
 */
export function bestEdge(pairs: usize, stop: usize, lowest: usize, limit: usize): u32 {
  let best: u32 = 0;
  for (let pair = pairs; pair < stop && best < 4; pair += 8) {
    const start = <usize>load<u32>(pair);
    const end = <usize>load<u32>(pair, 4);
    if (start == end) continue;
    const edge = edgeBefore(start, lowest) + edgeAfter(end, limit);
    if (edge > best) best = edge;
  }
  return best;
}

@inline
export function edgeBefore(start: usize, lowest: usize): u32 {
  return start == lowest ? 2 : joint(load<u8>(start - 1), load<u8>(start));
}

@inline
export function edgeAfter(end: usize, limit: usize): u32 {
  if (end == limit) return 2;
  const last = load<u8>(end - 1);
  const next = load<u8>(end);
  return isWord(next) ? joint(last, next) : 2;
}

/** Rates the edge of a match between two neighbouring bytes. */
@inline
function joint(left: u32, right: u32): u32 {
  if (!isWord(left) || !isWord(right)) return 2;
  if (left == 95 || right == 95) return 1;
  if (isLower(left) && isUpper(right)) return 1;
  return <u32>(isDigit(left) != isDigit(right));
}

@inline
function isUpper(byte: u32): bool {
  return byte - 65 < 26;
}
@inline
function isLower(byte: u32): bool {
  return byte - 97 < 26;
}
@inline
function isDigit(byte: u32): bool {
  return byte - 48 < 10;
}
@inline
function isWord(byte: u32): bool {
  return isUpper(byte) || isLower(byte) || isDigit(byte) || byte == 95 || byte >= 128;
}

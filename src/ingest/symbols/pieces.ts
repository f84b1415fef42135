/**
 * Cutting a file that a syntax error has torn into pieces that are parsed by themselves: one open
 * bracket can take everything behind it into an ERROR, but not out of its piece.
 */

/** So many at most: a piece costs some 20 µs however short it is. */
const MOST_PIECES = 4096;

/** A line without indentation behind an empty one, but for a closing bracket. */
const BOUNDARY = /\n[ \t\r]*\n(?=[^\s)\]}])/g;

/** Where the pieces begin; the first is 0. */
export function pieceStarts(bytes: Uint8Array): number[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const least = Math.ceil(bytes.length / MOST_PIECES);
  const starts = [0];
  for (const { 0: gap, index } of text.matchAll(BOUNDARY))
    if (index + gap.length - starts.at(-1)! >= least) starts.push(index + gap.length);
  return starts;
}

/**
 * Cuts a file with syntax errors into pieces that are parsed separately. An unclosed bracket can turn
 * everything after it into an ERROR, but only within its piece.
 */

/** The maximum number of pieces. Even a very short piece takes about 20 µs. */
const MOST_PIECES = 4096;

/** Matches an empty line, if the next line is not indented and does not begin with a closing bracket. */
const BOUNDARY = /\n[ \t\r]*\n(?=[^\s)\]}])/g;

/** Returns the starts of the pieces. The first is 0. */
export function pieceStarts(bytes: Uint8Array): number[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const least = Math.ceil(bytes.length / MOST_PIECES);
  const starts = [0];
  for (const { 0: gap, index } of text.matchAll(BOUNDARY))
    if (index + gap.length - starts.at(-1)! >= least) starts.push(index + gap.length);
  return starts;
}

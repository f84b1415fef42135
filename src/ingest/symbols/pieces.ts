/**
 * Cutting a file that a syntax error has torn into pieces that are parsed by themselves: one open
 * bracket can take everything behind it into an ERROR, but not out of its piece.
 */

/** Bytes: a piece is at least so long, so that a file has at most MAX_PIECES. */
const MIN_PIECE = 512;
const MAX_PIECES = 256;

/** A line without indentation that starts with a letter or a sign of an attribute, behind an empty line. */
const BOUNDARY = /\n[ \t\r]*\n(?=[A-Za-z_@#[\u0080-\u00ff])/g;

/** Where the pieces begin; the first is 0. */
export function pieceStarts(bytes: Uint8Array): number[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const least = Math.max(MIN_PIECE, Math.ceil(bytes.length / MAX_PIECES));
  const starts = [0];
  for (const { 0: gap, index } of text.matchAll(BOUNDARY))
    if (index + gap.length - starts.at(-1)! >= least) starts.push(index + gap.length);
  return starts;
}

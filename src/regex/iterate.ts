/**
 * From "the next match" to all matches: leftmost, not overlapping, and no empty match that touches
 * the end of the match before. After an empty match the search goes on behind the character that
 * stands there, or behind the byte if it is no character.
 */

import { characterWidth } from "./utf8.ts";

/** From a byte to before another. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Calls `found` for each match of the text until `next` returns undefined. */
export function eachMatch(
  bytes: Uint8Array,
  text: Span,
  next: (from: number) => Span | undefined,
  found: (match: Span) => void,
): void {
  let lastEnd = -1;
  for (let from = text.start; from <= text.end;) {
    const match = next(from);
    if (!match) return;
    const { start, end } = match;
    if (start < end || start !== lastEnd) found(match);
    lastEnd = end;
    if (end > from) from = end;
    else from += from < text.end ? characterWidth(bytes, from, text.end) : 1;
  }
}

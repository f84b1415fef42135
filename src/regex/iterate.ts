/**
 * Finds all matches in a text with a function that finds the next match. Matches are leftmost and do not overlap, and
 * an empty match may not touch the end of the previous match. After an empty match, the search continues after the
 * next character, or after the next byte if no valid character begins there.
 */

import { characterWidth } from "./utf8.ts";

/** A half-open range of bytes. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Calls `found` for each match of the text until `next` returns undefined. `lastEnd` is the end of the previous match,
 * if there is one.
 */
export function eachMatch(
  bytes: Uint8Array,
  text: Span,
  next: (from: number) => Span | undefined,
  found: (match: Span) => void,
  lastEnd = -1,
): void {
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

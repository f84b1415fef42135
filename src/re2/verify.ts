/**
 * Lets RE2 verify the ranges that are about to be returned. This is the folder's only file that searches use.
 *
 * For each range, RE2 reads a window that ends shortly after the range. The next match that RE2 finds must be this
 * range. If RE2 finds another match, the window may have been too short. So RE2 reads longer windows, if necessary up
 * to the end of the text, before the range counts as wrong. The cost is proportional to the bytes up to the last range
 * plus the number of ranges (4 µs each), not to the product of both.
 *
 * A range is accepted without verification if RE2 would have to read more than its limit at once, or if time is up:
 * RE2 may take half a second to compile a large expression, and minutes to run it.
 */

import type { ExpressionSource } from "../regex/expression.ts";
import { eachMatch, type Span } from "../regex/iterate.ts";
import { newRangeList, pushRange, type RangeList } from "../regex/range-list.ts";
import { characterWidth } from "../regex/utf8.ts";
import { Re2Stopped } from "./module.ts";
import { RE2_INPUT_LIMIT, re2Find, type MustEnd } from "./re2.ts";

const BEHIND = 256; // how many bytes after a range belong to its first window

/**
 * Limits for RE2 on a host's own thread, which RE2 blocks. RE2 takes up to 4 ms to compile an expression of size 64,
 * and up to 290 ms for size 480. Steps are the size times the bytes of a window.
 */
const BRIEF_SIZE = 64;
const BRIEF_STEPS = 64 * 1024;

export interface Verification {
  readonly bytes: Uint8Array;
  /** What was searched: content, a path or a name, or whole lines of content if no match can cross a line end. */
  readonly text: Span;
  /** Ranges relative to the text's start. Those from `first` (default 0) up to `count` (default all) are verified. */
  readonly claimed: RangeList;
  readonly first?: number;
  readonly count?: number;
  readonly isLate?: MustEnd;
  /** Whether RE2 may take only a few milliseconds at a time. Ranges that may take longer are not verified. */
  readonly isBrief?: boolean;
}

/**
 * Compares claimed ranges with those that RE2 finds. Returns undefined if all ranges that were compared in time are the
 * same. Otherwise returns the first `count` ranges that RE2 finds. REQUIRES: RE2 accepts the expression.
 */
export function verifyRanges(
  expression: ExpressionSource,
  verification: Verification,
): RangeList | undefined {
  const { isLate, isBrief = false } = verification;
  if (isLate?.() || (isBrief && (expression.size ?? Infinity) > BRIEF_SIZE)) return undefined;
  try {
    return differingRanges(expression, verification);
  } catch (error) {
    if (error instanceof Re2Stopped) return undefined;
    throw error;
  }
}

function differingRanges(
  expression: ExpressionSource,
  verification: Verification,
): RangeList | undefined {
  const { bytes, text, claimed, first = 0, count = claimed.length, isLate } = verification;
  const limit = verification.isBrief ? BRIEF_STEPS / (expression.size ?? 1) : RE2_INPUT_LIMIT;
  // ranges before the first one were verified earlier
  let lastEnd = first === 0 ? -1 : text.start + claimed.data[2 * first - 1]!;
  let from = first === 0 ? text.start : lastEnd;
  for (let i = first; i < count;) {
    const start = text.start + claimed.data[2 * i]!;
    const end = text.start + claimed.data[2 * i + 1]!;
    const isExpected = (match: Span | undefined) =>
      (match?.start === start && match.end === end) || isTouching(match, lastEnd);
    const match = findInWindows(expression, { bytes, text, from, end, isExpected, isLate, limit });
    if (match === "too far") {
      from = lastEnd = end;
      i++;
      continue;
    }
    if (!match || !isExpected(match)) return re2Ranges(expression, { bytes, text, count, isLate });
    if (!isTouching(match, lastEnd)) i++;
    lastEnd = match.end;
    if (match.end > from) from = match.end;
    else from += from < text.end ? characterWidth(bytes, from, text.end) : 1;
  }
  return undefined;
}

/** Returns whether this is an empty match that touches the previous one. Such a match does not count. */
const isTouching = (match: Span | undefined, lastEnd: number) =>
  match !== undefined && match.start === match.end && match.start === lastEnd;

interface Question {
  readonly bytes: Uint8Array;
  readonly text: Span;
  readonly from: number;
  readonly end: number; // of the expected range
  readonly isExpected: (match: Span | undefined) => boolean;
  readonly isLate: MustEnd;
  /** The maximum number of bytes of a window. */
  readonly limit: number;
}

function findInWindows(
  expression: ExpressionSource,
  { bytes, text, from, end, isExpected, isLate, limit }: Question,
): Span | undefined | "too far" {
  for (let length = Math.max(end - from, 0) + BEHIND; ; length *= 2) {
    const windowEnd = Math.min(from + length, text.end);
    if (windowEnd - from >= limit) return "too far";
    const match = re2Find(expression, bytes, { start: text.start, end: windowEnd }, from, isLate);
    if (isExpected(match) || windowEnd === text.end) return match;
  }
}

interface Whole {
  readonly bytes: Uint8Array;
  readonly text: Span;
  /** The maximum number of ranges to return. Default: all. */
  readonly count?: number;
  readonly isLate?: MustEnd;
}

/**
 * Returns the first `count` ranges that RE2 finds in a text, relative to the text's start. This is slow: for each
 * match, RE2 reads all of the remaining text.
 */
export function re2Ranges(
  expression: ExpressionSource,
  { bytes, text, count = Infinity, isLate }: Whole,
): RangeList {
  const out = newRangeList();
  eachMatch(
    bytes,
    text,
    (from) =>
      out.length < count && text.end - from < RE2_INPUT_LIMIT
        ? re2Find(expression, bytes, text, from, isLate)
        : undefined,
    ({ start, end }) => pushRange(out, start - text.start, end - text.start),
  );
  return out;
}

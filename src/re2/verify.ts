/**
 * Lets RE2 verify the ranges that are about to be returned. Searches call RE2 only through this file.
 *
 * For each range, RE2 reads a window that ends shortly after the range. The next match that RE2 finds must be this
 * range. If RE2 finds another match, the window may have been too short. So RE2 reads longer windows, if necessary up
 * to the end of the text, before the range counts as wrong. The cost is proportional to the bytes up to the last range
 * plus the number of ranges (4 µs each), not to the product of both. If no match can cross the end of a line, RE2 reads
 * only the lines that contain ranges. Reading all lines up to the last range would take 14 to 50 µs for each KiB.
 *
 * A range is accepted without verification if RE2 would have to read more bytes than its limit at once, or if there is
 * no time left. RE2 may take half a second to compile a large expression, and minutes to run it.
 */

import type { ExpressionSource } from "../regex/expression.ts";
import { eachMatch, type Span } from "../regex/iterate.ts";
import { newRangeList, pushRange, type RangeList } from "../regex/range-list.ts";
import { characterWidth } from "../regex/utf8.ts";
import { Re2Stopped } from "./module.ts";
import { RE2_INPUT_LIMIT, re2Find, type MustEnd } from "./re2.ts";

const NEWLINE = 10;
const BEHIND = 256; // the number of bytes after a range that the first window for this range includes

/**
 * The limits for RE2 on the calling thread, which is blocked while RE2 works. RE2 takes up to 4 ms to compile an
 * expression of size 64, and up to 290 ms for size 480. The number of steps is the size of the expression times the
 * number of bytes in a window.
 */
const BRIEF_SIZE = 64;
const BRIEF_STEPS = 64 * 1024;

export interface Verification {
  readonly bytes: Uint8Array;
  /**
   * The text that was searched. This is content, a path, or a name. If no match can cross the end of a line, this may
   * also be some whole lines of content.
   */
  readonly text: Span;
  /**
   * The ranges that the automaton has found, relative to the start of the text. The ranges with the numbers [first,
   * count) are verified. By default, all ranges are verified.
   */
  readonly claimed: RangeList;
  readonly first?: number;
  readonly count?: number;
  readonly isLate?: MustEnd;
  /** Whether RE2 may take only a few milliseconds at a time. Ranges that may take longer are not verified. */
  readonly isBrief?: boolean;
}

/**
 * Compares the claimed ranges with those that RE2 finds. Returns undefined if there is no difference in the ranges that
 * could be compared in time. Otherwise returns the first `count` ranges that RE2 finds.
 * REQUIRES: RE2 accepts the expression.
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
  const { crossesLines = true } = expression;
  const limit = verification.isBrief ? BRIEF_STEPS / (expression.size ?? 1) : RE2_INPUT_LIMIT;
  // ranges before the first one were verified earlier
  let lastEnd = first === 0 ? -1 : text.start + claimed.data[2 * first - 1]!;
  let from = first === 0 ? text.start : lastEnd;
  let line: Span | undefined; // the line that RE2 reads, if it need not read all lines
  const find = (end: number, isExpected: Question["isExpected"]) =>
    findInWindows(expression, { bytes, text: line ?? text, from, end, isExpected, isLate, limit });
  const answer = () => re2Ranges(expression, { bytes, text, count, isLate });
  for (let i = first; i < count;) {
    const start = text.start + claimed.data[2 * i]!;
    const end = text.start + claimed.data[2 * i + 1]!;
    if (!crossesLines && (!line || start >= line.end)) {
      const rest = line && from < line.end ? find(line.end, (match) => !match) : undefined;
      if (rest && rest !== "too far") return answer();
      line = lineAround(bytes, text, [start, end]);
      from = Math.max(from, line.start);
    }
    const isExpected = (match: Span | undefined) =>
      (match?.start === start && match.end === end) || isTouching(match, lastEnd);
    const match = find(end, isExpected);
    if (match === "too far") {
      from = lastEnd = end;
      i++;
      continue;
    }
    if (!match || !isExpected(match)) return answer();
    if (!isTouching(match, lastEnd)) i++;
    lastEnd = match.end;
    if (match.end > from) from = match.end;
    else from += from < text.end ? characterWidth(bytes, from, text.end) : 1;
  }
  return undefined;
}

/** Returns the line that contains a range of the text. */
function lineAround(bytes: Uint8Array, text: Span, [start, end]: readonly [number, number]): Span {
  const before = start > text.start ? bytes.lastIndexOf(NEWLINE, start - 1) : -1;
  const after = bytes.indexOf(NEWLINE, end);
  return {
    start: Math.max(text.start, before + 1),
    end: after < 0 ? text.end : Math.min(text.end, after),
  };
}

/** Returns true if the match is empty and touches the previous match. Such a match does not count. */
const isTouching = (match: Span | undefined, lastEnd: number) =>
  match !== undefined && match.start === match.end && match.start === lastEnd;

interface Question {
  readonly bytes: Uint8Array;
  readonly text: Span;
  readonly from: number;
  readonly end: number; // the end of the expected range
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
  /** The maximum number of ranges to return. By default, all are returned. */
  readonly count?: number;
  readonly isLate?: MustEnd;
}

/**
 * Returns the first `count` ranges that RE2 finds in a text, relative to the text's start. This is slow, because RE2
 * reads all of the remaining text for each match.
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

/**
 * RE2's word on ranges that are about to be returned. Each is asked for in a window that ends a
 * little behind it: RE2 must find just that range next. Where it finds another one the window may have
 * been too short, so it grows, up to the text's end, before the two disagree. So the cost follows the
 * bytes up to the last range and the number of ranges (4 µs each), not their product. A range for which
 * RE2 would have to read more than its limit at once is believed, and so are those that it has not come
 * to when time is up: compiling a large expression takes RE2 half a second, and running it minutes.
 */

import type { Span } from "./re2.ts";
import { RE2_INPUT_LIMIT, re2Find, re2InTime, type Re2Expression } from "./re2.ts";
import { eachMatch } from "./iterate.ts";
import { newRangeList, pushRange, type RangeList } from "./range-list.ts";
import { characterWidth } from "./utf8.ts";

const BEHIND = 256; // bytes of the first window behind a range

export interface Verification {
  readonly bytes: Uint8Array;
  /** The whole text: a file, or any whole lines if the expression does not cross lines. */
  readonly text: Span;
  /** Ranges relative to the text's start; those from `first` (default 0) to before `count` (default all) are asked about. */
  readonly claimed: RangeList;
  readonly first?: number;
  readonly count?: number;
  /** Whether RE2 must end; default: it never must. */
  readonly isLate?: () => boolean;
}

/**
 * undefined if RE2 finds the claimed ranges, in that order and no other between them, as far as there
 * was time; otherwise RE2's ranges, as many as were asked about. REQUIRES: the expression is accepted.
 */
export function verifyRanges(
  expression: Re2Expression,
  verification: Verification,
): RangeList | undefined {
  const { isLate = () => false } = verification;
  const outcome = re2InTime(isLate, () => differingRanges(expression, verification));
  return outcome === "late" ? undefined : outcome;
}

function differingRanges(
  expression: Re2Expression,
  verification: Verification,
): RangeList | undefined {
  const { bytes, text, claimed, first = 0, count = claimed.length } = verification;
  // those before the first are believed
  let lastEnd = first === 0 ? -1 : text.start + claimed.data[2 * first - 1]!;
  let from = first === 0 ? text.start : lastEnd;
  for (let i = first; i < count;) {
    const start = text.start + claimed.data[2 * i]!;
    const end = text.start + claimed.data[2 * i + 1]!;
    const isExpected = (match: Span | undefined) =>
      (match?.start === start && match.end === end) || isTouching(match, lastEnd);
    const match = findInWindows(expression, { bytes, text, from, end, isExpected });
    if (match === "too far") {
      from = lastEnd = end;
      i++;
      continue;
    }
    if (!match || !isExpected(match)) return re2Ranges(expression, bytes, text, count);
    if (!isTouching(match, lastEnd)) i++;
    lastEnd = match.end;
    if (match.end > from) from = match.end;
    else from += from < text.end ? characterWidth(bytes, from, text.end) : 1;
  }
  return undefined;
}

/** An empty match that touches the one before is none. */
const isTouching = (match: Span | undefined, lastEnd: number) =>
  match !== undefined && match.start === match.end && match.start === lastEnd;

interface Question {
  readonly bytes: Uint8Array;
  readonly text: Span;
  readonly from: number;
  readonly end: number; // of the range that is expected
  readonly isExpected: (match: Span | undefined) => boolean;
}

function findInWindows(
  expression: Re2Expression,
  { bytes, text, from, end, isExpected }: Question,
): Span | undefined | "too far" {
  for (let length = Math.max(end - from, 0) + BEHIND; ; length *= 2) {
    const windowEnd = Math.min(from + length, text.end);
    if (windowEnd - from >= RE2_INPUT_LIMIT) return "too far";
    const match = re2Find(expression, bytes, { start: text.start, end: windowEnd }, from);
    if (isExpected(match) || windowEnd === text.end) return match;
  }
}

/** RE2's first `count` ranges of a text, relative to its start. Slow: every match reads all the rest. */
export function re2Ranges(
  expression: Re2Expression,
  bytes: Uint8Array,
  text: Span,
  count = Infinity,
): RangeList {
  const out = newRangeList();
  eachMatch(
    bytes,
    text,
    (from) =>
      out.length < count && text.end - from < RE2_INPUT_LIMIT
        ? re2Find(expression, bytes, text, from)
        : undefined,
    ({ start, end }) => pushRange(out, start - text.start, end - text.start),
  );
  return out;
}

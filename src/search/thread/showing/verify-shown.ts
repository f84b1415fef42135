/**
 * Makes RE2 confirm the ranges of an expression that are about to be returned. If RE2 and the automaton disagree, the
 * ranges of RE2 are returned, and the difference is reported as a bug in quern. RE2 may take at most MOST_MS for a
 * text, and is not called any more once the answer is due. On the calling thread, RE2 must not block the event loop, so
 * it confirms only ranges for which it needs a few milliseconds.
 */

import type { Kernel } from "../../../kernel/kernel.ts";
import type { RangeList } from "../../../regex/range-list.ts";
import type { ExpressionSource } from "../../../regex/expression.ts";
import { verifyRanges } from "../../../re2/verify.ts";
import { pairsOf } from "../scanning/file-ranges.ts";
import type { Found } from "../reading/literal-scanner.ts";

/** The maximum number of milliseconds for the ranges of a text. RE2 confirms 100 000 ranges in 0.4 s. */
const MOST_MS = 1_000;
const BRIEF_MS = 2;

/** How RE2 is called. */
export interface Asking {
  readonly isLate: () => boolean;
  /** Whether RE2 may take only a few milliseconds, because it runs on the calling thread. */
  readonly isBrief: boolean;
  readonly onDisagreement: (message: string) => void;
}

export interface VerifiedText extends Asking {
  readonly kernel: Kernel;
  /** The blob's text is at the addresses [from, to) of the kernel's memory. */
  readonly from: number;
  readonly to: number;
  /** The ranges with the numbers [first, most) may be shown. Only these are confirmed. */
  readonly first: number;
  readonly most: number;
}

/** Returns the matches of an expression in the only visited blob, as confirmed or corrected by RE2. */
export function verified(expression: ExpressionSource, found: Found, text: VerifiedText): Found {
  const count = Math.min(text.most, found.counts[0]!);
  if (count === 0) return found;
  const ranges = verifyRanges(expression, {
    bytes: text.kernel.bytes,
    text: { start: text.from, end: text.to },
    claimed: { length: found.counts[0]!, data: pairsOf(found, 0).slice() },
    first: text.first,
    count,
    isLate: soon(expression, text),
    isBrief: text.isBrief,
  });
  if (!ranges) return found;
  text.onDisagreement(disagreement(expression));
  const pairs = ranges.data.slice(0, 2 * ranges.length);
  return { ...found, counts: Uint32Array.of(ranges.length), starts: new Uint32Array(1), pairs };
}

/** Returns the ranges of an expression in a path or a name, as confirmed or corrected by RE2. */
export function verifiedShort(
  expression: ExpressionSource,
  claim: { readonly bytes: Uint8Array; readonly claimed: RangeList },
  asking: Asking,
): RangeList {
  const { bytes, claimed } = claim;
  const ranges = verifyRanges(expression, {
    bytes,
    text: { start: 0, end: bytes.length },
    claimed,
    isLate: soon(expression, asking),
    isBrief: asking.isBrief,
  });
  if (ranges) asking.onDisagreement(disagreement(expression));
  return ranges ?? claimed;
}

/**
 * The expressions for which RE2 took too long in some text. RE2 no longer confirms their ranges in any text.
 */
const slow = new WeakSet<ExpressionSource>();

/**
 * Returns a function that returns true once RE2 must stop. This also limits the time that RE2 takes in a search without
 * a time-out.
 */
function soon(expression: ExpressionSource, { isLate, isBrief }: Asking): () => boolean {
  const end = performance.now() + (isBrief ? BRIEF_MS : MOST_MS);
  return () => {
    const isOver = performance.now() > end;
    if (isOver && !isBrief) slow.add(expression);
    return isOver || slow.has(expression) || isLate();
  };
}

const disagreement = ({ source }: ExpressionSource): string =>
  `the automaton and RE2 disagree about ${JSON.stringify(source)}: RE2's ranges are shown; please report it`;

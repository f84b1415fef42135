/**
 * RE2 has the last word on every range of an expression that is returned. Where it disagrees with the
 * automaton its answer is taken, and somebody is told: that is a bug of ours. It is asked while there is
 * time: of a text for MOST_MS, and not after the search's own time is up. On a host's own thread only what it answers
 * within a slice is asked.
 */

import type { Kernel } from "../../../kernel/kernel.ts";
import type { RangeList } from "../../../regex/range-list.ts";
import type { ExpressionSource } from "../../../regex/expression.ts";
import { verifyRanges } from "../../../re2/verify.ts";
import { pairsOf } from "../scanning/file-ranges.ts";
import type { Found } from "../reading/literal-scanner.ts";

/** For the ranges of one text: 100 000 take 0.4 s. */
const MOST_MS = 1_000;
const BRIEF_MS = 2;

/** How RE2 is asked. */
export interface Asking {
  readonly isLate: () => boolean;
  /** Whether a host's own thread asks. */
  readonly isBrief: boolean;
  readonly onDisagreement: (message: string) => void;
}

export interface VerifiedText extends Asking {
  readonly kernel: Kernel;
  /** Where the blob stands in the kernel's memory. */
  readonly from: number;
  readonly to: number;
  /** Ranges from `first` to before `most` may be shown. */
  readonly first: number;
  readonly most: number;
}

/** What the expression found in the one blob that was visited, as RE2 sees it. */
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

/** What the expression found in a path or in a name, as RE2 sees it. */
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

/** Expressions that took RE2 more than its time: it is not asked about their other texts. */
const slow = new WeakSet<ExpressionSource>();

/** A search without a time-out has one here. */
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

/**
 * Makes RE2 confirm every returned range of an expression. If RE2 and the automaton disagree, RE2's answer is used and
 * the difference is reported, because it is a bug in quern. RE2 may take MOST_MS per text, and is no longer asked once
 * the search's own time is up. On a host's own thread, RE2 is asked only what it can answer within a slice.
 */

import type { Kernel } from "../../../kernel/kernel.ts";
import type { RangeList } from "../../../regex/range-list.ts";
import type { ExpressionSource } from "../../../regex/expression.ts";
import { verifyRanges } from "../../../re2/verify.ts";
import { pairsOf } from "../scanning/file-ranges.ts";
import type { Found } from "../reading/literal-scanner.ts";

/** The maximum time for the ranges of a text. 100 000 ranges take 0.4 s. */
const MOST_MS = 1_000;
const BRIEF_MS = 2;

/** How RE2 is called. */
export interface Asking {
  readonly isLate: () => boolean;
  /** Whether this is a host's own thread. */
  readonly isBrief: boolean;
  readonly onDisagreement: (message: string) => void;
}

export interface VerifiedText extends Asking {
  readonly kernel: Kernel;
  /** The address of the blob in the kernel's memory. */
  readonly from: number;
  readonly to: number;
  /** The ranges that may be shown, from `first` up to but not including `most`. */
  readonly first: number;
  readonly most: number;
}

/** Returns what the expression found in the only visited blob, after confirmation by RE2. */
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

/** Returns what the expression found in a path or name, after confirmation by RE2. */
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

/** The expressions for which RE2 took too long. RE2 is not asked about their other texts. */
const slow = new WeakSet<ExpressionSource>();

/** Returns the function that tells RE2 to stop. It also limits a search without a time-out. */
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

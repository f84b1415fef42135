/**
 * Represents a set of code points as one flat list of ranges: lo, hi, lo, hi, …. Both ends of a range are inclusive.
 * The ranges are sorted, disjoint and not adjacent. Surrogates are ordinary members, because RE2 matches their three
 * bytes.
 */

import { firstIndex } from "../base/binary-search.ts";
import { foldingCodePoints, orbit } from "../kernel/folding.ts";

export type CodePoints = readonly number[];

export const LAST = 0x10ffff;
export const EVERYTHING: CodePoints = [0, LAST];

export const isSurrogate = (cp: number): boolean => cp >= 0xd800 && cp <= 0xdfff;

/** Returns the set of all code points in the given ranges. The ranges may be in any order and may overlap. */
export function normalize(ranges: CodePoints): CodePoints {
  const pairs: [number, number][] = [];
  for (let i = 0; i < ranges.length; i += 2) pairs.push([ranges[i]!, ranges[i + 1]!]);
  pairs.sort((a, b) => a[0] - b[0]);
  const out: number[] = [];
  for (const [lo, hi] of pairs) {
    const last = out.length - 1;
    if (last > 0 && lo <= out[last]! + 1) out[last] = Math.max(out[last]!, hi);
    else out.push(lo, hi);
  }
  return out;
}

export function negate(set: CodePoints): CodePoints {
  const out: number[] = [];
  let next = 0;
  for (let i = 0; i < set.length; i += 2) {
    if (set[i]! > next) out.push(next, set[i]! - 1);
    next = set[i + 1]! + 1;
  }
  if (next <= LAST) out.push(next, LAST);
  return out;
}

export function union(a: CodePoints, b: CodePoints): CodePoints {
  return normalize([...a, ...b]);
}

/** Returns the set without one code point. */
export const withoutMember = (set: CodePoints, cp: number): CodePoints =>
  negate(union(negate(set), [cp, cp]));

export function includes(set: CodePoints, cp: number): boolean {
  const low = firstIndex(0, set.length >> 1, (range) => set[2 * range + 1]! >= cp);
  return 2 * low < set.length && set[2 * low]! <= cp;
}

let folding: readonly number[] | undefined;

/** Returns the set, extended by every code point that has the same folded form as a member. */
export function closeUnderFolding(set: CodePoints): CodePoints {
  folding ??= foldingCodePoints();
  const inside =
    size(set) < folding.length ? members(set) : folding.filter((cp) => includes(set, cp));
  const added = inside.flatMap((cp) => orbit(cp)).filter((cp) => !includes(set, cp));
  return added.length === 0 ? set : normalize([...set, ...added.flatMap((cp) => [cp, cp])]);
}

/** Returns the number of code points in the set. */
export function size(set: CodePoints): number {
  let count = 0;
  for (let i = 0; i < set.length; i += 2) count += set[i + 1]! - set[i]! + 1;
  return count;
}

/**
 * Returns all members in ascending order. This is meant for small sets, because the result has an element for each
 * member.
 */
export function members(set: CodePoints): number[] {
  const out: number[] = [];
  for (let i = 0; i < set.length; i += 2)
    for (let cp = set[i]!; cp <= set[i + 1]!; cp++) out.push(cp);
  return out;
}

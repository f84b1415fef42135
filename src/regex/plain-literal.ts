/** Recognizes expressions that are plain texts and so need no automaton. */

import { foldCodePoint, orbit } from "../kernel/folding.ts";
import type { Node } from "./ast.ts";
import { isSurrogate } from "./code-points.ts";

export interface PlainLiteral {
  readonly text: string; // not empty; folded if case does not matter
  readonly caseSensitive: boolean;
}

/** A code point that is matched either exactly, or regardless of case. In the second case, `cp` is folded. */
export interface Point {
  readonly cp: number;
  readonly isExact: boolean;
}

/**
 * If an expression is a plain text, returns this text. Returns undefined for any other expression, and if case
 * matters in only a part of the text.
 */
export function plainLiteral(node: Node): PlainLiteral | undefined {
  const parts = node.kind === "concat" ? node.children : [node];
  const points = parts.map(pointOf);
  if (parts.length === 0 || points.some((point) => point === undefined)) return undefined;
  const known = points as readonly Point[];
  const caseSensitive = caseOf(known);
  return caseSensitive === undefined ? undefined : { text: textOf(known), caseSensitive };
}

export const textOf = (points: readonly Point[]): string =>
  String.fromCodePoint(...points.map(({ cp }) => cp));

/** Returns whether case matters. Returns undefined if case matters only for some of the code points. */
export function caseOf(points: readonly Point[]): boolean | undefined {
  // a code point without other case forms counts as exact, but also as one for which case does not matter
  if (points.every(({ isExact }) => isExact)) return true;
  return points.every(({ cp, isExact }) => !isExact || orbit(cp).length === 1) ? false : undefined;
}

/**
 * Returns the only code point that a node matches, either exactly or regardless of case. Returns undefined for any
 * other node. Also returns undefined for a surrogate, because RE2 matches the three bytes of a surrogate, which no
 * encoded JavaScript string contains.
 */
export function pointOf(node: Node): Point | undefined {
  if (node.kind === "char")
    return isSurrogate(node.cp) ? undefined : { cp: node.cp, isExact: true };
  if (node.kind !== "class" || node.members.length === 0) return undefined;
  const members = orbit(node.members[0]!);
  const isOrbit = members.length > 1 && isSame(members, node.members);
  return isOrbit ? { cp: foldCodePoint(members[0]!), isExact: false } : undefined;
}

/** Returns whether ranges (first, last, first, last, …) contain exactly the given ascending code points. */
function isSame(members: readonly number[], ranges: ArrayLike<number>): boolean {
  let next = 0;
  for (let i = 0; i < ranges.length; i += 2)
    for (let cp = ranges[i]!; cp <= ranges[i + 1]!; cp++) if (members[next++] !== cp) return false;
  return next === members.length;
}

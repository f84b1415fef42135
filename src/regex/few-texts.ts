/**
 * Recognizes expressions that match only a few texts, such as fixme|todo or (alloc|free)_pages?. Searching for each
 * text is several times as fast as running an automaton. An expression is not recognized if occurrences of one of its
 * texts can overlap, as those of aba do in ababa.
 */

import type { Node } from "./ast.ts";
import { caseOf, pointOf, textOf, type PlainLiteral, type Point } from "./plain-literal.ts";

/**
 * The maximum number of texts. If there are more texts, the automaton is used, which searches for all of them at
 * once.
 */
const MOST_TEXTS = 8;
/** The maximum number of code points of a text. */
const MOST_POINTS = 128;

type Points = readonly Point[];

/**
 * Returns all texts that an expression matches, or undefined if the expression is more complex. The matches of the
 * expression are the occurrences of all texts, in the order of their positions. If several texts occur at one
 * position, the longest one matches. An occurrence that overlaps the previous match does not count.
 *
 * Also returns undefined if two occurrences of the same text could overlap. A search for a returned text can therefore
 * continue after each occurrence, and misses none. Either all texts match regardless of case and are folded, or case
 * matters in all of them.
 */
export function fewTexts(node: Node): readonly PlainLiteral[] | undefined {
  const all = expand(node);
  if (!all || all.some(({ length }) => length === 0)) return undefined;
  const caseSensitive = caseOf(all.flat());
  if (caseSensitive === undefined) return undefined;
  const kept: string[] = [];
  // a text that begins with a preferred text never matches
  for (const text of all.map(textOf))
    if (!kept.some((preferred) => text.startsWith(preferred))) kept.push(text);
  if (kept.some(canOverlapItself)) return undefined;
  return kept.map((text) => ({ text, caseSensitive }));
}

/** Returns the texts of a node, the preferred ones first. */
function expand(node: Node): readonly Points[] | undefined {
  switch (node.kind) {
    case "empty":
      return [[]];
    case "char":
    case "class": {
      const point = pointOf(node);
      return point && [[point]];
    }
    case "concat":
      return node.children.reduce<readonly Points[] | undefined>(
        (before, child) => before && joined(before, expand(child)),
        [[]],
      );
    case "alternate":
      return union(node.children.map(expand));
    case "repeat": {
      if (node.min !== 0 || node.max !== 1 || node.last) return undefined;
      const child = expand(node.child);
      return child && union(node.greedy ? [child, [[]]] : [[[]], child]);
    }
    case "byte":
    case "assert":
      return undefined;
  }
}

function joined(
  before: readonly Points[],
  after: readonly Points[] | undefined,
): readonly Points[] | undefined {
  if (!after || before.length * after.length > MOST_TEXTS) return undefined;
  const all = before.flatMap((start) => after.map((end) => [...start, ...end]));
  return all.some(({ length }) => length > MOST_POINTS) ? undefined : all;
}

function union(parts: readonly (readonly Points[] | undefined)[]): readonly Points[] | undefined {
  const all: Points[] = [];
  for (const part of parts) {
    if (!part || all.length + part.length > MOST_TEXTS) return undefined;
    all.push(...part);
  }
  return all;
}

/**
 * Returns whether two occurrences of the text may overlap, as those of aba do in ababa. This is the case if the text
 * begins and ends with the same shorter text.
 */
function canOverlapItself(text: string): boolean {
  for (let length = 1; length < text.length; length++)
    if (text.endsWith(text.slice(0, length))) return true;
  return false;
}

/**
 * Prepares a regular expression over content or names for one thread, with its matcher and its required literals. Also
 * finds the pages and blobs of a segment that may contain a match.
 */

import { emptyBitset, intersect, unite, type Bitset } from "../../../base/bitset.ts";
import type { Arena } from "../../../kernel/arena.ts";
import { foldText } from "../../../kernel/folding.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import { compileExpression, type Expression } from "../../../regex/expression.ts";
import { createMatcher, type Matcher } from "../../../regex/matcher.ts";
import { requiredClasses, tripleTables } from "../../../regex/required-classes.ts";
import { fewTexts } from "../../../regex/few-texts.ts";
import type { Formula } from "../../../regex/required.ts";
import type { ExpressionAtom } from "../../messages/plan.ts";
import { prepareLiteral, type Literal } from "../reading/literal.ts";
import { placeLiteral, type PlacedLiteral } from "../reading/literal-scanner.ts";
import { pagesWith, type Lookup } from "./candidates.ts";
import { blobsOf } from "./pages.ts";

/**
 * An expression that was prepared in one thread. Its tables and literals are in the kernel's memory.
 * REQUIRES: while the expression is used, no earlier mark of the arena is released.
 */
export interface PlacedExpression {
  readonly expression: Expression;
  readonly matcher: Matcher;
  /** The required literals, whose grams are looked up in each segment. */
  readonly literals: readonly Literal[];
  readonly required: GramFormula;
  /**
   * The address of the tables for a triple. Every match contains the triple, which is three neighbouring bytes of
   * certain classes. Undefined if no triple is worth searching for, or if matches can cross lines.
   */
  readonly triple: number | undefined;
  /**
   * All texts that the expression matches, if they are few; see fewTexts(). If there are required literals, each text
   * begins with one of them. So every match begins on a page on which a required literal may begin.
   */
  readonly texts: readonly PlacedLiteral[] | undefined;
}

/** A formula over required literals. The formula is true for every text with a match. */
type GramFormula =
  | { readonly kind: "any" }
  | { readonly kind: "none" }
  | { readonly kind: "literal"; readonly placed: PlacedLiteral }
  | { readonly kind: "and" | "or"; readonly children: readonly GramFormula[] };

/** The parts of a segment in which an expression may match. */
export interface ExpressionReach {
  /**
   * The pages whose lines may contain a match. No other line contains one. Undefined if matches can cross lines, or if
   * there may be a match on any page.
   */
  readonly pages: Bitset | undefined;
  /**
   * A few literals. Every match contains at least one of them. Undefined if no such literals are known, or too many.
   */
  readonly anchors: readonly PlacedLiteral[] | undefined;
}

export interface ExpressionCandidates extends ExpressionReach {
  readonly blobs: Bitset | undefined;
  readonly listBytes: number;
}

/** The maximum number of literals that are searched for one after another. */
const MOST_ANCHORS = 4;

export function placeExpression(
  { pattern, caseSensitive }: Omit<ExpressionAtom, "kind">,
  kernel: Kernel,
  arena: Arena,
): PlacedExpression {
  const expression = compileExpression(pattern, { caseSensitive });
  const matcher = createMatcher(kernel, expression);
  const required = withGrams(expression.required, arena);
  const triple = requiredClasses(expression.syntax);
  const literals = literalsOf(required);
  return {
    expression,
    matcher,
    required,
    literals,
    triple: triple && !expression.crossesLines ? arena.put(tripleTables(triple)) : undefined,
    texts: textsOf(expression, literals)?.map((text) => placeLiteral(text, arena)),
  };
}

function textsOf({ syntax }: Expression, required: readonly Literal[]): Literal[] | undefined {
  const texts = fewTexts(syntax)?.map((text) => prepareLiteral({ kind: "literal", ...text }));
  const isReached = (text: Literal) => required.some((literal) => beginsWith(text, literal));
  return required.length === 0 || texts?.every(isReached) ? texts : undefined;
}

/** Returns true if every match of `text` begins with a match of `literal`. */
const beginsWith = (text: Literal, literal: Literal): boolean =>
  literal.caseSensitive
    ? text.caseSensitive && text.text.startsWith(literal.text)
    : foldText(text.text).startsWith(literal.text);

/** Returns true if the automaton must run over all text, because there is nothing to search for first. */
export const readsAll = ({ literals, triple, texts }: PlacedExpression): boolean =>
  literals.length === 0 && triple === undefined && !texts;

/**
 * Finds the parts of a segment in which an expression may match. All grams of one literal must be on the same page.
 * Different literals must be in the same blob, but may be on different pages.
 */
export function expressionCandidates(
  { expression, required }: PlacedExpression,
  lookup: Lookup,
): ExpressionCandidates {
  let listBytes = 0;
  const candidatesFor = (formula: GramFormula): Reach => {
    switch (formula.kind) {
      case "any":
        return { blobs: undefined, pages: undefined, anchors: undefined };
      case "none":
        return {
          blobs: emptyBitset(lookup.reader.header.blobs),
          pages: emptyBitset(lookup.reader.header.pages),
          anchors: [],
        };
      case "literal": {
        const { pages, listBytes: bytes } = pagesWith(formula.placed.literal.grams, lookup);
        listBytes += bytes;
        return { blobs: pages && blobsOf(pages, lookup.reader), pages, anchors: [formula.placed] };
      }
      case "and":
        return inAll(formula.children.map(candidatesFor), lookup);
      case "or":
        return inAny(formula.children.map(candidatesFor));
    }
  };
  const { blobs, pages, anchors } = candidatesFor(required);
  return expression.crossesLines
    ? { blobs, pages: undefined, anchors: undefined, listBytes }
    : { blobs, pages, anchors, listBytes };
}

/**
 * The parts of a segment in which a formula may be true. For each match, `pages` contains a page on which one of the
 * match's literals begins. If `blobs` or `pages` is undefined, the formula may be true in any blob or on any page.
 */
interface Reach {
  readonly blobs: Bitset | undefined;
  readonly pages: Bitset | undefined;
  /** The literals by which `pages` was found. Every match contains at least one of them. */
  readonly anchors: readonly PlacedLiteral[] | undefined;
}

/**
 * Combines formulas that must all be true. A blob is a candidate only if each formula may be true in it. To find the
 * pages, one formula is enough. The formula with the fewest pages in scope is used.
 */
function inAll(reaches: readonly Reach[], { countInScope }: Lookup): Reach {
  const known = reaches.filter(({ pages }) => pages !== undefined);
  const rarest = known.toSorted((a, b) => countInScope(a.pages!) - countInScope(b.pages!))[0];
  const blobs = reaches.flatMap((reach) => reach.blobs ?? []);
  return {
    blobs: blobs.length === 0 ? undefined : blobs.reduce(intersect),
    pages: rarest?.pages,
    anchors: rarest?.anchors,
  };
}

function inAny(reaches: readonly Reach[]): Reach {
  const all = <T>(of: (reach: Reach) => T | undefined): T[] | undefined => {
    const known = reaches.map(of).filter((one) => one !== undefined);
    return known.length === reaches.length ? known : undefined;
  };
  const anchors = all((reach) => reach.anchors)?.flat();
  return {
    blobs: all(({ blobs }) => blobs)?.reduce(unite),
    pages: all(({ pages }) => pages)?.reduce(unite),
    anchors: anchors && anchors.length <= MOST_ANCHORS ? anchors : undefined,
  };
}

function withGrams(formula: Formula, arena: Arena): GramFormula {
  switch (formula.kind) {
    case "any":
    case "none":
      return formula;
    case "literal": {
      const literal = prepareLiteral({
        kind: "literal",
        text: formula.text,
        caseSensitive: !formula.fold,
      });
      return literal.grams.length === 0
        ? { kind: "any" }
        : { kind: "literal", placed: placeLiteral(literal, arena) };
    }
    case "and":
    case "or":
      return {
        kind: formula.kind,
        children: formula.children.map((child) => withGrams(child, arena)),
      };
  }
}

function literalsOf(formula: GramFormula): Literal[] {
  if (formula.kind === "literal") return [formula.placed.literal];
  return formula.kind === "and" || formula.kind === "or"
    ? formula.children.flatMap(literalsOf)
    : [];
}

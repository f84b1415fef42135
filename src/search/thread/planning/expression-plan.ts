/**
 * Prepares a regular expression over content or names in one thread: its matcher and its required literals. Finds the
 * pages and blobs of a segment in which a match may be.
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

/** An expression in one thread. REQUIRES: no earlier mark of the arena is released while it is used. */
export interface PlacedExpression {
  readonly expression: Expression;
  readonly matcher: Matcher;
  /** The required literals, whose grams are looked up in each segment. */
  readonly literals: readonly Literal[];
  readonly required: GramFormula;
  /** The address of the tables of a triple that every match contains. Undefined if no triple is worth searching for. */
  readonly triple: number | undefined;
  /**
   * All texts that the expression matches, if they are few; see fewTexts(). If there are required literals, each text
   * begins with one of them. So it begins on a page of that literal.
   */
  readonly texts: readonly PlacedLiteral[] | undefined;
}

/** The required literals with their grams. */
type GramFormula =
  | { readonly kind: "any" }
  | { readonly kind: "none" }
  | { readonly kind: "literal"; readonly placed: PlacedLiteral }
  | { readonly kind: "and" | "or"; readonly children: readonly GramFormula[] };

/** Where an expression may match in a segment. */
export interface ExpressionReach {
  /**
   * The only pages whose lines can contain a match. Undefined if matches can cross lines, or if any page can contain
   * one.
   */
  readonly pages: Bitset | undefined;
  /** Some literals. Every match contains at least one of them. Undefined if there are none to search for. */
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

/** Whether every match of `text` begins with `literal`. */
const beginsWith = (text: Literal, literal: Literal): boolean =>
  literal.caseSensitive
    ? text.caseSensitive && text.text.startsWith(literal.text)
    : foldText(text.text).startsWith(literal.text);

/** Whether the automaton must run over all text. */
export const readsAll = ({ literals, triple, texts }: PlacedExpression): boolean =>
  literals.length === 0 && triple === undefined && !texts;

/**
 * Finds where an expression may match in a segment. The grams of one literal are intersected page by page, but
 * different literals blob by blob.
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
 * Where a formula may be true. For each match, `pages` contains a page on which one of the match's literals begins.
 * Undefined means everywhere.
 */
interface Reach {
  readonly blobs: Bitset | undefined;
  readonly pages: Bitset | undefined;
  /** The literals that `pages` were found for. Every match contains one of them. */
  readonly anchors: readonly PlacedLiteral[] | undefined;
}

/**
 * Combines literals that are all required: a blob must contain every one. To find the place of a match, the literal
 * that is rarest in scope is enough.
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

/** A regular expression over content: which blobs may hold a match, and where the matches are. */

import { countBits, emptyBitset, intersect, unite, type Bitset } from "../base/bitset.ts";
import type { Arena } from "../kernel/arena.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { compileExpression } from "../regex/expression.ts";
import { createMatcher, type Matcher } from "../regex/matcher.ts";
import { newRangeList, type RangeList } from "../regex/range-list.ts";
import type { Formula } from "../regex/required.ts";
import { pagesWith, type Lookup } from "./candidates.ts";
import { prepareLiteral, type Literal } from "./literal.ts";
import type { ContentExpression } from "./plan.ts";
import { regionsOf } from "./line-regions.ts";
import { blobsOf } from "./pages.ts";
import { noneFound, type Found } from "./scan.ts";
import type { Window } from "./window.ts";

/** The required literals, with their grams. */
type GramFormula =
  | { readonly kind: "any" }
  | { readonly kind: "none" }
  | { readonly kind: "literal"; readonly literal: Literal }
  | { readonly kind: "and"; readonly children: readonly GramFormula[] }
  | { readonly kind: "or"; readonly children: readonly GramFormula[] };

export interface ExpressionCandidates {
  readonly blobs: Bitset | undefined;
  /** Of an expression whose matches each lie in one line: pages whose lines hold every match. */
  readonly pages: Bitset | undefined;
  readonly listBytes: number;
}

export class ContentScanner {
  readonly matcher: Matcher;
  /** Those whose grams are looked up in each segment. */
  readonly literals: readonly Literal[];
  readonly #required: GramFormula;
  readonly #isLineBound: boolean;
  readonly #kernel: Kernel;
  readonly #arena: Arena;
  readonly #ranges: RangeList = newRangeList();

  constructor(expression: ContentExpression, kernel: Kernel, arena: Arena) {
    const { pattern, caseSensitive } = expression;
    const compiled = compileExpression(pattern, { caseSensitive });
    this.matcher = createMatcher(kernel, compiled);
    this.#required = withGrams(compiled.required);
    this.#isLineBound = !compiled.crossesLines;
    this.literals = literalsOf(this.#required);
    this.#kernel = kernel;
    this.#arena = arena;
  }

  /** Only the grams of one literal are intersected page by page; literals are combined blob by blob. */
  candidates(lookup: Lookup): ExpressionCandidates {
    let listBytes = 0;
    const candidatesFor = (formula: GramFormula): Reach => {
      switch (formula.kind) {
        case "any":
          return { blobs: undefined, pages: undefined };
        case "none":
          return {
            blobs: emptyBitset(lookup.reader.header.blobs),
            pages: emptyBitset(lookup.reader.header.pages),
          };
        case "literal": {
          const { pages, listBytes: bytes } = pagesWith(formula.literal.grams, lookup);
          listBytes += bytes;
          return { blobs: pages && blobsOf(pages, lookup.reader), pages };
        }
        case "and":
          return inAll(formula.children.map(candidatesFor));
        case "or":
          return inAny(formula.children.map(candidatesFor));
      }
    };
    const { blobs, pages } = candidatesFor(this.#required);
    return { blobs, pages: this.#isLineBound ? pages : undefined, listBytes };
  }

  /** Scans whole lines around the candidate pages, or whole blobs without them. */
  scan(
    ...[window, blobs, pages, isStopped]: [
      Window,
      readonly number[],
      Bitset | undefined,
      () => boolean,
    ]
  ): Found {
    const found = noneFound(blobs.length);
    const out = this.#ranges;
    out.length = 0;
    for (let index = 0; index < blobs.length; index++) {
      const blob = blobs[index]!;
      const lowest = window.address(blob);
      const limit = lowest + window.length(blob);
      const before = out.length;
      for (const [from, to] of regionsOf(window, blob, pages)) {
        const first = out.length;
        this.matcher.ranges(from, to, out, isStopped);
        shift(out, first, from - lowest);
      }
      found.starts[index] = before;
      found.counts[index] = out.length - before;
      if (out.length > before) found.edges[index] = this.#edge(lowest, limit, before);
    }
    found.pairs = out.data.slice(0, 2 * out.length);
    return found;
  }

  /** The best edge of the ranges from `first` on. */
  #edge(lowest: number, limit: number, first: number): number {
    const ranges = this.#ranges.data.subarray(2 * first, 2 * this.#ranges.length);
    const mark = this.#arena.mark();
    const at = this.#arena.take(ranges.byteLength);
    const { words } = this.#kernel;
    for (let i = 0; i < ranges.length; i++) words[(at >>> 2) + i] = ranges[i]! + lowest;
    const edge = this.#kernel.run.bestEdge(at, at + ranges.byteLength, lowest, limit);
    this.#arena.release(mark);
    return edge;
  }
}

/** Moves ranges, counted from a region's beginning, to their places in the blob. */
function shift({ data, length }: RangeList, first: number, by: number): void {
  if (by === 0) return;
  for (let i = 2 * first; i < 2 * length; i++) data[i]! += by;
}

/** Where a formula may hold: `pages` holds, for each match, one that a literal of it begins in; undefined is everywhere. */
interface Reach {
  readonly blobs: Bitset | undefined;
  readonly pages: Bitset | undefined;
}

/** Every literal must be in the blob; for the place of a match the rarest one says enough. */
function inAll(reaches: readonly Reach[]): Reach {
  const known = reaches.filter(({ pages }) => pages !== undefined);
  const rarest = known.toSorted((a, b) => countBits(a.pages!) - countBits(b.pages!))[0];
  const blobs = reaches.flatMap((reach) => reach.blobs ?? []);
  return { blobs: blobs.length === 0 ? undefined : blobs.reduce(intersect), pages: rarest?.pages };
}

function inAny(reaches: readonly Reach[]): Reach {
  const all = <T>(of: (reach: Reach) => T | undefined): T[] | undefined => {
    const known = reaches.flatMap((reach) => of(reach) ?? []);
    return known.length === reaches.length ? known : undefined;
  };
  return {
    blobs: all(({ blobs }) => blobs)?.reduce(unite),
    pages: all(({ pages }) => pages)?.reduce(unite),
  };
}

function withGrams(formula: Formula): GramFormula {
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
      return literal.grams.length === 0 ? { kind: "any" } : { kind: "literal", literal };
    }
    case "and":
    case "or":
      return { kind: formula.kind, children: formula.children.map(withGrams) };
  }
}

function literalsOf(formula: GramFormula): Literal[] {
  if (formula.kind === "literal") return [formula.literal];
  return formula.kind === "and" || formula.kind === "or"
    ? formula.children.flatMap(literalsOf)
    : [];
}

/** A regular expression over content: which blobs may hold a match, and where the matches are. */

import { emptyBitset, intersect, unite, type Bitset } from "../base/bitset.ts";
import type { Arena } from "../kernel/arena.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { compileExpression } from "../regex/expression.ts";
import { createMatcher, type Matcher } from "../regex/matcher.ts";
import { newRangeList, type RangeList } from "../regex/range-list.ts";
import type { Formula } from "../regex/required.ts";
import { pagesWith, type Lookup } from "./candidates.ts";
import { prepareLiteral, type Literal } from "./literal.ts";
import type { ContentExpression } from "./plan.ts";
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
  readonly pages: undefined;
  readonly listBytes: number;
}

export class ContentScanner {
  readonly matcher: Matcher;
  /** Those whose grams are looked up in each segment. */
  readonly literals: readonly Literal[];
  readonly #required: GramFormula;
  readonly #kernel: Kernel;
  readonly #arena: Arena;
  readonly #ranges: RangeList = newRangeList();

  constructor(expression: ContentExpression, kernel: Kernel, arena: Arena) {
    const { pattern, caseSensitive } = expression;
    const compiled = compileExpression(pattern, { caseSensitive });
    this.matcher = createMatcher(kernel, compiled);
    this.#required = withGrams(compiled.required);
    this.literals = literalsOf(this.#required);
    this.#kernel = kernel;
    this.#arena = arena;
  }

  /** Only the grams of one literal are intersected page by page; literals are combined blob by blob. */
  candidates(lookup: Lookup): ExpressionCandidates {
    let listBytes = 0;
    const blobsFor = (formula: GramFormula): Bitset | undefined => {
      switch (formula.kind) {
        case "any":
          return undefined;
        case "none":
          return emptyBitset(lookup.reader.header.blobs);
        case "literal": {
          const found = pagesWith(formula.literal.grams, lookup);
          listBytes += found.listBytes;
          return found.pages && blobsOf(found.pages, lookup.reader);
        }
        case "and":
        case "or":
          return combine(formula.kind, formula.children.map(blobsFor));
      }
    };
    const blobs = blobsFor(this.#required);
    return { blobs, pages: undefined, listBytes };
  }

  scan(window: Window, blobs: readonly number[], isStopped: () => boolean): Found {
    const found = noneFound(blobs.length);
    const pairs: number[] = [];
    blobs.forEach((blob, index) => {
      const { firstPages } = window.reader;
      window.load(blob, firstPages[blob]!, firstPages[blob + 1]!, 0);
      const from = window.address(blob);
      const to = from + window.length(blob);
      this.#ranges.length = 0;
      const count = this.matcher.ranges(from, to, this.#ranges, isStopped);
      found.starts[index] = pairs.length / 2;
      found.counts[index] = count;
      const { data } = this.#ranges;
      for (let i = 0; i < 2 * count; i++) pairs.push(data[i]!);
      found.edges[index] = count === 0 ? 0 : this.#edge(from, to, data.subarray(0, 2 * count));
    });
    found.pairs = Uint32Array.from(pairs);
    return found;
  }

  #edge(from: number, to: number, ranges: Uint32Array): number {
    const mark = this.#arena.mark();
    const at = this.#arena.take(ranges.byteLength);
    const { words } = this.#kernel;
    for (let i = 0; i < ranges.length; i++) words[(at >>> 2) + i] = ranges[i]! + from;
    const edge = this.#kernel.run.bestEdge(at, at + ranges.byteLength, from, to);
    this.#arena.release(mark);
    return edge;
  }
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

/** undefined stands for every blob. */
function combine(kind: "and" | "or", sets: readonly (Bitset | undefined)[]): Bitset | undefined {
  const known = sets.filter((set) => set !== undefined);
  if (kind === "or" && known.length < sets.length) return undefined;
  const [first, ...rest] = known;
  if (!first) return undefined;
  for (const set of rest) (kind === "and" ? intersect : unite)(first, set);
  return first;
}

/** A regular expression over content: which blobs may hold a match, and where the matches are. */

import { countBits, emptyBitset, intersect, unite, type Bitset } from "../base/bitset.ts";
import type { Arena } from "../kernel/arena.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { compileExpression, type Expression } from "../regex/expression.ts";
import { createMatcher, type Matcher } from "../regex/matcher.ts";
import { newRangeList, type RangeList } from "../regex/range-list.ts";
import type { Formula } from "../regex/required.ts";
import { pagesWith, type Lookup } from "./candidates.ts";
import { prepareLiteral, type Literal } from "./literal.ts";
import type { ContentExpression } from "./plan.ts";
import { linesAround, regionsOf, type Stretch } from "./line-regions.ts";
import { blobsOf } from "./pages.ts";
import {
  foldsIn,
  noneFound,
  placeLiteral,
  type Found,
  type LiteralScanner,
  type PlacedLiteral,
  type Region,
} from "./scan.ts";
import type { SharedLines } from "./shared-lines.ts";
import type { Window } from "./window.ts";

/** The required literals, with their grams. */
type GramFormula =
  | { readonly kind: "any" }
  | { readonly kind: "none" }
  | { readonly kind: "literal"; readonly placed: PlacedLiteral }
  | { readonly kind: "and"; readonly children: readonly GramFormula[] }
  | { readonly kind: "or"; readonly children: readonly GramFormula[] };

/** Where in a segment an expression may match. */
export interface ExpressionReach {
  /** Of an expression whose matches each lie in one line: pages whose lines hold every match. */
  readonly pages: Bitset | undefined;
  /** Literals of which every match holds one; undefined: none that can be looked for instead. */
  readonly anchors: readonly PlacedLiteral[] | undefined;
  /** Of an expression that shares a pass with others. */
  readonly shared?: SharedLines | undefined;
  /** Matches in a blob after which the rest of it need not be read; default: none. */
  readonly most?: number | undefined;
}

export interface ExpressionCandidates extends ExpressionReach {
  readonly blobs: Bitset | undefined;
  readonly listBytes: number;
}

/** What a scan needs of its thread. */
export interface ScanTools {
  readonly kernel: Kernel;
  readonly arena: Arena;
  readonly literals: LiteralScanner;
  readonly isStopped: () => boolean;
}

/** More than so many literals are not looked for one after another. */
const MOST_ANCHORS = 4;
/** With an anchor in every so many bytes running over everything is as fast. */
const DENSE_BYTES = 1024;

export class ContentScanner {
  readonly expression: Expression;
  readonly matcher: Matcher;
  /** Those whose grams are looked up in each segment. */
  readonly literals: readonly Literal[];
  readonly #required: GramFormula;
  readonly #isLineBound: boolean;
  readonly #kernel: Kernel;
  readonly #arena: Arena;
  readonly #ranges: RangeList = newRangeList();

  constructor(expression: Omit<ContentExpression, "kind">, kernel: Kernel, arena: Arena) {
    const { pattern, caseSensitive } = expression;
    const compiled = compileExpression(pattern, { caseSensitive });
    this.expression = compiled;
    this.matcher = createMatcher(kernel, compiled);
    this.#required = withGrams(compiled.required, arena);
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
          return {
            blobs: pages && blobsOf(pages, lookup.reader),
            pages,
            anchors: [formula.placed],
          };
        }
        case "and":
          return inAll(formula.children.map(candidatesFor));
        case "or":
          return inAny(formula.children.map(candidatesFor));
      }
    };
    const { blobs, pages, anchors } = candidatesFor(this.#required);
    return this.#isLineBound
      ? { blobs, pages, anchors, listBytes }
      : { blobs, pages: undefined, anchors: undefined, listBytes };
  }

  /** Scans whole lines around the candidate pages, or whole blobs without them. */
  scan(
    ...[window, blobs, reach, tools]: [Window, readonly number[], ExpressionReach, ScanTools]
  ): Found {
    const found = noneFound(blobs.length);
    const { most = Infinity } = reach;
    const out = this.#ranges;
    out.length = 0;
    const regions = blobs.map(
      (blob) => reach.shared?.of(blob) ?? regionsOf(window, blob, reach.pages),
    );
    const places = reach.anchors && placesOf(reach.anchors, { window, blobs, regions }, tools);
    let next = 0;
    for (let index = 0; index < blobs.length; index++) {
      const lowest = window.address(blobs[index]!);
      const limit = lowest + window.length(blobs[index]!);
      const first = next;
      if (places) while (next < places.length && places[next]! < limit) next++;
      const before = out.length;
      const isFull = () => out.length - before >= most;
      const isEnough = () => isFull() || tools.isStopped();
      const own = places?.subarray(first, next);
      for (const [from, to] of this.#worthRunning(regions[index]!, own, tools)) {
        const start = out.length;
        this.matcher.ranges(from, to, out, isEnough);
        shift(out, start, from - lowest);
        if (this.matcher.stopped || isFull()) break; // the clock is for long runs: it takes as long as a line
      }
      found.starts[index] = before;
      found.counts[index] = out.length - before;
      if (out.length > before) found.edges[index] = this.#edge(lowest, limit, before);
    }
    found.pairs = out.data.slice(0, 2 * out.length);
    return found;
  }

  /**
   * Where anchors are few, only the lines that hold one: looking for literals is five to ten times as
   * fast as running the automaton, and a run costs about as much as 1 KiB of it.
   */
  #worthRunning(
    ...[regions, places, tools]: [readonly Stretch[], Uint32Array | undefined, ScanTools]
  ): readonly Stretch[] {
    if (!places) return regions;
    if (places.length === 0) return [];
    const bytes = regions.reduce((sum, [from, to]) => sum + to - from, 0);
    if (places.length * DENSE_BYTES > bytes) return regions;
    return regions.flatMap((region) => {
      const [from, to] = region;
      const own = places.filter((place) => place >= from && place < to);
      return own.length === 0 ? [] : linesAround(tools, region, own);
    });
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

/** Where the anchors begin in regions of a window's blobs, ascending: one scan for each of them. */
export function placesOf(
  anchors: readonly PlacedLiteral[],
  at: {
    readonly window: Window;
    readonly blobs: readonly number[];
    readonly regions: readonly (readonly Stretch[])[];
  },
  { literals }: ScanTools,
): Uint32Array {
  const plain: Region[] = [];
  const folding: Region[] = [];
  at.blobs.forEach((blob, index) => {
    const into = foldsIn(at.window.reader, blob) ? folding : plain;
    const lowest = at.window.address(blob);
    for (const [from, to] of at.regions[index]!) into.push({ from, to, lowest });
  });
  const lists = anchors.flatMap((anchor) => [
    literals.places(anchor, plain, false),
    literals.places(anchor, folding, !anchor.literal.caseSensitive),
  ]);
  return inOrder(lists.filter(({ length }) => length > 0));
}

function inOrder(lists: readonly Uint32Array[]): Uint32Array {
  if (lists.length === 1) return lists[0]!;
  const all = new Uint32Array(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all.sort();
}

/** Where a formula may hold: `pages` holds, for each match, one that a literal of it begins in; undefined is everywhere. */
interface Reach {
  readonly blobs: Bitset | undefined;
  readonly pages: Bitset | undefined;
  /** The literals whose pages they are: every match holds one of them. */
  readonly anchors: readonly PlacedLiteral[] | undefined;
}

/** Every literal must be in the blob; for the place of a match the rarest one says enough. */
function inAll(reaches: readonly Reach[]): Reach {
  const known = reaches.filter(({ pages }) => pages !== undefined);
  const rarest = known.toSorted((a, b) => countBits(a.pages!) - countBits(b.pages!))[0];
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

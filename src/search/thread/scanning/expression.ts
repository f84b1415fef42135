/** A regular expression over content: which blobs may hold a match, and where the matches are. */

import { emptyBitset, intersect, unite, type Bitset } from "../../../base/bitset.ts";
import { bytesOf } from "../../../base/growable.ts";
import type { Arena } from "../../../kernel/arena.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import { compileExpression, type Expression } from "../../../regex/expression.ts";
import { createMatcher, type Matcher } from "../../../regex/matcher.ts";
import { newRangeList, shiftRanges, type RangeList } from "../../../regex/range-list.ts";
import { requiredClasses, tripleTables } from "../../../regex/required-classes.ts";
import type { Formula } from "../../../regex/required.ts";
import { pagesWith, type Lookup } from "../planning/candidates.ts";
import { prepareLiteral, type Literal } from "../planning/literal.ts";
import type { ExpressionAtom } from "../../messages/plan.ts";
import { regionsOf, type Stretch } from "./line-regions.ts";
import { blobsOf } from "../planning/pages.ts";
import {
  bestEdge,
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

interface ScannedBlobs {
  readonly window: Window;
  readonly blobs: readonly number[];
  /** Of each blob, loaded: addresses, ascending, apart. */
  readonly regions: readonly (readonly Stretch[])[];
  readonly found: Found;
}

/** More than so many literals are not looked for one after another. */
const MOST_ANCHORS = 4;
/** With an anchor in every so many bytes running over everything is as fast: looking for literals is five to ten times as fast as running the automaton. */
const DENSE_BYTES = 1024;
/** Triples that lie closer than this, on average of a window, are in most lines. */
const LEAST_APART = 64;

export class ContentScanner {
  readonly expression: Expression;
  readonly matcher: Matcher;
  /** Those whose grams are looked up in each segment. */
  readonly literals: readonly Literal[];
  readonly #required: GramFormula;
  readonly #isLineBound: boolean;
  /** Address of the tables of a triple that every match holds; undefined: none is worth looking for. */
  readonly #triple: number | undefined;
  readonly #kernel: Kernel;
  readonly #arena: Arena;
  readonly #ranges: RangeList = newRangeList();

  constructor(expression: Omit<ExpressionAtom, "kind">, kernel: Kernel, arena: Arena) {
    const { pattern, caseSensitive } = expression;
    const compiled = compileExpression(pattern, { caseSensitive });
    this.expression = compiled;
    this.matcher = createMatcher(kernel, compiled);
    this.#required = withGrams(compiled.required, arena);
    this.#isLineBound = !compiled.crossesLines;
    this.literals = literalsOf(this.#required);
    const triple = requiredClasses(compiled.syntax);
    if (triple && this.#isLineBound) this.#triple = arena.put(tripleTables(triple));
    this.#kernel = kernel;
    this.#arena = arena;
  }

  /** Whether the automaton must run over everything. */
  get readsAll(): boolean {
    return this.literals.length === 0 && this.#triple === undefined;
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
          return inAll(formula.children.map(candidatesFor), lookup);
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
  scan(window: Window, blobs: readonly number[], reach: ExpressionReach, tools: ScanTools): Found {
    const found = noneFound(blobs.length);
    const regions = blobs.map(
      (blob) => reach.shared?.of(blob) ?? regionsOf(window, blob, reach.pages),
    );
    const scan = { window, blobs, regions, found };
    this.#ranges.length = 0;
    if (this.expression.matchesEmpty) this.#runOnEach(scan, reach.most ?? Infinity, tools);
    else this.#runOnAll(scan, reach, tools);
    found.pairs = this.#ranges.data.slice(0, 2 * this.#ranges.length);
    return found;
  }

  /** All texts in one run, then to each blob what is its own. Where what a match must hold is rare, only the lines that hold it are run. */
  #runOnAll(scan: ScannedBlobs, reach: ExpressionReach, tools: ScanTools): void {
    const { anchors, shared } = reach;
    const { window, blobs, regions, found } = scan;
    // of each blob: in a run over several the first one's would end it for the others
    const most = blobs.length === 1 ? (reach.most ?? Infinity) : Infinity;
    const out = this.#ranges;
    const mark = this.#arena.mark();
    const all = this.#arena.put(bytesOf(Uint32Array.from(regions.flat(2))));
    const count = regions.reduce((sum, { length }) => sum + length, 0);
    const places = anchors
      ? placesOf(anchors, scan, tools)
      : shared
        ? undefined
        : this.#placesOfTriple(all, count, regions);
    const [table, texts] = places ? this.#textsWith(places, all, count) : [all, count];
    this.matcher.rangesOfTexts(table, texts, out, () => out.length >= most || tools.isStopped());
    this.#arena.release(mark);
    let next = 0;
    for (let index = 0; index < blobs.length && next < out.length; index++) {
      const lowest = window.address(blobs[index]!);
      const limit = lowest + window.length(blobs[index]!);
      const first = next;
      for (; next < out.length && out.data[2 * next]! < limit; next++) {
        out.data[2 * next]! -= lowest;
        out.data[2 * next + 1]! -= lowest;
      }
      this.#count(found, index, { first, end: next, lowest, limit });
    }
  }

  /** Where a triple begins that every match holds; undefined: there are too many of them. */
  #placesOfTriple(
    texts: number,
    count: number,
    regions: ScannedBlobs["regions"],
  ): Uint32Array | undefined {
    if (this.#triple === undefined) return undefined;
    const bytes = regions.flat().reduce((sum, [from, to]) => sum + to - from, 0);
    const room = Math.ceil(bytes / LEAST_APART);
    const mark = this.#arena.mark();
    const out = this.#arena.take(4 * room);
    const found = this.#kernel.run.scanTriples(texts, count, this.#triple, out, room);
    const places = this.#kernel.words.slice(out >>> 2, (out >>> 2) + Math.max(found, 0));
    this.#arena.release(mark);
    return found < 0 ? undefined : places;
  }

  /** The texts of a table of `count` that hold one of the places, as a table. */
  #textsWith(places: Uint32Array, all: number, count: number): [table: number, texts: number] {
    const list = this.#arena.put(bytesOf(places));
    const table = this.#arena.take(8 * (places.length + count));
    const texts = this.#kernel.run.stretchesWith(
      all,
      count,
      list,
      places.length,
      DENSE_BYTES,
      table,
    );
    return [table, texts];
  }

  /** An empty match at the end of a blob has the address of the next blob's beginning: each blob by itself. */
  #runOnEach(
    { window, blobs, regions, found }: ScannedBlobs,
    most: number,
    tools: ScanTools,
  ): void {
    const out = this.#ranges;
    for (let index = 0; index < blobs.length; index++) {
      const lowest = window.address(blobs[index]!);
      const limit = lowest + window.length(blobs[index]!);
      const first = out.length;
      const isFull = () => out.length - first >= most;
      for (const [from, to] of regions[index]!) {
        const before = out.length;
        this.matcher.ranges(from, to, out, () => isFull() || tools.isStopped());
        shiftRanges(out, before, from - lowest);
        if (this.matcher.stopped || isFull()) break; // the clock is for long runs: it takes as long as a line
      }
      this.#count(found, index, { first, end: out.length, lowest, limit });
    }
  }

  /** Ranges [first, end) are those of a blob at [lowest, limit). */
  #count(
    found: Found,
    index: number,
    { first, end, lowest, limit }: { first: number; end: number; lowest: number; limit: number },
  ): void {
    found.starts[index] = first;
    found.counts[index] = end - first;
    const tools = { kernel: this.#kernel, arena: this.#arena };
    const ranges = this.#ranges.data.subarray(2 * first, 2 * end);
    found.edges[index] = bestEdge(ranges, [lowest, limit], tools);
  }
}

/** Where the anchors begin in regions of a window's blobs, ascending: one scan for each of them. */
export function placesOf(
  anchors: readonly PlacedLiteral[],
  at: Omit<ScannedBlobs, "found">,
  { literals }: ScanTools,
): Uint32Array {
  const regions = at.blobs.flatMap((blob, index) => {
    const lowest = at.window.address(blob);
    const folds = foldsIn(at.window.reader, blob);
    return at.regions[index]!.map(([from, to]) => ({ from, to, lowest, folds }));
  });
  const lists = anchors.flatMap((anchor) => {
    const [plain, folded]: [Region[], Region[]] = [[], []];
    for (const region of regions)
      (region.folds && literals.mustFold(anchor.literal, region) ? folded : plain).push(region);
    return [literals.places(anchor, plain, false), literals.places(anchor, folded, true)];
  });
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

/** Every literal must be in the blob; for the place of a match the one that is rarest in scope says enough. */
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

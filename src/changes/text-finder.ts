/**
 * Finds the ranges of a pattern in texts of a history segment. A text consists of *units*, which are lines or messages.
 * Each unit ends with a newline that does not belong to it, and counts as a text of its own.
 */

import { emptyBitset, forEachBit, fullBitset, hasBit, unite, type Bitset } from "../base/bitset.ts";
import { GrowableWords } from "../base/growable.ts";
import { FOLDING_TABLE_BYTES, writeFoldingTable } from "../kernel/folding.ts";
import { Arena } from "../kernel/arena.ts";
import { createKernel, type Kernel } from "../kernel/kernel.ts";
import { compileExpression, lineExpression, type Expression } from "../regex/expression.ts";
import { createMatcher, type Matcher } from "../regex/matcher.ts";
import { newRangeList } from "../regex/range-list.ts";
import type { Formula } from "../regex/required.ts";
import { pagesWith, type Lookup } from "../search/thread/planning/candidates.ts";
import { prepareLiteral, type Literal } from "../search/thread/reading/literal.ts";
import { placeLiteral, type PlacedLiteral } from "../search/thread/reading/literal-scanner.ts";
import type { Snapshot } from "../store/lmdb/environment.ts";
import type { SegmentReader } from "../store/segments/segment-reader.ts";
import type { TextPattern } from "./plan.ts";

/** The number of bytes that are scanned between two checks of the clock. */
const PIECE_BYTES = 2 ** 20;
const RUN_WORDS = 6;

/** The memory in which a thread searches histories. */
export class FinderTools {
  readonly kernel: Kernel = createKernel();
  readonly arena = new Arena(this.kernel);
  readonly folding = this.kernel.reserve(FOLDING_TABLE_BYTES);

  constructor() {
    writeFoldingTable(this.kernel.bytes, this.folding);
  }
}

/** Units of a segment's text. `starts` has where each begins, and the end of the last. */
export interface UnitText {
  readonly starts: Uint32Array;
  /** Whether the units are single lines. */
  readonly isLines: boolean;
}

/** The units with matches, in ascending order, and the number of ranges in each. */
export interface UnitHits {
  readonly units: Uint32Array;
  readonly counts: Uint32Array;
}

export interface Scanning {
  readonly reader: SegmentReader;
  readonly snapshot: Snapshot;
  readonly isStopped: () => boolean;
  readonly pause: () => Promise<void> | undefined;
}

export interface ScanCounters {
  contentBytes: number;
  grams: number;
  pages: number;
}

/** Finds the ranges of one pattern. REQUIRES: while it is used, no earlier mark of the arena is released. */
export class TextFinder {
  readonly #tools: FinderTools;
  readonly #literal: PlacedLiteral | undefined;
  /** Undefined for a literal, or if the expression matches nothing. */
  readonly #expression: Expression | undefined;
  readonly #matcher: Matcher | undefined;
  readonly #isLines: boolean;

  constructor(
    { pattern, isExpression, caseSensitive }: TextPattern,
    isLines: boolean,
    tools: FinderTools,
  ) {
    this.#tools = tools;
    this.#isLines = isLines;
    if (!isExpression) {
      const literal = prepareLiteral({ kind: "literal", text: pattern, caseSensitive });
      this.#literal = placeLiteral(literal, tools.arena);
      return;
    }
    const compile = isLines ? lineExpression : compileExpression;
    this.#expression = compile(pattern, { caseSensitive });
    this.#matcher = this.#expression && createMatcher(tools.kernel, this.#expression);
  }

  /** Returns all units with matches. Resolves to undefined if the search was stopped. */
  async scan(
    { starts }: UnitText,
    scanning: Scanning,
    counters: ScanCounters,
  ): Promise<UnitHits | undefined> {
    const [units, counts] = [new GrowableWords(), new GrowableWords()];
    const found = { units, counts };
    if (starts.length < 2 || (!this.#literal && !this.#expression))
      return { units: units.view, counts: counts.view };
    const pages = this.#candidates(scanning, counters);
    for (const [first, end] of unitsOfPages(pages, starts, scanning.reader)) {
      if (scanning.isStopped()) return undefined;
      const { kernel, arena } = this.#tools;
      const mark = arena.mark();
      const [from, to] = [starts[first]!, starts[end]!];
      const at = arena.take(to - from);
      scanning.reader.copyText(scanning.snapshot, from, to, kernel.bytes, at);
      counters.contentBytes += to - from;
      const isFolded = foldsBetween(scanning.reader, from, to);
      const own = starts.subarray(first, end + 1);
      const pairs = this.ranges({ at, starts: own, isFolded });
      addHits(found, pairs, own, first);
      arena.release(mark);
      const wait = scanning.pause();
      if (wait) await wait;
    }
    return { units: units.view, counts: counts.view };
  }

  /**
   * Returns the ranges in a text that is at an address of the kernel's memory, as pairs of offsets in the segment's
   * text. The ranges are in order. The units of the text begin at `starts`, and the first of them is at the address.
   */
  ranges({
    at,
    starts,
    isFolded,
  }: {
    readonly at: number;
    readonly starts: Uint32Array;
    readonly isFolded: boolean;
  }): Uint32Array {
    return this.#literal
      ? this.#literalRanges(this.#literal, { at, starts, isFolded })
      : this.#expressionRanges(at, starts);
  }

  #literalRanges(
    placed: PlacedLiteral,
    { at, starts, isFolded }: { at: number; starts: Uint32Array; isFolded: boolean },
  ): Uint32Array {
    const { kernel, arena, folding } = this.#tools;
    const { literal, bytes, masks, points, leads } = placed;
    const origin = starts[0]!;
    const length = starts.at(-1)! - origin;
    // a literal without newlines cannot cross the end of a unit
    const isWhole = !literal.text.includes("\n");
    const runs = isWhole ? 1 : starts.length - 1;
    const mark = arena.mark();
    const table = arena.take(4 * RUN_WORDS * runs);
    for (let run = 0; run < runs; run++) {
      const from = isWhole ? at : at + starts[run]! - origin;
      const to = isWhole ? at + length : at + starts[run + 1]! - 1 - origin;
      kernel.words.set([from, to, to, from, 0, 0], (table >>> 2) + RUN_WORDS * run);
    }
    const most = runs + Math.floor(length / literal.shortest);
    const out = arena.take(8 * most);
    const { run } = kernel;
    const [first, second] = literal.rarest;
    const total = isFolded
      ? run.scanFolded(table, runs, points, literal.points.length, leads, folding, 0, out)
      : run.scanLiteral(table, runs, bytes, masks, literal.length, first, second, 0, out);
    const pairs = kernel.words.slice(out >>> 2, (out >>> 2) + 2 * total);
    arena.release(mark);
    for (let i = 0; i < pairs.length; i++) pairs[i]! += origin - at;
    return pairs;
  }

  #expressionRanges(at: number, starts: Uint32Array): Uint32Array {
    const matcher = this.#matcher;
    if (!matcher) return new Uint32Array(0);
    const origin = starts[0]!;
    const end = starts.at(-1)!;
    const list = newRangeList();
    if (this.#isLines || !this.#expression!.crossesLines) {
      matcher.ranges(at, at + end - origin, list);
      // behind the last newline there is no unit
      while (list.length > 0 && list.data[2 * list.length - 2] === end - origin) list.length--;
      const pairs = list.data.slice(0, 2 * list.length);
      for (let i = 0; i < pairs.length; i++) pairs[i]! += origin;
      return pairs;
    }
    const pairs = new GrowableWords();
    for (let unit = 0; unit + 1 < starts.length; unit++) {
      list.length = 0;
      const [from, to] = [starts[unit]!, starts[unit + 1]! - 1];
      matcher.ranges(at + from - origin, at + to - origin, list);
      pairs.pushAll(list.data, from, 0, 2 * list.length);
    }
    return pairs.view;
  }

  /** Returns the pages of units that may contain a match. */
  #candidates({ reader, snapshot, isStopped, pause }: Scanning, counters: ScanCounters): Bitset {
    const { kernel, arena } = this.#tools;
    const { pages: count } = reader.header;
    const lookup: Lookup = {
      reader,
      snapshot,
      kernel,
      arena,
      countInScope: () => 0,
      isStopped,
      pause,
    };
    const pagesOf = (literal: Literal): Bitset | undefined => {
      counters.grams += literal.grams.length;
      return pagesWith(literal.grams, lookup).pages;
    };
    const found = this.#literal
      ? pagesOf(this.#literal.literal)
      : this.#pagesOfFormula(this.#expression!.required, { pagesOf, count, reader });
    const pages = found ?? fullBitset(count);
    counters.pages += countOf(pages);
    return pages;
  }

  /**
   * Returns pages such that every unit with a match has a part on one of them, or undefined if all pages may have one.
   * A conjunction uses its rarest operand, because its literals may be on different pages of a unit.
   */
  #pagesOfFormula(
    formula: Formula,
    {
      pagesOf,
      count,
      reader,
    }: {
      readonly pagesOf: (literal: Literal) => Bitset | undefined;
      readonly count: number;
      readonly reader: SegmentReader;
    },
  ): Bitset | undefined {
    const how = { pagesOf, count, reader };
    switch (formula.kind) {
      case "any":
        return undefined;
      case "none":
        return emptyBitset(count);
      case "literal": {
        const { text, fold } = formula;
        const literal = prepareLiteral({ kind: "literal", text, caseSensitive: !fold });
        return pagesOf(literal);
      }
      case "and": {
        const all = formula.children.flatMap((child) => this.#pagesOfFormula(child, how) ?? []);
        return all.sort((a, b) => countOf(a) - countOf(b))[0];
      }
      case "or": {
        const all = formula.children.map((child) => this.#pagesOfFormula(child, how));
        if (all.some((one) => one === undefined)) return undefined;
        return all.reduce((a, b) => unite(a!.slice(), b!));
      }
    }
  }
}

function countOf(pages: Bitset): number {
  let count = 0;
  forEachBit(pages, () => count++);
  return count;
}

/** Yields ranges of units [first, end) that have a part on one of the pages. Each range has about PIECE_BYTES. */
function* unitsOfPages(
  pages: Bitset,
  starts: Uint32Array,
  { firstPages, blobStarts, pageBytes, header }: SegmentReader,
): Generator<readonly [first: number, end: number]> {
  const textEnd = starts.at(-1)!;
  let blob = 0;
  /** Returns the offset in the text at which a page begins. */
  const startOf = (page: number): number => {
    while (firstPages[blob + 1]! <= page && blob + 1 < header.blobs) blob++;
    if (firstPages[blob]! > page) blob = 0;
    while (firstPages[blob + 1]! <= page && blob + 1 < header.blobs) blob++;
    return blobStarts[blob]! + (page - firstPages[blob]!) * pageBytes;
  };
  let next = 0; // the first unit that was not yielded
  for (let page = 0; page < header.pages; page++) {
    if (!hasBit(pages, page)) continue;
    const from = startOf(page);
    let end = page + 1;
    while (end < header.pages && hasBit(pages, end)) end++;
    const to = end < header.pages ? startOf(end) : header.textBytes;
    page = end;
    if (to <= starts[0]!) continue;
    if (from >= textEnd) return;
    const first = Math.max(next, unitAt(starts, Math.max(from, starts[0]!)));
    next = Math.max(next, unitAt(starts, Math.min(to, textEnd) - 1) + 1);
    for (let unit = first; unit < next;) {
      const stop = Math.max(
        unit + 1,
        Math.min(next, unitAt(starts, Math.min(starts[unit]! + PIECE_BYTES, textEnd - 1))),
      );
      yield [unit, stop];
      unit = stop;
    }
  }
}

/** Returns the unit that has the byte at an offset. REQUIRES: starts[0] <= offset < starts.at(-1). */
export function unitAt(starts: Uint32Array, offset: number, from = 0): number {
  let [low, high] = [from, starts.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle;
  }
  return low;
}

/** Counts the ranges of each unit. `first` is the number of the first unit. */
function addHits(
  { units, counts }: { readonly units: GrowableWords; readonly counts: GrowableWords },
  pairs: Uint32Array,
  starts: Uint32Array,
  first: number,
): void {
  let unit = 0;
  for (let i = 0; i < pairs.length;) {
    // looks at the next units first, because hits are often close together
    let step = 1;
    while (unit + step < starts.length - 1 && starts[unit + step]! <= pairs[i]!) {
      unit += step;
      step *= 2;
    }
    unit = unitIn(starts, pairs[i]!, unit, Math.min(unit + step, starts.length - 1));
    const end = starts[unit + 1]!;
    const begin = i;
    while (i < pairs.length && pairs[i]! < end) i += 2;
    units.push(first + unit);
    counts.push((i - begin) / 2);
  }
}

function unitIn(starts: Uint32Array, offset: number, from: number, to: number): number {
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle;
  }
  return low;
}

/** Returns whether folding changes a code point beyond ASCII in a part of the text. */
export function foldsBetween(reader: SegmentReader, from: number, to: number): boolean {
  const { folds, firstPages, blobStarts, pageBytes } = reader;
  for (let blob = unitAt(blobStarts, from); blob < reader.header.blobs; blob++) {
    const start = blobStarts[blob]!;
    if (start >= to) return false;
    const first = firstPages[blob]! + Math.floor(Math.max(0, from - start) / pageBytes);
    const last = Math.min(
      firstPages[blob + 1]! - 1,
      firstPages[blob]! + Math.floor((to - 1 - start) / pageBytes),
    );
    for (let page = first; page <= last; page++) if (hasBit(folds, page)) return true;
  }
  return false;
}

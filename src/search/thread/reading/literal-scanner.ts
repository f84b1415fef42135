/** Scans a window for one literal: builds the kernel's table of runs, and reads the results blob by blob. */

import { hasBit, type Bitset } from "../../../base/bitset.ts";
import type { Arena } from "../../../kernel/arena.ts";
import { FOLDING_TABLE_BYTES, writeFoldingTable } from "../../../kernel/folding.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import { PAGE_BYTES } from "../../../store/format/format.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import type { Literal } from "./literal.ts";
import type { Window } from "./window.ts";

const RUN_WORDS = 6;

/** A literal in the kernel's memory. It is valid as long as the arena's mark is not released. */
export interface PlacedLiteral {
  readonly literal: Literal;
  readonly bytes: number;
  readonly masks: number;
  readonly points: number;
  readonly leads: number;
}

export function placeLiteral(literal: Literal, arena: Arena): PlacedLiteral {
  return {
    literal,
    bytes: arena.put(literal.bytes),
    masks: arena.put(literal.masks),
    points: arena.put(new Uint8Array(literal.points.buffer)),
    leads: arena.put(literal.leads),
  };
}

/** A range of a blob's text, in addresses. */
export interface Region {
  readonly from: number;
  readonly to: number;
  /** The start of its blob. */
  readonly lowest: number;
}

/** What an atom found in the blobs of a window. `index` counts the visited blobs. */
export interface Found {
  /** The number of matches in each blob. */
  readonly counts: Uint32Array;
  /** The best edge of the matches in each blob, 0 to 4. */
  readonly edges: Uint8Array;
  /** The index in `pairs` at which a blob's pairs begin, counted in pairs. */
  readonly starts: Uint32Array;
  /** (start, end) of every match, relative to the start of its blob. */
  pairs: Uint32Array;
  /** How well the matches fit the blob's definitions, 0 to 3. Undefined if not requested. */
  definitions?: Uint8Array;
}

export const noneFound = (blobs: number): Found => ({
  counts: new Uint32Array(blobs),
  edges: new Uint8Array(blobs),
  starts: new Uint32Array(blobs),
  pairs: new Uint32Array(0),
});

/** Returns the best edge of some ranges in a blob whose text is at [lowest, limit). */
export function bestEdge(
  ranges: Uint32Array,
  [lowest, limit]: readonly [lowest: number, limit: number],
  { kernel, arena }: { readonly kernel: Kernel; readonly arena: Arena },
): number {
  if (ranges.length === 0) return 0;
  const mark = arena.mark();
  const at = arena.take(ranges.byteLength);
  const { words } = kernel;
  for (let i = 0; i < ranges.length; i++) words[(at >>> 2) + i] = ranges[i]! + lowest;
  const edge = kernel.run.bestEdge(at, at + ranges.byteLength, lowest, limit);
  arena.release(mark);
  return edge;
}

export class LiteralScanner {
  readonly #kernel: Kernel;
  readonly #arena: Arena;
  readonly #folding: number;

  constructor(kernel: Kernel, arena: Arena) {
    this.#kernel = kernel;
    this.#arena = arena;
    this.#folding = kernel.reserve(FOLDING_TABLE_BYTES);
    writeFoldingTable(kernel.bytes, this.#folding);
  }

  /**
   * Scans the candidate pages of the given ascending blobs, or all their pages if `pages` is undefined. Pairs are
   * read only if `wantsPairs` is set.
   */
  scan(
    window: Window,
    blobs: readonly number[],
    placed: PlacedLiteral,
    pages: Bitset | undefined,
    wantsPairs: boolean,
  ): Found {
    const found = noneFound(blobs.length);
    const { plain, folded } = this.#runsOf(window, blobs, [placed.literal], pages);
    this.#run(plain, window, { placed, isFolded: false, wantsPairs }, found, blobs);
    this.#run(folded, window, { placed, isFolded: true, wantsPairs }, found, blobs);
    return found;
  }

  /**
   * Scans the same pages for several literals, and returns the ranges of each as ascending addresses. Each literal
   * has two lists: ranges in text that needs no folding, and ranges in text that does.
   */
  rangesOfEach(
    window: Window,
    blobs: readonly number[],
    texts: readonly PlacedLiteral[],
    pages: Bitset | undefined,
  ): Uint32Array[] {
    const literals = texts.map(({ literal }) => literal);
    const { plain, folded } = this.#runsOf(window, blobs, literals, pages);
    return texts.flatMap((placed) => [
      this.#rangesIn(plain, placed, false),
      this.#rangesIn(folded, placed, true),
    ]);
  }

  /** Loads the pages, and separates those in which some literal must be folded from the others. */
  #runsOf(
    window: Window,
    blobs: readonly number[],
    literals: readonly Literal[],
    pages: Bitset | undefined,
  ): { readonly plain: Runs; readonly folded: Runs } {
    const plain = new Runs();
    const folded = new Runs();
    const longest = Math.max(...literals.map((literal) => literal.longest));
    blobs.forEach((blob, index) => {
      const where = { blob, index, pages, longest };
      if (!foldsIn(window.reader, blob)) return addRuns(plain, window, where);
      const own = new Runs();
      addRuns(own, window, where);
      const isFolded = own
        .stretches(longest)
        .some((one) => literals.some((literal) => this.mustFold(literal, one)));
      (isFolded ? folded : plain).append(own);
    });
    return { plain, folded };
  }

  /**
   * Whether the literal must be searched code point by code point, at a tenth of the speed. This may be needed in
   * text in which folding changes code points beyond ASCII: never for `return`, and for `task` only if U+212A or
   * U+017F occurs.
   */
  mustFold({ caseSensitive, partners }: Literal, { from, to }: Omit<Region, "lowest">): boolean {
    if (caseSensitive) return false;
    if (!partners) return true;
    const text = Buffer.from(this.#kernel.bytes.buffer, from, to - from);
    return partners.some((partner) => text.includes(partner));
  }

  /** Returns the ascending addresses at which the literal begins in regions of loaded blobs. */
  places(placed: PlacedLiteral, regions: readonly Region[], isFolded: boolean): Uint32Array {
    const runs = new Runs();
    for (const { from, to, lowest } of regions) runs.add(0, from, to, to, lowest);
    const ranges = this.#rangesIn(runs, placed, isFolded);
    const places = new Uint32Array(ranges.length / 2);
    for (let i = 0; i < places.length; i++) places[i] = ranges[2 * i]!;
    return places;
  }

  #rangesIn(runs: Runs, placed: PlacedLiteral, isFolded: boolean): Uint32Array {
    if (runs.count === 0) return new Uint32Array(0);
    const mark = this.#arena.mark();
    const table = this.#arena.take(4 * RUN_WORDS * runs.count);
    const out = this.#arena.take(
      8 * (runs.count + Math.floor(runs.bytes / placed.literal.shortest)),
    );
    this.#kernel.words.set(runs.words, table >>> 2);
    const total = this.#scan(placed, isFolded, { table, count: runs.count, out });
    const ranges = this.#kernel.words.slice(out >>> 2, (out >>> 2) + 2 * total);
    this.#arena.release(mark);
    return ranges;
  }

  #run(
    runs: Runs,
    window: Window,
    how: {
      readonly placed: PlacedLiteral;
      readonly isFolded: boolean;
      readonly wantsPairs: boolean;
    },
    found: Found,
    blobs: readonly number[],
  ): void {
    if (runs.count === 0) return;
    const mark = this.#arena.mark();
    const table = this.#arena.take(4 * RUN_WORDS * runs.count);
    const most = runs.count + Math.floor(runs.bytes / how.placed.literal.shortest);
    const out = this.#arena.take(8 * most);
    this.#kernel.words.set(runs.words, table >>> 2);
    const total = this.#scan(how.placed, how.isFolded, { table, count: runs.count, out });
    this.#readBack(runs, table, found);
    if (how.wantsPairs)
      appendPairs(found, this.#kernel.words, { out, total, runs, window, blobs, table });
    this.#arena.release(mark);
  }

  #scan(
    placed: PlacedLiteral,
    isFolded: boolean,
    { table, count, out }: { table: number; count: number; out: number },
  ): number {
    const { run } = this.#kernel;
    const { literal, bytes, masks, points, leads } = placed;
    if (isFolded)
      return run.scanFolded(table, count, points, literal.points.length, leads, this.#folding, out);
    const [first, second] = literal.rarest;
    return run.scanLiteral(table, count, bytes, masks, literal.length, first, second, out);
  }

  #readBack(runs: Runs, table: number, found: Found): void {
    const { words } = this.#kernel;
    for (let i = 0, at = table >>> 2; i < runs.count; i++, at += RUN_WORDS) {
      const index = runs.indexes[i]!;
      found.counts[index]! += words[at + 4]!;
      found.edges[index] = Math.max(found.edges[index]!, words[at + 5]!);
    }
  }
}

/** The table of runs that is being built: six words per run, and the visited blob that it belongs to. */
class Runs {
  readonly words: number[] = [];
  readonly indexes: number[] = [];
  bytes = 0;

  get count(): number {
    return this.indexes.length;
  }

  add(index: number, from: number, starts: number, limit: number, lowest: number): void {
    this.words.push(from, starts, limit, lowest, 0, 0);
    this.indexes.push(index);
    this.bytes += starts - from;
  }

  append({ words, indexes, bytes }: Runs): void {
    for (const word of words) this.words.push(word);
    for (const index of indexes) this.indexes.push(index);
    this.bytes += bytes;
  }

  /** Returns the regions that matches of at most this length can touch. */
  stretches(longest: number): Omit<Region, "lowest">[] {
    return this.indexes.map((_, i) => {
      const at = RUN_WORDS * i;
      const [from, starts, limit] = this.words.slice(at, at + 3) as [number, number, number];
      return { from, to: Math.min(limit, starts + longest) };
    });
  }
}

function addRuns(
  runs: Runs,
  window: Window,
  {
    blob,
    index,
    pages,
    longest,
  }: { blob: number; index: number; pages: Bitset | undefined; longest: number },
): void {
  const { firstPages } = window.reader;
  const [first, end] = [firstPages[blob]!, firstPages[blob + 1]!];
  const address = window.address(blob);
  const limit = address + window.length(blob);
  for (let page = first; page < end;) {
    if (pages && !hasBit(pages, page)) {
      page++;
      continue;
    }
    const from = page;
    do page++;
    while (page < end && (!pages || hasBit(pages, page)));
    window.load(blob, from, page, longest);
    const start = address + (from - first) * PAGE_BYTES;
    const stop = Math.min(limit, address + (page - first) * PAGE_BYTES);
    runs.add(index, start, stop, limit, address);
  }
}

/** Whether some page of the blob must be folded code point by code point. */
export function foldsIn({ firstPages, folds }: SegmentReader, blob: number): boolean {
  for (let page = firstPages[blob]!; page < firstPages[blob + 1]!; page++)
    if (hasBit(folds, page)) return true;
  return false;
}

/** Converts addresses to offsets in their blobs. Runs are in ascending order, so the pairs of a blob are contiguous. */
function appendPairs(
  found: Found,
  words: Uint32Array,
  at: {
    readonly out: number;
    readonly total: number;
    readonly runs: Runs;
    readonly window: Window;
    readonly blobs: readonly number[];
    readonly table: number;
  },
): void {
  const before = found.pairs.length;
  const pairs = new Uint32Array(before + 2 * at.total);
  pairs.set(found.pairs);
  let to = before;
  let from = at.out >>> 2;
  let last = -1;
  for (let i = 0; i < at.runs.count; i++) {
    const index = at.runs.indexes[i]!;
    if (index !== last) found.starts[index] = to / 2;
    last = index;
    const address = at.window.address(at.blobs[index]!);
    const count = words[(at.table >>> 2) + i * RUN_WORDS + 4]!;
    for (let word = 0; word < 2 * count; word++) pairs[to++] = words[from++]! - address;
  }
  found.pairs = pairs;
}

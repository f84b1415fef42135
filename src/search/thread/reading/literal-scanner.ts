/**
 * Scans a window for one literal. The scanner builds a table of runs, which are the ranges of text that the kernel
 * scans. It then reads the kernel's results blob by blob. The kernel scans one piece of the text at a time, because a
 * file may have a match at every byte. Finding two million matches takes 20 ms.
 */

import { hasBit, type Bitset } from "../../../base/bitset.ts";
import { GrowableWords } from "../../../base/growable.ts";
import type { Pause } from "../../../base/yield.ts";
import type { Arena } from "../../../kernel/arena.ts";
import { FOLDING_TABLE_BYTES, writeFoldingTable } from "../../../kernel/folding.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import type { Literal } from "./literal.ts";
import type { Window } from "./window.ts";

const RUN_WORDS = 6;
/** The number of runs for which a table has room at first. */
const FIRST_RUNS = 256;
/**
 * The number of bytes that are scanned between two checks of the clock. If a match begins at every byte, scanning them
 * takes 3 ms.
 */
const PIECE_BYTES = 2 ** 18;

/**
 * The functions that a scan calls between two pieces. A scan that is stopped returns the matches that it has found so
 * far.
 */
export interface Between {
  readonly isStopped: () => boolean;
  readonly pause: Pause;
}

/**
 * A literal and the addresses of its parts in the kernel's memory. The addresses are valid until the arena releases an
 * earlier mark.
 */
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

/** A range of a blob's text, as addresses in the kernel's memory. */
export interface Region {
  readonly from: number;
  readonly to: number;
  /** The address at which the blob's text starts. */
  readonly lowest: number;
}

/**
 * The matches of an atom in the blobs of a window. All arrays except `pairs` have one element for each visited blob.
 */
export interface Found {
  /** The number of matches in each blob. */
  readonly counts: Uint32Array;
  /** The best edge rating of the matches in each blob, from 0 to 4 (kernel/assembly/edges.ts). */
  readonly edges: Uint8Array;
  /** The index of each blob's first pair in `pairs`, counted in pairs. */
  readonly starts: Uint32Array;
  /** The pair (start, end) of every match, as offsets from the start of its blob. */
  pairs: Uint32Array;
  /**
   * How well the matches in each blob fit the names of definitions, from 0 to 3. Undefined if this was not requested.
   */
  definitions?: Uint8Array;
}

export const noneFound = (blobs: number): Found => ({
  counts: new Uint32Array(blobs),
  edges: new Uint8Array(blobs),
  starts: new Uint32Array(blobs),
  pairs: new Uint32Array(0),
});

/**
 * Returns the best edge rating of the given ranges in a blob, or 0 if there are no ranges. The text of the blob is at
 * the addresses [lowest, limit).
 */
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
  readonly #pieceBytes: number;
  // the runs of the current scan
  readonly #plain: Runs;
  readonly #folded: Runs;
  readonly #own: Runs;

  constructor(kernel: Kernel, arena: Arena, pieceBytes = PIECE_BYTES) {
    this.#kernel = kernel;
    this.#arena = arena;
    this.#pieceBytes = pieceBytes;
    this.#plain = new Runs(pieceBytes);
    this.#folded = new Runs(pieceBytes);
    this.#own = new Runs(pieceBytes);
    this.#folding = kernel.reserve(FOLDING_TABLE_BYTES);
    writeFoldingTable(kernel.bytes, this.#folding);
  }

  /**
   * Scans those pages of the given blobs that are in `pages`, or all pages of the blobs if `pages` is undefined.
   * Returns the pairs of the matches only if `wantsPairs` is set.
   * REQUIRES: `blobs` is in ascending order.
   */
  async scan(
    window: Window,
    blobs: readonly number[],
    how: {
      readonly placed: PlacedLiteral;
      readonly pages: Bitset | undefined;
      readonly wantsPairs: boolean;
    },
    between: Between,
  ): Promise<Found> {
    const { placed, pages, wantsPairs } = how;
    const found = noneFound(blobs.length);
    const { plain, folded } = this.#runsOf(window, blobs, [placed.literal], pages);
    const pairs = new GrowableWords();
    for (const runs of [plain, folded]) {
      let last = -1;
      await this.#scan(runs, placed, runs === folded, between, (piece) => {
        const { first, end, table, out, total } = piece;
        const { words } = this.#kernel;
        if (wantsPairs) pairs.reserve(2 * total);
        let from = out >>> 2;
        for (let run = first, at = table >>> 2; run < end; run++, at += RUN_WORDS) {
          const index = runs.indexes[run]!;
          const count = words[at + 4]!;
          if (index !== last) found.starts[index] = pairs.length / 2;
          last = index;
          found.counts[index]! += count;
          found.edges[index] = Math.max(found.edges[index]!, words[at + 5]!);
          if (wantsPairs) pairs.pushAll(words, -words[at + 3]!, from, from + 2 * count);
          from += 2 * count;
        }
      });
    }
    if (wantsPairs) found.pairs = pairs.view;
    return found;
  }

  /**
   * Scans the same pages for several literals, and returns the ranges of each as ascending addresses relative to
   * `origin`. The result has two lists for each literal. The first list has the ranges in blobs that need no folding,
   * the second those in blobs that do.
   */
  async rangesOfEach(
    window: Window,
    blobs: readonly number[],
    {
      texts,
      pages,
      origin,
    }: {
      readonly texts: readonly PlacedLiteral[];
      readonly pages: Bitset | undefined;
      readonly origin: number;
    },
    between: Between,
  ): Promise<Uint32Array[]> {
    const literals = texts.map(({ literal }) => literal);
    const { plain, folded } = this.#runsOf(window, blobs, literals, pages);
    const lists: Uint32Array[] = [];
    for (const placed of texts) {
      lists.push(await this.#rangesIn(plain, placed, { isFolded: false, origin }, between));
      lists.push(await this.#rangesIn(folded, placed, { isFolded: true, origin }, between));
    }
    return lists;
  }

  /**
   * Loads the pages and returns their runs. The runs of blobs in which some literal must be compared with folding
   * (mustFold()) are in `folded`, those of all other blobs in `plain`. The runs are valid until the next call.
   */
  #runsOf(
    window: Window,
    blobs: readonly number[],
    literals: readonly Literal[],
    pages: Bitset | undefined,
  ): { readonly plain: Runs; readonly folded: Runs } {
    const [plain, folded, own] = [this.#plain, this.#folded, this.#own];
    plain.count = folded.count = 0;
    const longest = Math.max(...literals.map((literal) => literal.longest));
    window.readAhead(blobs, pages, longest);
    for (let index = 0; index < blobs.length; index++) {
      const blob = blobs[index]!;
      if (!foldsIn(window.reader, blob)) {
        addRuns(plain, window, blob, index, pages, longest);
        continue;
      }
      own.count = 0;
      addRuns(own, window, blob, index, pages, longest);
      const isFolded = own
        .stretches(longest)
        .some((one) => literals.some((literal) => this.mustFold(literal, one)));
      (isFolded ? folded : plain).append(own);
    }
    return { plain, folded };
  }

  /**
   * Returns true if the literal must be searched code point by code point, which runs at a tenth of the speed. This can
   * be necessary only in text in which folding changes code points beyond ASCII. Even there, it is never necessary for
   * `return`. For `task`, it is necessary only if the text contains U+212A or U+017F.
   */
  mustFold({ caseSensitive, partners }: Literal, { from, to }: Omit<Region, "lowest">): boolean {
    if (caseSensitive) return false;
    if (!partners) return true;
    const text = Buffer.from(this.#kernel.bytes.buffer, from, to - from);
    return partners.some((partner) => text.includes(partner));
  }

  /**
   * Returns the addresses at which a match of the literal begins in the given regions, in ascending order.
   * REQUIRES: the text of the regions is loaded.
   */
  async places(
    placed: PlacedLiteral,
    regions: readonly Region[],
    isFolded: boolean,
    between: Between,
  ): Promise<Uint32Array> {
    const runs = this.#own;
    runs.count = 0;
    for (const { from, to, lowest } of regions) runs.add(0, from, to, to, lowest);
    const places = new GrowableWords();
    await this.#scan(runs, placed, isFolded, between, ({ out, total }) => {
      const { words } = this.#kernel;
      for (let i = 0, at = out >>> 2; i < total; i++, at += 2) places.push(words[at]!);
    });
    return places.view;
  }

  async #rangesIn(
    runs: Runs,
    placed: PlacedLiteral,
    { isFolded, origin }: { readonly isFolded: boolean; readonly origin: number },
    between: Between,
  ): Promise<Uint32Array> {
    const ranges = new GrowableWords();
    await this.#scan(runs, placed, isFolded, between, ({ out, total }) => {
      const first = out >>> 2;
      ranges.pushAll(this.#kernel.words, -origin, first, first + 2 * total);
    });
    return ranges.view;
  }

  /**
   * Scans the runs piece by piece, and calls `onPiece` with the matches in each piece. Returns early if the search was
   * stopped.
   */
  async #scan(
    runs: Runs,
    placed: PlacedLiteral,
    isFolded: boolean,
    between: Between,
    onPiece: (piece: Piece) => void,
  ): Promise<void> {
    let floor = 0;
    for (let first = 0, end = 0; first < runs.count; first = end) {
      if (first > 0) {
        if (between.isStopped()) return;
        const wait = between.pause();
        if (wait) await wait;
      }
      let bytes = 0;
      do bytes += runs.bytesOf(end++);
      while (end < runs.count && bytes + runs.bytesOf(end) <= this.#pieceBytes);
      const mark = this.#arena.mark();
      const table = this.#arena.take(4 * RUN_WORDS * (end - first));
      const most = end - first + Math.floor(bytes / placed.literal.shortest);
      const out = this.#arena.take(8 * most);
      runs.copy(first, end, this.#kernel.words.subarray(table >>> 2));
      const total = this.#scanPiece(placed, isFolded, {
        table,
        count: end - first,
        floor,
        out,
      });
      if (total > 0) floor = this.#kernel.words[(out >>> 2) + 2 * total - 1]!;
      onPiece({ first, end, table, out, total });
      this.#arena.release(mark);
    }
  }

  #scanPiece(
    placed: PlacedLiteral,
    isFolded: boolean,
    { table, count, floor, out }: { table: number; count: number; floor: number; out: number },
  ): number {
    const { run } = this.#kernel;
    const { literal, bytes, masks, points, leads } = placed;
    const { length } = literal.points;
    if (isFolded)
      return run.scanFolded(table, count, points, length, leads, this.#folding, floor, out);
    const [first, second] = literal.rarest;
    return run.scanLiteral(table, count, bytes, masks, literal.length, first, second, floor, out);
  }
}

/** The matches that the kernel found in the runs [first, end). */
interface Piece {
  readonly first: number;
  readonly end: number;
  /** The address of the table with these runs. */
  readonly table: number;
  /** The address of the pairs (start, end). */
  readonly out: number;
  /** The number of pairs. */
  readonly total: number;
}

/**
 * A table of runs that is being built. Each run has six words for the kernel (kernel/assembly/scan.ts), and the index
 * of the visited blob to which the run belongs. A run that is longer than a piece is split into several runs.
 */
class Runs {
  /** The number of runs. Setting it to 0 empties the table. */
  count = 0;
  /** The index of the visited blob of each run. */
  indexes = new Uint32Array(FIRST_RUNS);
  #words = new Uint32Array(RUN_WORDS * FIRST_RUNS);
  readonly #pieceBytes: number;

  constructor(pieceBytes: number) {
    this.#pieceBytes = pieceBytes;
  }

  bytesOf(run: number): number {
    return this.#words[RUN_WORDS * run + 1]! - this.#words[RUN_WORDS * run]!;
  }

  add(index: number, from: number, starts: number, limit: number, lowest: number): void {
    for (let at = from; at < starts; at += this.#pieceBytes) {
      if (this.count === this.indexes.length) this.#grow(2 * this.count);
      this.indexes[this.count] = index;
      const word = RUN_WORDS * this.count++;
      this.#words[word] = at;
      this.#words[word + 1] = Math.min(starts, at + this.#pieceBytes);
      this.#words[word + 2] = limit;
      this.#words[word + 3] = lowest;
      this.#words[word + 4] = this.#words[word + 5] = 0;
    }
  }

  #grow(count: number): void {
    const [words, indexes] = [new Uint32Array(RUN_WORDS * count), new Uint32Array(count)];
    words.set(this.#words);
    indexes.set(this.indexes);
    [this.#words, this.indexes] = [words, indexes];
  }

  /** Copies the words of the runs [first, end) to `to`. */
  copy(first: number, end: number, to: Uint32Array): void {
    for (let word = RUN_WORDS * first; word < RUN_WORDS * end; word++)
      to[word - RUN_WORDS * first] = this.#words[word]!;
  }

  append(others: Runs): void {
    const count = this.count + others.count;
    if (count > this.indexes.length) this.#grow(2 * count);
    this.indexes.set(others.indexes.subarray(0, others.count), this.count);
    this.#words.set(others.#words.subarray(0, RUN_WORDS * others.count), RUN_WORDS * this.count);
    this.count = count;
  }

  /**
   * Returns the region of each run, extended to the last byte that a match in the run can have. A match has at most
   * `longest` bytes.
   */
  stretches(longest: number): Omit<Region, "lowest">[] {
    return Array.from({ length: this.count }, (_, run) => {
      const [from, starts, limit] = this.#words.subarray(RUN_WORDS * run);
      return { from: from!, to: Math.min(limit!, starts! + longest) };
    });
  }
}

function addRuns(
  runs: Runs,
  window: Window,
  blob: number,
  index: number,
  pages: Bitset | undefined,
  longest: number,
): void {
  const { firstPages, pageBytes } = window.reader;
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
    const start = address + (from - first) * pageBytes;
    const stop = Math.min(limit, address + (page - first) * pageBytes);
    runs.add(index, start, stop, limit, address);
  }
}

/** Returns true if folding changes code points beyond ASCII on some page of the blob. */
export function foldsIn({ firstPages, folds }: SegmentReader, blob: number): boolean {
  for (let page = firstPages[blob]!; page < firstPages[blob + 1]!; page++)
    if (hasBit(folds, page)) return true;
  return false;
}

/**
 * Finds the matches of a regular expression in the blobs of a window. The scan first finds the lines that may contain a
 * match, and then runs the expression on these lines.
 */

import { bytesOf, GrowableWords } from "../../../base/growable.ts";
import type { Budget, Limits } from "../../../regex/limits.ts";
import { newRangeList, shiftRanges, type RangeList } from "../../../regex/range-list.ts";
import type { ExpressionReach, PlacedExpression } from "../planning/expression-plan.ts";
import {
  foldsIn,
  noneFound,
  type Found,
  type PlacedLiteral,
  type Region,
} from "../reading/literal-scanner.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import type { Window } from "../reading/window.ts";
import { addEdge, byBlob } from "./by-blob.ts";
import { LINE_BYTES, regionsOf, type Stretch } from "./line-regions.ts";
import type { SharedLines } from "./shared-lines.ts";

/** The number of ranges that are found in short texts, or whose edges are rated, between two checks of the clock. */
const RANGES_A_LOOK = 2 ** 15;

/** The parameters for running an expression over a window. */
export interface ExpressionRun extends ExpressionReach {
  /** The shared pass, if the expression takes part in one. */
  readonly shared?: SharedLines | undefined;
  /** The number of matches in a blob after which the rest need not be read. Default: unlimited. */
  readonly most?: number | undefined;
}

interface ScannedBlobs {
  readonly window: Window;
  readonly blobs: readonly number[];
  /** The loaded regions of each blob, which are disjoint and in ascending order. */
  readonly regions: readonly (readonly Stretch[])[];
}

/**
 * With one anchor in DENSE_BYTES bytes on average, running the automaton over the whole text takes as long as over each
 * line with an anchor. Searching for a literal is five to ten times as fast as running the automaton.
 */
const DENSE_BYTES = 1024;
/**
 * The minimum average distance between the triples in a window, in bytes. If the distance is smaller, most lines have a
 * triple, and searching for triples first saves no time.
 */
const LEAST_APART = 64;

/**
 * Runs an expression on the lines that the shared pass has found, on the lines on the pages in `run.pages`, or on whole
 * blobs if there is neither.
 */
export async function scanExpression(
  placed: PlacedExpression,
  window: Window,
  blobs: readonly number[],
  run: ExpressionRun,
  tools: SearchTools,
): Promise<Found> {
  if (!run.shared) window.readAhead(blobs, run.pages, LINE_BYTES);
  const regions = blobs.map((blob) => run.shared?.of(blob) ?? regionsOf(window, blob, run.pages));
  const scan = new ExpressionScan(placed, { window, blobs, regions }, tools);
  return placed.expression.matchesEmpty ? scan.runOnEach(run.most ?? Infinity) : scan.runOnAll(run);
}

/** One run of an expression over the blobs of a window. */
class ExpressionScan {
  readonly #placed: PlacedExpression;
  readonly #scanned: ScannedBlobs;
  readonly #tools: SearchTools;
  readonly #found: Found;
  readonly #ranges: RangeList = newRangeList();

  constructor(placed: PlacedExpression, scanned: ScannedBlobs, tools: SearchTools) {
    this.#placed = placed;
    this.#scanned = scanned;
    this.#tools = tools;
    this.#found = noneFound(scanned.blobs.length);
  }

  /**
   * Runs the expression over the regions of all blobs at once, and then assigns the matches to their blobs. If anchors
   * or triples are rare in a region, the expression runs only over the lines that contain them.
   */
  async runOnAll(run: ExpressionRun): Promise<Found> {
    const { anchors, shared } = run;
    const { blobs, regions } = this.#scanned;
    const { arena, kernel, isStopped } = this.#tools;
    // the limit applies only to a single blob. If there were several, the run would end for all once one of them has
    // reached it
    const most = blobs.length === 1 ? (run.most ?? Infinity) : Infinity;
    const out = this.#ranges;
    const mark = arena.mark();
    let texts = tableOf(regions, arena);
    const places = anchors
      ? await placesOf(anchors, this.#scanned, this.#tools)
      : shared
        ? undefined
        : this.#placesOfTriple(texts);
    if (places) texts = textsWith(places, texts, { kernel, arena });
    await this.#runInSlices(
      (limits) => this.#placed.matcher.rangesOfTexts(texts.at, texts.count, out, limits),
      () => out.length >= most || isStopped(),
    );
    arena.release(mark);
    return byBlob(out.data.subarray(0, 2 * out.length), 0, this.#scanned, this.#tools);
  }

  /**
   * Returns the addresses at which the expression's triple occurs. Returns undefined if the expression has no triple,
   * or if the triple occurs too often.
   */
  #placesOfTriple(texts: TextTable): Uint32Array | undefined {
    const { triple } = this.#placed;
    if (triple === undefined) return undefined;
    const { arena, kernel } = this.#tools;
    let bytes = 0;
    for (const some of this.#scanned.regions) for (const [from, to] of some) bytes += to - from;
    const room = Math.ceil(bytes / LEAST_APART);
    const mark = arena.mark();
    const out = arena.take(4 * room);
    const found = kernel.run.scanTriples(texts.at, texts.count, triple, out, room);
    const places = kernel.words.slice(out >>> 2, (out >>> 2) + Math.max(found, 0));
    arena.release(mark);
    return found < 0 ? undefined : places;
  }

  /**
   * Runs an expression that matches the empty text, blob by blob. The end of a blob has the same address as the
   * beginning of the next blob. So in a run over all blobs at once, it would be unknown to which blob an empty match
   * at this address belongs.
   */
  async runOnEach(most: number): Promise<Found> {
    const { window, blobs, regions } = this.#scanned;
    const { matcher } = this.#placed;
    const out = this.#ranges;
    let looked = 0; // the number of ranges at the last check of the clock
    for (let index = 0; index < blobs.length; index++) {
      if (out.length - looked > RANGES_A_LOOK) {
        if (this.#tools.isStopped()) break;
        await this.#tools.pause();
        looked = out.length;
      }
      const lowest = window.address(blobs[index]!);
      const first = out.length;
      const isFull = () => out.length - first >= most;
      for (const [from, to] of regions[index]!) {
        const before = out.length;
        await this.#runInSlices(
          (limits) => matcher.ranges(from, to, out, limits),
          () => isFull() || this.#tools.isStopped(),
        );
        shiftRanges(out, before, from - lowest);
        // the clock is checked only within long runs, because reading it takes as long as matching a line
        if (matcher.stopped || isFull()) break;
      }
      await this.#count(index, first);
    }
    this.#found.pairs = out.data.subarray(0, 2 * out.length);
    return this.#found;
  }

  /**
   * Starts a run of the expression with `begin`, and resumes it until it ends. Yields to the event loop between slices.
   */
  async #runInSlices(begin: (limits: Limits) => number, budget: Budget): Promise<void> {
    const { matcher } = this.#placed;
    let wait: Promise<void> | undefined;
    const isSliceOver = () => (wait = this.#tools.pause()) !== undefined;
    for (begin({ budget, isSliceOver }); matcher.paused;) {
      await wait;
      matcher.resume(this.#ranges, { budget, isSliceOver });
    }
  }

  /** Assigns the ranges with numbers from `first` on to a blob, and rates their edges. */
  async #count(index: number, first: number): Promise<void> {
    const { window, blobs } = this.#scanned;
    const { data, length } = this.#ranges;
    const lowest = window.address(blobs[index]!);
    const text = [lowest, lowest + window.length(blobs[index]!)] as const;
    this.#found.starts[index] = first;
    this.#found.counts[index] = length - first;
    for (let from = first; from < length; from += RANGES_A_LOOK) {
      const to = Math.min(length, from + RANGES_A_LOOK);
      addEdge(this.#found, index, data.subarray(2 * from, 2 * to), text, this.#tools);
      if (to === length) return;
      if (this.#tools.isStopped()) return;
      await this.#tools.pause();
    }
  }
}

/**
 * A table of texts in the kernel's memory. It has `count` pairs (from, to) of addresses and begins at the address `at`.
 */
interface TextTable {
  readonly at: number;
  readonly count: number;
}

/** Writes a table of the regions of all blobs. The table is valid until the arena releases an earlier mark. */
function tableOf(regions: ScannedBlobs["regions"], arena: SearchTools["arena"]): TextTable {
  const words = new GrowableWords();
  for (const some of regions)
    for (const [from, to] of some) {
      words.push(from);
      words.push(to);
    }
  return { at: arena.put(bytesOf(words.view)), count: words.length / 2 };
}

/**
 * Returns the parts of the texts that are worth searching around the addresses in `places`. These parts are lines or
 * whole texts; see stretchesWith() in kernel/assembly/text.ts.
 */
function textsWith(
  places: Uint32Array,
  texts: TextTable,
  { kernel, arena }: Pick<SearchTools, "kernel" | "arena">,
): TextTable {
  const list = arena.put(bytesOf(places));
  const at = arena.take(8 * (places.length + texts.count));
  const { run } = kernel;
  const count = run.stretchesWith(texts.at, texts.count, list, places.length, DENSE_BYTES, at);
  return { at, count };
}

/**
 * Returns the addresses at which an anchor begins in the regions of a window's blobs, in ascending order. The regions
 * are scanned once for each anchor.
 */
export async function placesOf(
  anchors: readonly PlacedLiteral[],
  { window, blobs, regions }: ScannedBlobs,
  tools: Pick<SearchTools, "literals" | "isStopped" | "pause">,
): Promise<Uint32Array> {
  const { literals } = tools;
  const all = blobs.flatMap((blob, index) => {
    const lowest = window.address(blob);
    const folds = foldsIn(window.reader, blob);
    return regions[index]!.map(([from, to]) => ({ from, to, lowest, folds }));
  });
  const lists: Uint32Array[] = [];
  for (const anchor of anchors) {
    const [plain, folded]: [Region[], Region[]] = [[], []];
    for (const region of all)
      (region.folds && literals.mustFold(anchor.literal, region) ? folded : plain).push(region);
    lists.push(await literals.places(anchor, plain, false, tools));
    lists.push(await literals.places(anchor, folded, true, tools));
  }
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

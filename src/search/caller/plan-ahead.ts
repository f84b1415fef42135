/**
 * Plans literals on the calling thread, as far as the data in memory allows this. In some segments, no file can
 * match, because a required literal is on none of their pages. planAhead() finds these segments. It also estimates
 * how many pages must be read in the other segments. The threads then search only these other segments, if there are
 * any.
 *
 * The calling thread counts exactly what a worker would count, and reads nothing from the disk. If the lists of a
 * segment are not cached, the threads plan the segment and cache its lists. Planning a segment here takes about 5 µs.
 * Passing a task from one thread to another takes 60 to 200 µs.
 */

import { countBits } from "../../base/bitset.ts";
import type { Pause } from "../../base/yield.ts";
import type { Catalog } from "../../store/catalog/catalog.ts";
import type { KeptLists } from "../../store/segments/kept-lists.ts";
import { isAllContent } from "../../store/segments/segment-tables.ts";
import type { SegmentInput, SegmentPart } from "../messages/messages.ts";
import { unpackPlan, type PackedPlan, type PlanNode } from "../messages/plan.ts";
import { zeroTotals } from "../messages/totals.ts";
import { prepareLiteral } from "../thread/reading/literal.ts";
import { PagesAhead } from "../thread/reading/pages-ahead.ts";

/** The maximum length of a packed plan that is processed here, in characters. */
const MOST_PLAN = 4096;

export interface PlannedAhead {
  /**
   * For each segment in which nothing matches, the part of an output that a thread would return for it. The key is
   * the position of the segment.
   */
  readonly parts: ReadonlyMap<number, SegmentPart>;
  /**
   * An estimate of how many pages must be read in the segments that are not in `parts`. Infinity if unknown, or if too
   * many.
   */
  readonly pages: number;
  /** The pages that were found for each literal. */
  readonly found: PagesAhead;
}

/** The result that leaves all segments to the threads. */
export const NOT_PLANNED: PlannedAhead = {
  parts: new Map(),
  pages: Infinity,
  found: new PagesAhead(),
};

interface Asked {
  readonly plan: PackedPlan;
  readonly segments: readonly SegmentInput[];
  readonly catalog: Catalog;
  readonly lists: KeptLists;
  /** The number of pages after which an estimate is of no use. */
  readonly most: number;
  readonly pause: Pause;
}

/** Plans the segments whose lists are cached. Stops once more than `most` pages must be read. */
export async function planAhead(asked: Asked): Promise<PlannedAhead> {
  const { plan, segments, catalog, lists, most, pause } = asked;
  // a thread looks up no gram in a segment in which filters on repositories exclude all files, so `ngramLookups` would
  // be too high here
  const hasSets = segments.some(({ sets }) => sets.length > 0);
  const literals = hasSets ? undefined : literalsOf(plan);
  if (!literals) return NOT_PLANNED;
  const parts = new Map<number, SegmentPart>();
  const found = new PagesAhead();
  let pages = 0;
  for (const [position, { segment, scope }] of segments.entries()) {
    const header = catalog.headers.get(segment);
    const counted =
      header &&
      countAll(literals, lists, { segment: header.content, pages: header.pages, most, found });
    if (!counted) pages = Infinity;
    else if (counted.pages > 0) pages += counted.pages;
    else {
      const shardFilesConsidered = countBits(scope);
      const stats = {
        shardFilesConsidered,
        ngramLookups: literals.grams.reduce((sum, grams) => sum + (grams?.length ?? 0), 0),
        ngramMatches: 0,
        // see statsOf() of segment-plan.ts
        indexBytesLoaded: isAllContent(segment, header!, shardFilesConsidered)
          ? counted.listBytes
          : 0,
      };
      parts.set(position, partOf(position, stats));
    }
    await pause();
    if (pages > most && pages < Infinity) return { parts, pages: Infinity, found };
  }
  return { parts, pages, found };
}

interface Literals {
  readonly root: PlanNode;
  /** The grams of each atom. Undefined for an atom that is not a literal. */
  readonly grams: readonly (readonly number[] | undefined)[];
}

/**
 * Returns the literals of a plan. Returns undefined if the plan has atoms of other kinds with posting lists, or if no
 * literal has grams.
 */
function literalsOf(packed: PackedPlan): Literals | undefined {
  if (packed.length > MOST_PLAN) return undefined;
  const { root, atoms } = unpackPlan(packed);
  if (atoms.some(({ kind }) => kind === "content" || kind === "symbol")) return undefined;
  const grams = atoms.map((atom) =>
    atom.kind === "literal" ? prepareLiteral(atom).grams : undefined,
  );
  return grams.some((some) => some && some.length > 0) ? { root, grams } : undefined;
}

/**
 * Counts the pages on which a match may begin, and the bytes of all posting lists that this takes. Adds the pages of
 * each literal to `found` if there are at most `most`. Returns undefined if some of the lists are not cached.
 */
function countAll(
  { root, grams }: Literals,
  lists: KeptLists,
  {
    found,
    ...of
  }: {
    readonly segment: number;
    readonly pages: number;
    readonly most: number;
    readonly found: PagesAhead;
  },
): { readonly pages: number; readonly listBytes: number } | undefined {
  let listBytes = 0;
  const pages: number[] = [];
  for (const some of grams) {
    if (!some || some.length === 0) {
      pages.push(Infinity);
      continue;
    }
    const counted = lists.countPages(some, of);
    if (!counted) return undefined;
    pages.push(counted.count);
    if (counted.found) found.add(some, of.segment, counted.found);
    listBytes += counted.listBytes;
  }
  return { pages: mostPages(root, pages), listBytes };
}

/**
 * Returns the maximum number of pages that must be read to decide which files match. If the number is 0, no file
 * matches. `pages` has the number of pages for each atom.
 */
function mostPages(node: PlanNode, pages: readonly number[]): number {
  switch (node.kind) {
    case "none":
      return 0;
    case "all":
    case "set":
    case "not":
      return Infinity;
    case "atom":
      return pages[node.atom]!;
    case "and":
      return Math.min(...node.children.map((child) => mostPages(child, pages)));
    case "or":
      return node.children.reduce((sum, child) => sum + mostPages(child, pages), 0);
  }
}

const partOf = (
  position: number,
  stats: NonNullable<SegmentPart["plan"]>["stats"],
): SegmentPart => ({
  position,
  plan: { stats, candidates: 0, undecided: 0, steps: 0, nanoseconds: 0 },
  stats: zeroTotals(),
  stepsDone: 0,
  nanoseconds: 0,
});

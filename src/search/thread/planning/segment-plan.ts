/**
 * Plans a query in one segment by metadata, paths and grams. The plan says which files may match, which blobs must be
 * read to decide this, and which windows contain these blobs. Planning reads no content, unless the segment has no
 * posting lists (scanned-pages.ts).
 *
 * If the sets of files in the plan exclude all files of a segment, no posting list is read. A `repo:` filter excludes
 * most segments in this way. In the other segments, each atom is planned separately. Expressions for paths are tried
 * last, and only on files that may still match then. The files that remain are the candidates.
 */

import {
  countBits,
  emptyBitset,
  forEachBit,
  hasBit,
  intersect,
  isEmpty,
  nextBit,
  setBit,
  unite,
  type Bitset,
} from "../../../base/bitset.ts";
import type { Pause } from "../../../base/yield.ts";
import { NO_BLOB } from "../../../store/format/format.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import { isAllContent } from "../../../store/segments/segment-tables.ts";
import type { PlanStats } from "../../messages/totals.ts";
import type { SegmentSymbols } from "../reading/segment-symbols.ts";
import type { OpenedSegment, SearchTools } from "../reading/thread-tools.ts";
import { joinedWindows } from "../reading/window.ts";
import { anywhere, knownOf, planAtoms, type AtomPlan } from "./atom-plan.ts";
import { boundsOf } from "./bounds.ts";
import { counterInScope, countPagesOf } from "./pages.ts";
import { filesWithPath } from "./path-scan.ts";
import { gramsOf, type PreparedQuery } from "./prepare.ts";
import { withNamedBlobs } from "./named-blobs.ts";
import { withScannedPages } from "./scanned-pages.ts";
import { countUndecided } from "./undecided.ts";

/** The parameters of a search in one segment. */
export interface SegmentQuery {
  readonly query: PreparedQuery;
  /** The files of the searched revisions that the viewer may see. */
  readonly scope: Bitset;
  /** The files of each set of the plan, by the number of the set. */
  readonly sets: readonly Bitset[];
  /** The definitions of the segment. Undefined if none are known. */
  readonly symbols: SegmentSymbols | undefined;
  /** Whether files are ranked. Ranking depends on which matches are within names of definitions. */
  readonly isRanked: boolean;
}

export interface SegmentPlan {
  readonly reader: SegmentReader;
  readonly asked: SegmentQuery;
  /** The plans of the query's atoms, by the number of the atom. */
  readonly atoms: readonly AtomPlan[];
  /** The files for which the query's tree must be evaluated. */
  readonly candidates: Bitset;
  /** The blobs of candidate files in which some content atom may be true. These blobs are read. */
  readonly visit: Bitset;
  /**
   * The blobs whose candidate files are evaluated. If a file can match only by its content, these are the blobs in
   * `visit`. Otherwise they are the blobs of all candidate files.
   */
  readonly work: Bitset;
  /** The candidate files without content. These files are evaluated with the first window. */
  readonly withoutContent: readonly number[];
  /** The content atoms in the order in which they are scanned. */
  readonly order: readonly number[];
  /** The first blob of each window, then the number of blobs; see joinedWindows(). */
  readonly windows: Uint32Array;
  /** The numbers of the windows that contain a file to evaluate. */
  readonly steps: readonly number[];
  readonly stats: PlanStats;
  /** The number of files in scope that may or may not match, because their symbols are not known. */
  readonly undecided: number;
  /** Whether planning has read the text of all files in scope, because the segment has no posting lists. */
  readonly hasReadText: boolean;
}

/** Plans the query in a segment. Resolves to undefined if the search is stopped before the plan is complete. */
export async function planSegment(
  { reader, windows }: OpenedSegment,
  asked: SegmentQuery,
  snapshot: Snapshot,
  tools: SearchTools,
): Promise<SegmentPlan | undefined> {
  const { query, scope, sets, symbols } = asked;
  const { kernel, arena, isStopped, pause } = tools;
  const { files } = reader.header;
  const possible = async (atoms: readonly AtomPlan[]): Promise<Bitset> => {
    const known = knownOf(atoms, sets, reader);
    const { maybe } = await boundsOf(query.root, known, { files, pause });
    return intersect(maybe.slice(), scope);
  };
  if (sets.length > 0) {
    const anyAtoms = query.atoms.map(anywhere);
    const candidates = await possible(anyAtoms);
    if (isEmpty(candidates)) {
      const stats = lookUpStats([], scope, reader);
      return excluded({ reader, asked, windows, candidates, atoms: anyAtoms, stats });
    }
  }
  const countInScope = counterInScope(scope, reader);
  const tried = { reader, snapshot, kernel, arena, countInScope, isStopped, pause };
  const lookup = await withScannedPages(tried, query, scope);
  const planned = await planAtoms(query, lookup, symbols);
  if (!planned || isStopped()) return undefined;
  const decidePaths = (plans: readonly AtomPlan[], among: Bitset) =>
    planPaths(plans, { reader, snapshot, files: among }, tools);
  const decided = planned.some(({ atom }) => atom.kind === "path")
    ? await decidePaths(planned, await possible(planned))
    : planned;
  if (!decided || isStopped()) return undefined;
  const candidates = await possible(decided);
  const undecided = await countUndecided(asked, planned, lookup, decidePaths);
  const hasReadText = lookup.scanned !== undefined;
  const contentOf = (plans: readonly AtomPlan[]) => query.contentAtoms.map((atom) => plans[atom]!);
  if (isEmpty(candidates)) {
    const stats = lookUpStats(contentOf(decided), scope, reader);
    const found = { reader, asked, windows, candidates, atoms: decided, stats };
    return { ...excluded(found), undecided, hasReadText };
  }
  const blobs = blobsOfFiles(candidates, reader);
  const visit = blobsToVisit(contentOf(decided), blobs, reader);
  const ranked = { atoms: query.shown, visit, symbols: asked.isRanked ? symbols : undefined };
  const atoms = await withNamedBlobs(decided, ranked, lookup);
  if (isStopped()) return undefined;
  const work = query.isContentOnly ? visit : blobs;
  const withoutContent = query.isContentOnly ? [] : filesWithoutContent(candidates, reader);
  const joined = joinedWindows(windows, { visit, work }, reader);
  return {
    reader,
    asked,
    atoms,
    candidates,
    visit,
    work,
    withoutContent,
    order: await scanOrder(query, atoms, visit, pause),
    windows: joined,
    steps: stepsOf(joined, work, withoutContent.length > 0),
    stats: await statsOf(contentOf(atoms), { scope, visit, pause }, reader),
    undecided,
    hasReadText,
  };
}

/** Returns the plan of a segment in which nothing can match, so that no work is left. */
function excluded(
  segment: Pick<SegmentPlan, "reader" | "asked" | "windows" | "candidates" | "atoms" | "stats">,
): SegmentPlan {
  const { blobs } = segment.reader.header;
  return {
    ...segment,
    visit: emptyBitset(blobs),
    work: emptyBitset(blobs),
    withoutContent: [],
    order: [],
    steps: [],
    undecided: 0,
    hasReadText: false,
  };
}

/**
 * Tries the path atoms on `files`, and resolves to the plans with the results in `exact`. Resolves to undefined if the
 * search was stopped.
 */
async function planPaths(
  atoms: readonly AtomPlan[],
  {
    reader,
    snapshot,
    files,
  }: { readonly reader: SegmentReader; readonly snapshot: Snapshot; readonly files: Bitset },
  tools: SearchTools,
): Promise<AtomPlan[] | undefined> {
  const table = reader.paths(snapshot);
  const planned: AtomPlan[] = [];
  for (const plan of atoms) {
    if (plan.atom.kind !== "path") {
      planned.push(plan);
      continue;
    }
    const exact = await filesWithPath(plan.atom, table, files, tools);
    if (!exact) return undefined;
    planned.push({ ...plan, exact });
  }
  return planned;
}

function blobsOfFiles(set: Bitset, { header, files }: SegmentReader): Bitset {
  const blobs = emptyBitset(header.blobs);
  forEachBit(set, (file) => {
    const blob = files.blobs[file]!;
    if (blob !== NO_BLOB) setBit(blobs, blob);
  });
  return blobs;
}

function filesWithoutContent(set: Bitset, { files }: SegmentReader): number[] {
  const without: number[] = [];
  forEachBit(set, (file) => {
    if (files.blobs[file] === NO_BLOB) without.push(file);
  });
  return without;
}

/** Returns those candidate blobs in which one of the content atoms may be true. */
function blobsToVisit(
  content: readonly AtomPlan[],
  candidates: Bitset,
  { header }: SegmentReader,
): Bitset {
  const any = emptyBitset(header.blobs);
  for (const { blobs } of content) {
    if (!blobs) return candidates;
    unite(any, blobs);
  }
  return intersect(any, candidates);
}

/**
 * Returns the content atoms, ordered by the cost of scanning for them. Literals come first, ordered by the number of
 * visited blobs that may contain them. Next come the expressions over names, and last those over content. Among
 * expressions of one kind, those that require more grams come first. Only visited blobs are counted, because the number
 * of files on which an expression runs depends on the order. That number must not depend on content that the viewer may
 * not see, or on the layout of segments.
 */
async function scanOrder(
  { contentAtoms }: PreparedQuery,
  atoms: readonly AtomPlan[],
  visit: Bitset,
  pause: Pause,
): Promise<readonly number[]> {
  if (contentAtoms.length === 1) return contentAtoms;
  const costs: number[] = [];
  for (const { blobs, atom } of atoms) {
    if (atom.kind !== "literal")
      costs.push(ANYWHERE * (atom.kind === "symbol" ? 2 : 3) - gramsOf(atom));
    else costs.push(blobs ? countBits(intersect(blobs.slice(), visit)) : ANYWHERE);
    await pause();
  }
  return contentAtoms.toSorted((a, b) => costs[a]! - costs[b]!);
}

/** A sort key that is greater than the number of blobs in any segment and the number of grams in any expression. */
const ANYWHERE = 2 ** 32;

/**
 * Returns the numbers of the windows that contain a blob in `work`. If `withFirst` is set, the first window is always
 * included.
 */
function stepsOf(windows: Uint32Array, work: Bitset, withFirst: boolean): number[] {
  const steps = withFirst ? [0] : [];
  let window = 0;
  let blob = nextBit(work, windows[steps.length]!);
  while (blob >= 0) {
    while (windows[window + 1]! <= blob) window++;
    steps.push(window);
    blob = nextBit(work, windows[window + 1]!);
  }
  return steps;
}

/** Returns the counters of a segment in which nothing is scanned. `content` has the plans of the content atoms. */
function lookUpStats(
  content: readonly AtomPlan[],
  scope: Bitset,
  reader: SegmentReader,
): PlanStats {
  const inScope = countBits(scope);
  const sum = (of: (plan: AtomPlan) => number) =>
    content.reduce((total, plan) => total + of(plan), 0);
  return {
    shardFilesConsidered: inScope,
    ngramLookups: sum(({ atom }) => gramsOf(atom)),
    ngramMatches: 0,
    // if the segment has files out of scope, this number would reveal something about them
    indexBytesLoaded: isAllContent(reader.segment, reader.header, inScope)
      ? sum(({ listBytes }) => listBytes)
      : 0,
  };
}

async function statsOf(
  content: readonly AtomPlan[],
  {
    scope,
    visit,
    pause,
  }: { readonly scope: Bitset; readonly visit: Bitset; readonly pause: Pause },
  reader: SegmentReader,
): Promise<PlanStats> {
  let ngramMatches = 0;
  for (const plan of content) {
    ngramMatches += pagesToScan(plan, visit, reader);
    await pause();
  }
  return { ...lookUpStats(content, scope, reader), ngramMatches };
}

function pagesToScan({ pages, blobs }: AtomPlan, visit: Bitset, reader: SegmentReader): number {
  if (pages) return countPagesOf(visit, pages, reader);
  const { firstPages } = reader;
  let count = 0;
  forEachBit(visit, (blob) => {
    if (!blobs || hasBit(blobs, blob)) count += firstPages[blob + 1]! - firstPages[blob]!;
  });
  return count;
}

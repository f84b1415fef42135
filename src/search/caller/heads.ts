/**
 * Splits a search into two parts, so that several engines can answer it together. In the first part, each engine
 * returns its heads, which are its counts and its best files in rank order, without their text. The caller then
 * merges the heads of all engines. In the second part, each engine shows those of its files that are among the best
 * files of all engines.
 *
 * The merged answer is the same as that of a single engine with all the files, because a score depends only on the file
 * and the query. Heads are plain data, so they can be sent over a network.
 */

import { firstIndex } from "../../base/binary-search.ts";
import { compareText } from "../../base/compare.ts";
import { GrowableBytes, GrowableWords } from "../../base/growable.ts";
import { newPause, type Pause } from "../../base/yield.ts";
import type { Catalog } from "../../store/catalog/catalog.ts";
import { answerBytes, branchBytes } from "../messages/answer-size.ts";
import type { RankedFiles, SearchInput, SearchOutput, ShownFile } from "../messages/messages.ts";
import type { FileResult, RepositoryInfo } from "../messages/response.ts";
import type { SearchStats } from "../messages/stats.ts";
import { timeStats, type Attempt } from "./attempt.ts";
import { searchSegments } from "./search-segments.ts";
import type { Searching } from "./searching.ts";
import { countsOf, type NamedCounts } from "./facets.ts";
import { hashAt, mergeRanked, pathAt } from "./merge-ranked.ts";
import type { NamedPlace } from "./pages.ts";
import { repositoryInfo } from "./present.ts";
import { ALL, FilesToShow } from "./show-files.ts";
import type { SegmentEnd } from "./tally.ts";

/**
 * Identifies a page of results. If `after` is given, this is the page that follows that position in the ranking.
 * Otherwise, it is the first page.
 */
export interface HeadsPage {
  readonly after?: NamedPlace;
}

/** The best files of one engine in rank order, stored as columns. */
export interface HeadFiles extends RankedFiles {
  /**
   * The names of the repositories that the files belong to, in sorted order. The values in `repositories` are indexes
   * into this list.
   */
  readonly names: readonly string[];
  /** In the inherited property `segments`, the values are numbers of segments, not positions in a request. */
}

/** The heads of one engine, which are its answer to the first part of a search. */
export interface Heads {
  /** The counters of the search. They do not include anything that is counted while files are shown. */
  readonly stats: SearchStats;
  readonly files: HeadFiles;
  /** The numbers of the segments of the search, each with the counter in which the segment is counted. */
  readonly ends: readonly (readonly [segment: number, end: SegmentEnd])[];
  readonly facets?: NamedCounts;
}

/** A file of HeadFiles that an engine has to show. */
export interface HeadToShow {
  /** The number of the file's segment. */
  readonly segment: number;
  readonly file: number;
  /** The number of ranges that earlier pages have shown. */
  readonly skip: number;
  /** The number of ranges to show. */
  readonly count: number;
}

/** Returns a list that requests all of these files, each with all of its ranges. */
export const wholeHeads = ({ segments, files, counts }: HeadFiles): HeadToShow[] =>
  Array.from(counts, (count, at) => ({ segment: segments[at]!, file: files[at]!, skip: 0, count }));

export interface ShownHead {
  readonly result: FileResult;
  /** The number of ranges that are shown. */
  readonly ranges: number;
  /** The number of bytes that the file takes in the answer. */
  readonly bytes: number;
}

/** The files that one engine has shown. */
export interface ShownHeads {
  /**
   * The shown files in the order in which they were requested. An entry is undefined if its file cannot be shown, or if
   * the answer is full.
   */
  readonly files: readonly (ShownHead | undefined)[];
  readonly repositoryInfo: readonly RepositoryInfo[];
  readonly contentBytesLoaded: number;
  /** The numbers of the segments whose files were found but cannot be shown. */
  readonly lost: readonly number[];
  /** Whether the answer became full before the last file was completely shown. */
  readonly isFull: boolean;
}

/**
 * Returns the page in the form that the threads need. In this form, a repository is a position in this catalog's
 * order of names.
 */
function pageOfHeads({ after }: HeadsPage, catalog: Catalog): SearchInput["page"] {
  if (!after) return { more: 1 };
  const place = { ...after, repository: placeOfName(after.repository, catalog) };
  return { more: after.ranges + 1, after: place };
}

/**
 * Returns the position of a repository's name in the catalog's order of names. If the catalog does not have the name,
 * returns a position between those of its neighbours.
 */
function placeOfName(name: string, { names: { ordered } }: Catalog): number {
  const at = firstIndex(0, ordered.length, (i) => compareText(ordered[i]!.name, name) >= 0);
  return ordered[at]?.name === name ? at : at - 0.5;
}

/**
 * Returns the maximum number of ranges in the heads of one engine. With this many ranges, the files of one engine can
 * fill the answer alone.
 */
const rangesOfHeads = (matches: number, page: SearchInput["page"]): number =>
  matches === 0 ? 0 : matches + (page?.more ?? 0);

/** Returns the best files of all threads. Stops as soon as these files have `ranges` ranges together. */
async function headFiles(
  outputs: readonly SearchOutput[],
  searched: {
    /** The segments of the search, each with its number. */
    readonly segments: readonly { readonly segment: number }[];
    readonly catalog: Catalog;
    readonly ranges: number;
    readonly pause: Pause;
  },
): Promise<HeadFiles> {
  const { ordered } = searched.catalog.names;
  const scores: number[] = [];
  const [segments, files, counts] = [new GrowableWords(), new GrowableWords(), new GrowableWords()];
  const [places, starts] = [new GrowableWords(), new GrowableWords()];
  const [paths, hashes] = [new GrowableBytes(), new GrowableBytes()];
  let left = searched.ranges;
  for (const ranked of mergeRanked(outputs.map((output) => output.ranked))) {
    if (left <= 0) break;
    left -= ranked.count;
    const { list, at } = ranked;
    scores.push(list.scores[at]!);
    segments.push(searched.segments[ranked.segment]!.segment);
    files.push(ranked.file);
    counts.push(ranked.count);
    places.push(list.repositories[at]!);
    starts.push(paths.length);
    paths.push(pathAt(list, at));
    hashes.push(hashAt(list, at));
    await searched.pause();
  }
  starts.push(paths.length);
  const used = [...new Set(places.view)].sort((a, b) => a - b);
  const positions = new Map(used.map((place, i) => [place, i]));
  return {
    names: used.map((place) => ordered[place]!.name),
    scores: Int32Array.from(scores),
    segments: segments.view.slice(),
    files: files.view.slice(),
    counts: counts.view.slice(),
    repositories: places.view.map((place) => positions.get(place)!),
    pathStarts: starts.view.slice(),
    paths: paths.view.slice(),
    hashes: hashes.view.slice(),
  };
}

/** Finds the heads of an attempt. Resolves to undefined if a segment has been merged away. */
export async function findHeads(
  searching: Searching,
  attempt: Attempt,
  asked: HeadsPage | undefined,
): Promise<Heads | undefined> {
  const { understood, catalog, segments } = attempt;
  const { matches, facets } = understood.request;
  const pause = newPause();
  const page = asked && pageOfHeads(asked, catalog);
  const outputs = await searchSegments(searching.parts, attempt, { page });
  const counted = searching.tally(attempt, outputs);
  if (!counted) return undefined;
  const { stats } = counted;
  timeStats(stats, outputs, attempt);
  const ranges = rangesOfHeads(matches, page);
  return {
    stats,
    files: await headFiles(outputs, { segments, catalog, ranges, pause }),
    ends: segments.map(({ segment }, i) => [segment, counted.ends[i]!]),
    ...(facets && { facets: await countsOf(outputs, { catalog, pause }) }),
  };
}

/** Shows files that findHeads() has found. Resolves to undefined if a segment has been merged away. */
export async function showHeads(
  searching: Searching,
  attempt: Attempt,
  asked: readonly HeadToShow[],
): Promise<ShownHeads | undefined> {
  const { catalog, segments } = attempt;
  const positions = new Map(segments.map(({ segment }, i) => [segment, i]));
  const known = asked.filter(({ segment }) => positions.has(segment));
  const files = known.map((file) => ({ ...file, segment: positions.get(file.segment)! }));
  const present = searching.presenter(attempt);
  const shown = new Map<string, ShownHead>();
  const showing = {
    pool: searching.parts.pool,
    present: async (segment: number, file: number, one: ShownFile) => {
      const result = await present(segment, file, one);
      const bytes = answerBytes(one) + branchBytes(result.branches ?? []);
      shown.set(`${segment} ${file}`, { result, ranges: one.count, bytes });
      return result;
    },
  };
  const toShow = new FilesToShow(attempt, files, showing);
  const groups = await toShow.more(attempt, ALL);
  if (!groups) return undefined;
  searching.warnOfShown(toShow, segments);
  const kept = new Set(groups.flat());
  return {
    files: asked.map(({ segment, file }) => {
      const one = shown.get(`${segment} ${file}`);
      return one && kept.has(one.result) ? one : undefined;
    }),
    repositoryInfo: repositoryInfo(kept, catalog.repositories),
    contentBytesLoaded: toShow.contentBytesLoaded,
    lost: Array.from(toShow.lost.keys(), (position) => segments[position]!.segment),
    isFull: toShow.cut !== undefined,
  };
}

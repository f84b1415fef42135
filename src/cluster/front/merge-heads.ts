/**
 * Merges the results of several engines into one answer. Each file is in only one of the engines. The answer has the
 * same files, order and counters as the answer of a single engine that has all files.
 */

import { compareText } from "../../base/compare.ts";
import type { Pause } from "../../base/yield.ts";
import { isExhaustive } from "../../search/caller/attempt.ts";
import { addCounts, facetsOf } from "../../search/caller/facets.ts";
import type { HeadFiles, Heads, HeadToShow, ShownHeads } from "../../search/caller/heads.ts";
import { placeOf, type Ranked } from "../../search/caller/merge-ranked.ts";
import { chooseFiles, type Cursors, type Paging } from "../../search/caller/pages.ts";
import type { RankedFiles } from "../../search/messages/messages.ts";
import type { FileResult, RepositoryInfo, SearchResponse } from "../../search/messages/response.ts";
import { addStats, zeroStats, type SearchStats } from "../../search/messages/stats.ts";

/** The files of an answer, best first, and the cursor after them. */
export interface ChosenHeads {
  readonly files: readonly ChosenHead[];
  /** The cursor of the next page. Absent if no further page exists, or if the request asks for no page. */
  readonly nextCursor?: string;
}

/** A file of an answer. */
export interface ChosenHead {
  /** The index of the engine that has the file, in the list of engines that have answered. */
  readonly part: number;
  readonly head: HeadToShow;
  /**
   * Returns the cursor of a page that ends after `ranges` ranges of this file. Returns undefined if the request does
   * not ask for pages.
   */
  readonly cursorAfter: (ranges: number) => string | undefined;
}

/** Chooses the best files of all engines, until the chosen files have as many ranges as the request asks for. */
export async function chooseHeads(
  parts: readonly Heads[],
  matches: number,
  { cursors, pause }: { readonly cursors: Cursors | undefined; readonly pause: Pause },
): Promise<ChosenHeads> {
  const names = allNames(parts, cursors?.after?.repository);
  const lists = parts.map(({ files }) => renamed(files, names));
  const partOf = new Map(lists.map((list, part) => [list, part]));
  const paging = cursors && pagingBy(names, cursors);
  const { files, ...rest } = await chooseFiles(lists, { matches, paging, pause });
  const chosen = (ranked: Ranked): ChosenHead => {
    const { list, at, file, skip, count } = ranked;
    return {
      part: partOf.get(list)!,
      head: { segment: list.segments[at]!, file, skip, count },
      cursorAfter: (ranges) => paging?.cursorAt({ ...placeOf(ranked), ranges: skip + ranges }),
    };
  };
  return { files: files.map(chosen), ...rest };
}

/**
 * Returns the names of the repositories of all parts, and the name `another` if it is given. The names are sorted and
 * have no duplicates.
 */
function allNames(parts: readonly Heads[], another: string | undefined): readonly string[] {
  const names = new Set(parts.flatMap(({ files }) => files.names));
  if (another !== undefined) names.add(another);
  return [...names].sort(compareText);
}

/** Returns the files with their repositories as indexes into `all`. */
function renamed(files: HeadFiles, all: readonly string[]): RankedFiles {
  const positions = new Map(all.map((name, position) => [name, position]));
  const places = files.names.map((name) => positions.get(name)!);
  return { ...files, repositories: files.repositories.map((own) => places[own]!) };
}

function pagingBy(names: readonly string[], { after, indexChanged, write }: Cursors): Paging {
  return {
    place: after && { ...after, repository: names.indexOf(after.repository) },
    indexChanged,
    cursorAt: (place) => write({ ...place, repository: names[place.repository]! }),
  };
}

/** The files of an answer with their content. */
export interface ShownAnswer {
  readonly files: readonly FileResult[];
  /** The number of ranges in the files. */
  readonly matches: number;
  /** The cursor of the next page. Undefined if no further page exists, or if the request asks for no page. */
  readonly nextCursor: string | undefined;
}

/**
 * Puts the files that the engines have shown into the order of `chosen`. For each engine, `shown` has its files in
 * the same order. Ends when the files have `maxBytes` bytes, or when an engine's part of the answer was full.
 */
export function joinShown(
  { files: chosen, nextCursor }: ChosenHeads,
  shown: readonly Pick<ShownHeads, "files" | "isFull">[],
  maxBytes = Infinity,
): ShownAnswer {
  const next = shown.map(() => 0);
  const files: FileResult[] = [];
  let [matches, bytes, last] = [0, 0, -1];
  let lastRanges = 0;
  for (const [i, { part, head }] of chosen.entries()) {
    const { files: own, isFull } = shown[part]!;
    const one = own[next[part]!++];
    const isCut = one === undefined && isFull;
    if (isCut || bytes >= maxBytes)
      return { files, matches, nextCursor: chosen[last]?.cursorAfter(lastRanges) };
    last = i;
    lastRanges = one?.ranges ?? head.count;
    if (!one) continue; // the file is damaged
    files.push(one.result);
    matches += one.ranges;
    bytes += one.bytes;
  }
  const isShort = last >= 0 && lastRanges < chosen[last]!.head.count;
  return {
    files,
    matches,
    nextCursor: isShort ? chosen[last]!.cursorAfter(lastRanges) : nextCursor,
  };
}

/** Makes the response. It contains the shown files, and the sums of the counters and facets of all engines. */
export async function sumHeads(
  parts: readonly Heads[],
  shown: readonly ShownHeads[],
  asked: {
    readonly answer: ShownAnswer;
    /** The maximum number of values for each facet. Undefined if facets are not counted. */
    readonly facets: number | undefined;
    readonly cursors: Cursors | undefined;
    readonly duration: number;
    readonly pause: Pause;
  },
): Promise<SearchResponse> {
  const { answer, facets: most, cursors, duration, pause } = asked;
  const stats: SearchStats = { ...zeroStats(), duration };
  for (const part of parts) {
    addStats(stats, part.stats);
    stats.wait = Math.max(stats.wait, part.stats.wait);
    if (part.stats.flushReason === "FLUSH_REASON_TIMER_EXPIRED")
      stats.flushReason = part.stats.flushReason;
  }
  addStats(stats, { actualMatchCount: answer.matches });
  for (const [i, { lost, contentBytesLoaded }] of shown.entries()) {
    addStats(stats, { contentBytesLoaded });
    countLostSegments(stats, parts[i]!, lost);
  }
  const counted = parts.flatMap(({ facets }) => facets ?? []);
  return {
    stats,
    files: [...answer.files],
    repositoryInfo: infoOf(answer.files, shown),
    isSearchExhaustive: isExhaustive(stats),
    ...(most && { facets: await facetsOf(await addCounts(counted, pause), most, pause) }),
    ...(answer.nextCursor !== undefined && { nextCursor: answer.nextCursor }),
    ...(cursors?.indexChanged && { indexChanged: true }),
  };
}

/** Counts a segment as crashed if its files were found but cannot be returned. */
function countLostSegments(stats: SearchStats, { ends }: Heads, lost: readonly number[]): void {
  const endOf = new Map(ends);
  for (const segment of lost) {
    stats.crashes++;
    stats[endOf.get(segment)!]--;
  }
}

/** Returns one entry for each repository of the files, ordered by id. */
function infoOf(files: readonly FileResult[], shown: readonly ShownHeads[]): RepositoryInfo[] {
  const used = new Set(files.map(({ repositoryId }) => repositoryId));
  const byId = new Map<number, RepositoryInfo>();
  for (const { repositoryInfo } of shown)
    for (const one of repositoryInfo) if (used.has(one.id)) byId.set(one.id, one);
  return [...byId.values()].sort((a, b) => a.id - b.id);
}

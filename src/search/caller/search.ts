/**
 * The search. search() and beginSearch() differ only in how much of the answer they show before they resolve. Of a long
 * answer, beginSearch() shows only the beginning; the other files are shown when the caller reads them.
 *
 * The calling thread works in slices of a few milliseconds, whatever the size of the answer.
 */

import { newPause, type Pause } from "../../base/yield.ts";
import type { RankedFiles, SearchOutput } from "../messages/messages.ts";
import type { CheckedRequest } from "../messages/request.ts";
import type { Facets, FileResult, SearchResponse } from "../messages/response.ts";
import { addStats } from "../messages/stats.ts";
import { isExhaustive, timeStats, type Attempt } from "./attempt.ts";
import { countsOf, facetsOf } from "./facets.ts";
import type { IfMany } from "./if-many.ts";
import { longAnswer, STEP_BYTES, type LongAnswer } from "./long-answer.ts";
import {
  chooseFiles,
  cursorOfCut,
  pageInput,
  pagingOf,
  type Chosen,
  type Paging,
} from "./pages.ts";
import { repositoryInfo } from "./present.ts";
import { searchSegments } from "./search-segments.ts";
import type { SearchCall, Searching } from "./searching.ts";
import { ALL, FilesToShow } from "./show-files.ts";
import { showsWhole } from "./show-groups.ts";
import { countLost, type Tally } from "./tally.ts";

/** The result of a search before its files are shown. */
interface Found {
  readonly attempt: Attempt;
  readonly counted: Tally;
  readonly outputs: readonly SearchOutput[];
  readonly paging: Paging | undefined;
  readonly chosen: Chosen;
  readonly files: FilesToShow;
  readonly facets: Facets | undefined;
}

export function search(
  searching: Searching,
  call: SearchCall,
  ifMany?: IfMany,
): Promise<SearchResponse> {
  return find(searching, { ...call, ifMany }, async (found) => {
    const groups = await found.files.more(found.attempt, ALL);
    return groups && respond(searching, found, groups);
  });
}

export function beginSearch(
  searching: Searching,
  call: SearchCall,
): Promise<SearchResponse | LongAnswer> {
  return find(searching, call, async (found) => {
    const { attempt, files, outputs } = found;
    const groups = await files.more(attempt, { bytes: STEP_BYTES, isLate: false });
    if (!groups || files.isOver) return groups && respond(searching, found, groups);
    return longAnswer(attempt, {
      keptBytes: outputs.reduce((bytes, { ranked }) => bytes + bytesOf(ranked), 0),
      first: groups,
      files,
      end: (repositories) => sum(searching, found, repositories),
      onClose: searching.hold(attempt.catalog),
    });
  });
}

/**
 * Finds the files of the answer, and passes them to `show`. If a segment is merged away during this, finds them again
 * in a newer generation.
 */
async function find<T>(
  searching: Searching,
  { ifMany, ...call }: SearchCall & { readonly ifMany?: IfMany | undefined },
  show: (found: Found) => Promise<T | undefined>,
): Promise<T> {
  // parses the query, on a thread if it is long, and looks up contexts
  const question = await searching.understand(call);
  // decides for each segment which files are in scope
  return searching.answer(question, async (attempt) => {
    const { request: checked } = attempt.understood;
    const pause = newPause();
    const paging = await pagingIn(attempt, checked, pause);
    // plans, scans and ranks, on the threads
    const outputs = await searchSegments(searching.parts, attempt, {
      page: paging && pageInput(paging),
      showsAhead: !showsWhole(checked),
      bestIfMany: ifMany?.matches,
    });
    // adds up the counters of the threads
    const counted = searching.tally(attempt, outputs);
    if (!counted) return undefined;
    // merges the ranked lists of the threads, and chooses the files of the page
    const chosen = await choose(attempt, { outputs, counted, paging }, { ifMany, pause });
    const { catalog } = attempt;
    const facets = checked.facets
      ? await facetsOf(await countsOf(outputs, { catalog, pause }), checked.facets, pause)
      : undefined;
    // cuts the lines of these files, on the threads
    const files = new FilesToShow(attempt, chosen.chosen.files, {
      pool: searching.parts.pool,
      present: searching.presenter(attempt),
      ahead: outputs.flatMap((output) => output.ahead ?? []),
    });
    return show({ attempt, counted, outputs, files, facets, ...chosen });
  });
}

/** Chooses the files to return. If more ranges match than requested, `ifMany` may request others. */
async function choose(
  attempt: Attempt,
  found: Pick<Found, "outputs" | "counted" | "paging">,
  { ifMany, pause }: { readonly ifMany: IfMany | undefined; readonly pause: Pause },
): Promise<Pick<Found, "chosen" | "paging">> {
  const { request } = attempt.understood;
  const isMany = ifMany !== undefined && found.counted.stats.totalMatchCount > request.matches;
  ifMany?.onCounted(isMany);
  const wanted = isMany ? { ...request, matches: ifMany.matches, matchesPerFile: 1 } : request;
  const paging = isMany ? await pagingIn(attempt, wanted, pause) : found.paging;
  const { matches, matchesPerFile } = wanted;
  const lists = found.outputs.map(({ ranked }) => ranked);
  return { chosen: await chooseFiles(lists, { matches, matchesPerFile, paging, pause }), paging };
}

const pagingIn = (
  { catalog, options: { viewer } }: Attempt,
  request: CheckedRequest,
  pause: Pause,
): Promise<Paging | undefined> => pagingOf(request, catalog, { viewer, pause });

/**
 * The memory that the calling thread uses for each ranked file, in bytes, in addition to the file's path. It holds
 * the file's values in the columns and, if the file is chosen, an object.
 */
const RANKED_BYTES = 200;
const bytesOf = ({ paths, scores }: RankedFiles): number =>
  paths.length + RANKED_BYTES * scores.length;

function respond(
  searching: Searching,
  found: Found,
  groups: readonly (readonly FileResult[])[],
): SearchResponse {
  const files: FileResult[] = [];
  for (const group of groups) files.push(...group);
  const { stats, ...rest } = sum(searching, found, files);
  return { stats, files, ...rest };
}

/**
 * Returns everything in the answer except the files. REQUIRES: all files have been shown, because the result includes
 * what was counted while they were shown.
 */
function sum(
  searching: Searching,
  { attempt, counted, outputs, paging, chosen, files, facets }: Found,
  from: Iterable<Pick<FileResult, "repositoryId">>,
): Omit<SearchResponse, "files"> {
  const { catalog, control, segments, startedAt } = attempt;
  const { stats } = counted;
  const { lost, matches, contentBytesLoaded, cut } = files;
  addStats(stats, { actualMatchCount: matches, contentBytesLoaded });
  searching.warnOfShown(files, segments);
  countLost(counted, lost.keys());
  timeStats(stats, outputs, { control, startedAt });
  const nextCursor = cut ? cursorOfCut(chosen, cut, paging) : chosen.nextCursor;
  return {
    stats,
    repositoryInfo: repositoryInfo(from, catalog.repositories),
    isSearchExhaustive: isExhaustive(stats),
    ...(facets && { facets }),
    ...(nextCursor !== undefined && { nextCursor }),
    ...(paging?.indexChanged && { indexChanged: true }),
  };
}

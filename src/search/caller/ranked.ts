/** Implements search(), which finds the best files, shows them, and adds up the counters. */

import { newPause } from "../../base/yield.ts";
import type { RankedFiles, SearchOutput } from "../messages/messages.ts";
import type { Facets, FileResult, SearchResponse } from "../messages/response.ts";
import { addStats } from "../messages/stats.ts";
import { isExhaustive, timeStats, type Attempt } from "./attempt.ts";
import type { Attempts } from "./attempts.ts";
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
import { ALL, FilesToShow } from "./show-files.ts";
import { showsWhole } from "./show-groups.ts";
import { countLost, type Tally } from "./tally.ts";

/** The result of a search before its files are shown. */
interface Found {
  readonly counted: Tally;
  readonly outputs: readonly SearchOutput[];
  readonly paging: Paging | undefined;
  readonly chosen: Chosen;
  readonly files: FilesToShow;
  readonly facets?: Facets;
}

/** Searches and shows the whole answer. Resolves to undefined if a segment has been merged away. */
export async function searchRanked(
  attempts: Attempts,
  attempt: Attempt,
  ifMany?: IfMany,
): Promise<SearchResponse | undefined> {
  const found = await find(attempts, attempt, ifMany);
  const groups = await found?.files.more(attempt, ALL);
  return found && groups && respond(attempts, attempt, { found, groups });
}

/**
 * Searches, and shows only the beginning of a long answer. The other files are shown when the caller reads them.
 * Resolves to undefined if a segment has been merged away.
 */
export async function beginRanked(
  attempts: Attempts,
  attempt: Attempt,
): Promise<SearchResponse | LongAnswer | undefined> {
  const found = await find(attempts, attempt);
  const groups = await found?.files.more(attempt, { bytes: STEP_BYTES, isLate: false });
  if (!found || !groups) return undefined;
  if (found.files.isOver) return respond(attempts, attempt, { found, groups });
  return longAnswer(attempt, {
    keptBytes: found.outputs.reduce((sum, { ranked }) => sum + bytesOf(ranked), 0),
    first: groups,
    files: found.files,
    end: (repositories) => sum(attempts, attempt, { found, from: repositories }),
    onClose: attempts.hold(attempt.catalog),
  });
}

/**
 * The memory that the calling thread uses for each ranked file, in bytes, in addition to the file's path. It holds
 * the file's values in the columns and, if the file is chosen, an object.
 */
const RANKED_BYTES = 200;
const bytesOf = ({ paths, scores }: RankedFiles): number =>
  paths.length + RANKED_BYTES * scores.length;

/** Finds the matching files, without showing them. Resolves to undefined if a segment has been merged away. */
async function find(
  attempts: Attempts,
  attempt: Attempt,
  ifMany?: IfMany,
): Promise<Found | undefined> {
  const { understood, catalog, options } = attempt;
  const { request } = understood;
  const pause = newPause();
  const viewed = { viewer: options.viewer, pause };
  let paging = await pagingOf(request, catalog, viewed);
  const page = paging && pageInput(paging);
  const outputs = await attempts.search(attempt, {
    page,
    showsAhead: !showsWhole(request),
    bestIfMany: ifMany?.matches,
  });
  const counted = attempts.tally(attempt, outputs);
  if (!counted) return undefined;
  let { matches, matchesPerFile } = request;
  const isMany = ifMany !== undefined && counted.stats.totalMatchCount > matches;
  ifMany?.onCounted(isMany);
  if (isMany) {
    ({ matches } = ifMany);
    matchesPerFile = 1;
    paging = await pagingOf({ ...request, matchesPerFile }, catalog, viewed);
  }
  const { facets: most } = request;
  const lists = outputs.map(({ ranked }) => ranked);
  const chosen = await chooseFiles(lists, { matches, matchesPerFile, paging, pause });
  const showing = { pool: attempts.options.pool, present: attempts.presenter(attempt) };
  const ahead = outputs.flatMap((output) => output.ahead ?? []);
  const files = new FilesToShow(attempt, chosen.files, { ...showing, ahead });
  const facets = most && (await facetsOf(await countsOf(outputs, { catalog, pause }), most, pause));
  return { counted, outputs, paging, chosen, files, ...(facets && { facets }) };
}

function respond(
  attempts: Attempts,
  attempt: Attempt,
  { found, groups }: { readonly found: Found; readonly groups: readonly (readonly FileResult[])[] },
): SearchResponse {
  const files: FileResult[] = [];
  for (const group of groups) files.push(...group);
  const { stats, ...rest } = sum(attempts, attempt, { found, from: files });
  return { stats, files, ...rest };
}

/**
 * Returns everything in the answer except the files. REQUIRES: all files have been shown, because the result includes
 * what was counted while they were shown.
 */
function sum(
  attempts: Attempts,
  { catalog, control, segments, startedAt }: Attempt,
  {
    found,
    from,
  }: { readonly found: Found; readonly from: Iterable<Pick<FileResult, "repositoryId">> },
): Omit<SearchResponse, "files"> {
  const { counted, outputs, paging, chosen, files, facets } = found;
  const { stats } = counted;
  const { lost, matches, contentBytesLoaded, cut } = files;
  addStats(stats, { actualMatchCount: matches, contentBytesLoaded });
  attempts.warnOfShown(files, segments);
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

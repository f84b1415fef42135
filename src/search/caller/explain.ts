/** Implements explain() and notIndexed(), which tell why a query finds its results and what would find more. */

import { QuernError, type ErrorCode } from "../../base/errors.ts";
import { newPause, type Pause } from "../../base/yield.ts";
import { conjuncts, formatQuery, type Query } from "../../query/ast.ts";
import type { View } from "../../store/catalog/view.ts";
import { hintsFor, isShort, type QueryText } from "../meaning/meaning.ts";
import type { ExplainedSegment, ExplainResult } from "../messages/messages.ts";
import type { SearchOptions, SearchRequest } from "../messages/request.ts";
import type { Explanation } from "../messages/response.ts";
import { timeStats, type Attempt } from "./attempt.ts";
import { notIndexed } from "./not-indexed.ts";
import { searchSegments } from "./search-segments.ts";
import { search } from "./search.ts";
import type { Question, SearchCall, Searching, SearchParts } from "./searching.ts";
import { changesOf } from "./suggestions.ts";
import type { SegmentEnd } from "./tally.ts";
import type { Understood } from "./understand.ts";

/** The codes of errors in the query itself. */
const QUERY_CODES: ReadonlySet<ErrorCode> = new Set([
  "QUERY_SYNTAX",
  "REGEX_SYNTAX",
  "REGEX_TOO_LARGE",
]);

/** The part of an explanation that the threads produce: the plan of each segment, and the counters of the search. */
export type ExplainedPlan = Pick<Explanation, "query" | "segments" | "stats">;

/** The searches that an explanation needs. */
export interface Explaining {
  readonly plan: () => Promise<ExplainedPlan>;
  /**
   * Counts the matches of a changed request, which is suggested if it has matches. The options have the time-out that
   * is left.
   */
  readonly count: (request: SearchRequest, options: SearchOptions) => Promise<number>;
}

export async function explain(searching: Searching, call: SearchCall): Promise<Explanation> {
  let planned: Promise<View>; // `notIndexed` must describe the same state as the plan
  const view = (): Promise<View> => (planned = call.view());
  const same = { ...call, view: () => planned };
  const question = await searching.understand({ ...call, view });
  return explainWith(
    searching,
    { ...question, view: same.view },
    {
      plan: () => explainPlan(searching, question),
      count: async (request, options) =>
        (await search(searching, { ...same, request, options })).stats.totalMatchCount,
    },
  );
}

/** Runs a search that shows no files, and explains the plan of its query. */
export function explainPlan(searching: Searching, question: Question): Promise<ExplainedPlan> {
  const { understood } = question;
  const counting = { ...understood, request: { ...understood.request, matches: 0 } };
  return searching.answer({ ...question, understood: counting }, (attempt) =>
    explainAttempt(searching, attempt),
  );
}

/**
 * Explains a query. Runs its searches with `plan` and `count`, which the caller provides. All searches together have
 * the time-out of the call.
 */
export async function explainWith(
  searching: Searching,
  question: Question,
  { plan, count }: Explaining,
): Promise<Explanation> {
  const { understood, options, startedAt } = question;
  const explained = await plan();
  const isFound = explained.stats.totalMatchCount > 0;
  const { query, isRegexEnabled, isCaseSensitivityEnabled } = understood.request;
  const dialect = { regex: isRegexEnabled, caseSensitive: isCaseSensitivityEnabled };
  return {
    ...explained,
    notIndexed: await findNotIndexed(searching, question, searching.parts.skipped),
    hints: await hints(searching, { text: query, dialect }),
    suggestions: isFound ? [] : await tryChanges(understood, { options, startedAt, count }),
  };
}

/**
 * Returns the hints for a query. Each hint requires another parse of the query, so a worker thread finds the hints
 * for a long query.
 */
async function hints(searching: Searching, asked: QueryText): Promise<Explanation["hints"]> {
  if (isShort(asked.text)) return hintsFor(asked);
  const { pool } = searching.parts;
  return pool.run<Explanation["hints"]>("search.hints", asked, { lane: "search" });
}

/** Counts matches and describes the plan. Resolves to undefined if a segment has been merged away. */
async function explainAttempt(
  searching: Searching,
  attempt: Attempt,
): Promise<ExplainedPlan | undefined> {
  const { understood, segments, view } = attempt;
  const { pool } = searching.parts;
  const outputs = await searchSegments(searching.parts, attempt);
  const counted = searching.tally(attempt, outputs);
  if (!counted) return undefined;
  const { stats, ends } = counted;
  timeStats(stats, outputs, attempt);
  const input = { plan: understood.plan, segments, packed: view.packed };
  const explained =
    segments.length === 0
      ? [] // asks no thread, because an idle process would have to start one
      : await pool.run<ExplainResult>("search.explain", input, { lane: "search" });
  if (explained === "gone") return undefined;
  const { query } = understood;
  const pause = newPause();
  const explanations: Explanation["segments"][number][] = [];
  for (const [i, one] of explained.entries())
    explanations.push(await explainSegment(one, { end: ends[i]!, query, pause }));
  return {
    query: formatQuery(query),
    segments: explanations,
    stats,
  };
}

/** Resolves to the same list as `notIndexed` of explain(), but without the skipped files. Reads only the catalog. */
export const notIndexedOf = async (
  searching: Searching,
  call: SearchCall,
): Promise<Explanation["notIndexed"]> =>
  findNotIndexed(searching, await searching.understand(call));

async function findNotIndexed(
  searching: Searching,
  question: Question,
  skipped?: SearchParts["skipped"],
): Promise<Explanation["notIndexed"]> {
  const { understood, options } = question;
  const { viewer, signal } = options;
  const view = await question.view();
  return notIndexed({
    query: understood.query,
    catalog: view.catalog,
    viewer,
    contexts: understood.contexts,
    indexing: searching.parts.indexing(),
    ...(skipped && {
      skipped: async (repository: number) => view.skipped(repository, await skipped(repository)),
    }),
    pause: newPause(signal && { signal }),
    matching: (...names) => searching.names.matching(...names),
  });
}

/** Tries changed requests until the time is up, and resolves to those that find something. */
async function tryChanges(
  { request, query }: Understood,
  {
    options,
    startedAt,
    count,
  }: Pick<Explaining, "count"> & {
    readonly options: SearchOptions;
    readonly startedAt: number;
  },
): Promise<Explanation["suggestions"]> {
  const { timeoutMs = Infinity } = options;
  const found: Explanation["suggestions"] = [];
  for (const change of changesOf(request, query)) {
    const leftMs = timeoutMs - (performance.now() - startedAt);
    if (leftMs <= 0) break;
    const limited = leftMs === Infinity ? options : { ...options, timeoutMs: leftMs };
    const totalMatchCount = await countIfParsed(change.request, (one) => count(one, limited));
    if (totalMatchCount > 0) found.push({ ...change, totalMatchCount });
  }
  return found;
}

/** Counts the matches of a request. Resolves to 0 if the query of the request does not parse. */
async function countIfParsed(
  request: SearchRequest,
  count: (request: SearchRequest) => Promise<number>,
): Promise<number> {
  try {
    return await count({ ...request, matches: 0 });
  } catch (error) {
    if (error instanceof QuernError && QUERY_CODES.has(error.code)) return 0;
    throw error;
  }
}

/**
 * Describes a segment. Combines the explanation of a thread with the counter in which the search has counted the
 * segment.
 */
async function explainSegment(
  { excludedBy, ...segment }: ExplainedSegment,
  { end, query, pause }: { readonly end: SegmentEnd; readonly query: Query; readonly pause: Pause },
): Promise<Explanation["segments"][number]> {
  await pause();
  const outcome = OUTCOMES[end];
  if (outcome !== "skipped-by-filter") return { ...segment, outcome };
  const operands = conjuncts(query);
  const exclusions = [];
  for (const { operand, ...exclusion } of excludedBy) {
    exclusions.push({ query: formatQuery(operands[operand]!), ...exclusion });
    await pause();
  }
  return { ...segment, outcome, excludedBy: exclusions };
}

/** Maps the counter in which a segment is counted to the segment's outcome. */
const OUTCOMES: Readonly<Record<SegmentEnd, Explanation["segments"][number]["outcome"]>> = {
  shardsScanned: "scanned",
  shardsSkippedFilter: "skipped-by-filter",
  shardsSkipped: "not-reached",
  crashes: "damaged",
};

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
import type { Asked, Attempts, SearcherOptions } from "./attempts.ts";
import { notIndexed } from "./not-indexed.ts";
import { searchRanked } from "./ranked.ts";
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

export function explain(attempts: Attempts, asked: Asked): Promise<Explanation> {
  let planned: Promise<View>; // `notIndexed` must describe the same state as the plan
  const view = (): Promise<View> => (planned = asked.view());
  const same = { ...asked, view: () => planned };
  return explainWith(attempts, same, {
    plan: () => explainPlan(attempts, { ...asked, view }),
    async count(request, options) {
      const { stats } = await attempts.answer({ ...asked, request, options }, (one) =>
        searchRanked(attempts, one),
      );
      return stats.totalMatchCount;
    },
  });
}

/** Runs a search that shows no files, and explains the plan of its query. */
export async function explainPlan(attempts: Attempts, asked: Asked): Promise<ExplainedPlan> {
  const startedAt = performance.now();
  const understood = await attempts.understand(asked);
  const counting = { ...understood, request: { ...understood.request, matches: 0 } };
  return attempts.answerUnderstood({ ...asked, understood: counting, startedAt }, (attempt) =>
    explainAttempt(attempts, attempt),
  );
}

/**
 * Explains a query. Runs its searches with `plan` and `count`, which the caller provides. All searches together have
 * the time-out of the call.
 */
export async function explainWith(
  attempts: Attempts,
  asked: Asked,
  { plan, count }: Explaining,
): Promise<Explanation> {
  const startedAt = performance.now();
  const understood = await attempts.understand(asked);
  const explained = await plan();
  const { skipped } = attempts.options;
  const view = await asked.view();
  const { options } = asked;
  const isFound = explained.stats.totalMatchCount > 0;
  const { query, isRegexEnabled, isCaseSensitivityEnabled } = understood.request;
  const dialect = { regex: isRegexEnabled, caseSensitive: isCaseSensitivityEnabled };
  return {
    ...explained,
    notIndexed: await findNotIndexed(attempts, { understood, view, options, skipped }),
    hints: await hints(attempts, { text: query, dialect }),
    suggestions: isFound ? [] : await tryChanges(understood, { options, startedAt, count }),
  };
}

/**
 * Returns the hints for a query. Each hint requires another parse of the query, so a worker thread finds the hints
 * for a long query.
 */
async function hints(attempts: Attempts, asked: QueryText): Promise<Explanation["hints"]> {
  if (isShort(asked.text)) return hintsFor(asked);
  const { pool } = attempts.options;
  return pool.run<Explanation["hints"]>("search.hints", asked, { lane: "search" });
}

/** Counts matches and describes the plan. Resolves to undefined if a segment has been merged away. */
async function explainAttempt(
  attempts: Attempts,
  attempt: Attempt,
): Promise<ExplainedPlan | undefined> {
  const { understood, segments, view } = attempt;
  const { pool } = attempts.options;
  const outputs = await attempts.search(attempt);
  const counted = attempts.tally(attempt, outputs);
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
export async function notIndexedOf(
  attempts: Attempts,
  asked: Asked,
): Promise<Explanation["notIndexed"]> {
  const understood = await attempts.understand(asked);
  const { options } = asked;
  return findNotIndexed(attempts, { understood, view: await asked.view(), options });
}

function findNotIndexed(
  attempts: Attempts,
  asked: {
    readonly understood: Understood;
    readonly view: View;
    readonly options: SearchOptions;
    readonly skipped?: SearcherOptions["skipped"];
  },
): Promise<Explanation["notIndexed"]> {
  const { understood, view, skipped } = asked;
  const { viewer, signal } = asked.options;
  return notIndexed({
    query: understood.query,
    catalog: view.catalog,
    viewer,
    contexts: understood.contexts,
    indexing: attempts.options.indexing(),
    ...(skipped && {
      skipped: async (repository: number) => view.skipped(repository, await skipped(repository)),
    }),
    pause: newPause(signal && { signal }),
    matching: (...names) => attempts.names.matching(...names),
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

/** Says in words what an answer lacks. Otherwise a model would assume that the answer is complete. */

import { coreOf } from "../core-of.ts";
import type { Repository } from "../repository.ts";
import type { SearchRequest } from "../search/messages/request.ts";
import type { SearchResponse } from "../search/messages/response.ts";
import { named } from "./delimit.ts";
import { plural } from "./plural.ts";
import { scopeOf, searchOptions } from "./scope.ts";
import type { Filters, ToolContext } from "./tool.ts";
import { notIndexedWords } from "./words.ts";

/** Says why the counts of a search may be too low. Returns no words if they are exact. */
export function partialWords({ stats }: Pick<SearchResponse, "stats">): string[] {
  const { flushReason, shardsSkipped, crashes, duration, filesSkipped } = stats;
  const isLate = flushReason === "FLUSH_REASON_TIMER_EXPIRED" || shardsSkipped > 0;
  if (isLate)
    return [
      `INCOMPLETE: time ran out after ${Math.round(duration / 1e6)} ms, before everything was searched. Narrow the query down.`,
    ];
  if (crashes > 0)
    return [
      `INCOMPLETE: ${plural(crashes, "part")} of the index ${crashes === 1 ? "is" : "are"} damaged and ${crashes === 1 ? "was" : "were"} not searched.`,
    ];
  if (filesSkipped > 0)
    return [
      `INCOMPLETE: the definitions of ${plural(filesSkipped, "file")} are not indexed yet. search finds their text.`,
    ];
  return [];
}

/** The maximum number of repositories whose unsearchable files are mentioned. */
const MOST_NAMED = 10;

/**
 * Names the repositories of the request that are not indexed. Also names the repositories in `found` that have
 * unsearchable files.
 */
export async function notSearchedWords(
  request: Pick<SearchRequest, "query" | "isRegexEnabled">,
  { filters, found }: { readonly filters: Filters; readonly found: readonly string[] },
  context: ToolContext,
): Promise<string[]> {
  const { engine } = context;
  const { viewer } = await scopeOf(filters, context);
  const options = searchOptions(context, viewer);
  const missing = await coreOf(engine)
    .view(options)
    .notIndexed({ ...request, matches: 0 });
  const seen = viewer ? { viewer } : {};
  const names = found.slice(0, MOST_NAMED);
  const repositories = await Promise.all(names.map((name) => engine.repository(name, seen)));
  return [
    ...notIndexedWords(missing),
    ...repositories.flatMap((one) =>
      one && one.skipped.length > 0
        ? [
            `${named(one.name)} has files whose content is not searchable: ${reasonsOf(one.skipped)}.`,
          ]
        : [],
    ),
  ];
}

/** The maximum number of files that are requested to find the repositories within the filters. */
const MOST_IN_SCOPE = 50;

/**
 * Says why a search may have found nothing. There may be no file that passes the filters, or such files may not be
 * searchable.
 */
export async function nothingSearchedWords(
  request: Pick<SearchRequest, "query" | "isRegexEnabled">,
  filters: Filters,
  context: ToolContext,
): Promise<string[]> {
  const { filter, viewer } = await scopeOf(filters, context);
  const asked = { query: filter || "file:.", matches: MOST_IN_SCOPE };
  const inScope = await context.engine.search(asked, searchOptions(context, viewer));
  const found = inScope.repositoryInfo.map(({ name }) => name);
  return [
    ...(inScope.files.length === 0 ? ["No indexed file matches these filters."] : []),
    ...(await notSearchedWords(request, { filters, found }, context)),
  ];
}

const MOST_REASONS = 3;

/** Counts skipped files by reason, as in `2 binary, 1 too-large`. */
export function reasonsOf(skipped: Repository["skipped"]): string {
  const counts = new Map<string, number>();
  for (const { reason } of skipped) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .slice(0, MOST_REASONS)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(", ");
}

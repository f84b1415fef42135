/** What an answer lacks, in words: a tool that is silent about it lies. */

import { quote } from "../query/ast.ts";
import { NOT_INDEXED, type KnowsNotIndexed } from "../search/caller/not-indexed.ts";
import type { SearchRequest } from "../search/messages/request.ts";
import type { SearchResponse } from "../search/messages/response.ts";
import { plural } from "./plural.ts";
import { escapeExpression, queryWith, scopeOf, searchOptions } from "./scope.ts";
import type { Filters, ToolContext } from "./tool.ts";
import { notIndexedWords } from "./words.ts";

/** Why the counts of a search are not those of all that is indexed. */
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
      `INCOMPLETE: the definitions of ${plural(filesSkipped, "file")} are not known yet. search finds their text.`,
    ];
  return [];
}

/** The most repositories of whose unsearchable files is told. */
const MOST_NAMED = 10;

/**
 * Repositories that the question names and that cannot have answered in full: unknown ones, and those with
 * files whose content is not searchable. Where it names none, those of the files that were found count.
 */
export async function notSearchedWords(
  { query, ...request }: Pick<SearchRequest, "query" | "isRegexEnabled">,
  { filters, found }: { readonly filters: Filters; readonly found: readonly string[] },
  context: ToolContext,
): Promise<string[]> {
  const { [NOT_INDEXED]: ask } = context.engine as Partial<KnowsNotIndexed>;
  if (!ask) return [];
  const { viewer } = await scopeOf(filters, context);
  const names = found.slice(0, MOST_NAMED).map((name) => `^${escapeExpression(name)}$`);
  const named =
    names.length === 0 ? query : queryWith(query, `repo:${quote(`(?:${names.join("|")})`)}`);
  const options = searchOptions(context, viewer);
  const missing = await ask.call(context.engine, { ...request, matches: 0, query: named }, options);
  return notIndexedWords(missing);
}

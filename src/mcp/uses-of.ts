/** How often names are used: in how many places their repository or folder names them. */

import { quote } from "../query/ast.ts";
import type { Definition } from "./definitions-of.ts";
import { escapeExpression, queryWith, scopeOf, searchOptions } from "./scope.ts";
import type { Filters, ToolContext } from "./tool.ts";

/** Names that are counted; those of a larger folder keep the order in which they stand. */
const MOST_NAMES = 1_000;
/** Names of one search. */
const AT_ONCE = 250;
/** Places that a search counts; names with more share what is left. */
const MOST_PLACES = 10_000;
const PER_FILE = 50;

/** Counts the uses of definitions, by their names. */
export async function usesOf(
  definitions: readonly Definition[],
  { repository, revision }: Filters,
  context: ToolContext,
): Promise<Map<string, number>> {
  const names = [...new Set(definitions.map(({ symbol }) => symbol.symbol))]
    .filter((name) => /^[\w$]{3,100}$/.test(name))
    .slice(0, MOST_NAMES);
  const counts = new Map<string, number>();
  const { filter, viewer } = await scopeOf({ repository, revision }, context);
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE).map(escapeExpression);
    const request = {
      query: queryWith(`content:${quote(`\\b(?:${some.join("|")})\\b`)}`, filter),
      isRegexEnabled: true,
      isCaseSensitivityEnabled: true,
      matches: MOST_PLACES,
      matchesPerFile: PER_FILE,
    };
    const { files } = await context.engine.search(request, searchOptions(context, viewer));
    for (const { chunks } of files)
      for (const { content } of chunks)
        for (const [name] of content.matchAll(/[\w$]+/g))
          counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

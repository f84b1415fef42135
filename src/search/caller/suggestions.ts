/**
 * Suggests changes to a query that finds nothing. Each suggested change has been tried, and the changed query finds
 * something.
 */

import { nearestLanguage, languageNamed } from "../../base/languages.ts";
import { conjuncts, formatQuery, type Query } from "../../query/ast.ts";
import type { CheckedRequest, SearchRequest } from "../messages/request.ts";
import type { Explanation } from "../messages/response.ts";

type Suggestion = Explanation["suggestions"][number];
export type Change = Omit<Suggestion, "totalMatchCount">;

/** The maximum number of changes to try. Trying a change runs a search. */
const MOST_TRIED = 20;

/** The maximum number of unknown languages in a query for which a similar known language is looked up. */
const MOST_NAMES = 20;

/**
 * Yields at most MOST_TRIED changes, the most promising first. If a change switches to the other dialect, the query
 * may not parse. Each change is built only when the caller asks for it, because a query may have two thousand
 * filters.
 */
export function* changesOf(given: CheckedRequest, query: Query): Generator<Change> {
  let made = 0;
  for (const change of allChanges(given, query)) {
    yield change;
    if (++made === MOST_TRIED) return;
  }
}

function* allChanges(given: CheckedRequest, query: Query): Generator<Change> {
  const request = { ...given };
  delete request.after; // a cursor belongs to the unchanged query
  const { isCaseSensitivityEnabled, isRegexEnabled } = request;
  const change = (kind: Suggestion["change"], changed: Partial<SearchRequest>): Change => ({
    change: kind,
    request: { ...request, ...changed },
  });
  const asQuery = (changed: Query) => ({ query: formatQuery(changed) });
  for (const changed of replacedLanguages(query)) yield change("language", asQuery(changed));
  if (isCaseSensitivityEnabled) yield change("ignore-case", { isCaseSensitivityEnabled: false });
  if (isRegexEnabled) yield change("literal", { isRegexEnabled: false });
  else yield change("regex", { isRegexEnabled: true });
  for (const changed of withoutOneFilter(query)) yield change("drop-filter", asQuery(changed));
  for (const changed of inAllRevisions(query)) yield change("all-revisions", asQuery(changed));
}

const isFilter = (query: Query): boolean =>
  query.kind === "not" ||
  (query.kind === "regex" && query.field !== "content" && query.field !== "symbol") ||
  ["language", "revision", "reposet", "context", "archived", "fork", "visibility"].includes(
    query.kind,
  );

function* withoutOneFilter(query: Query): Generator<Query> {
  const parts = conjuncts(query);
  if (parts.length < 2) return;
  for (const [i, part] of parts.entries()) {
    if (!isFilter(part)) continue;
    const rest = parts.filter((_, other) => other !== i);
    yield rest.length === 1 ? rest[0]! : { kind: "and", children: rest };
  }
}

/**
 * Returns the query with `rev:*` instead of its `rev:` filters, so that it searches all revisions. Returns an empty
 * array if the query already has `rev:*`.
 */
function inAllRevisions(query: Query): Query[] {
  const parts = conjuncts(query);
  if (parts.some((part) => part.kind === "revision" && part.value === "*")) return [];
  const rest = parts.filter((part) => part.kind !== "revision");
  const everywhere: Query = { kind: "revision", value: "*" };
  return rest.length === 0 ? [everywhere] : [{ kind: "and", children: [...rest, everywhere] }];
}

/** For each unknown language that resembles a known one, yields the query with only that language replaced. */
function* replacedLanguages(query: Query): Generator<Query> {
  const parts = conjuncts(query);
  let asked = 0;
  for (const [i, part] of parts.entries()) {
    if (part.kind !== "language" || languageNamed(part.name) !== undefined) continue;
    if (asked++ === MOST_NAMES) return;
    const name = nearestLanguage(part.name);
    if (name === undefined) continue;
    const changed = parts.map((one, other): Query =>
      other === i ? { kind: "language", name } : one,
    );
    yield changed.length === 1 ? changed[0]! : { kind: "and", children: changed };
  }
}

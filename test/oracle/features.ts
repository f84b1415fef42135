/** Names the features of random cases, so that a missing feature is detected. */

import type { Query } from "../../src/query/ast.ts";
import { parseQuery } from "../../src/query/parse.ts";
import type { SearchCase } from "./queries.ts";

/** Returns every constant, operator, prefix and value in a query, negations of negations, and depths. */
function featuresOf(query: Query, depth = 1): string[] {
  const below = (children: readonly Query[]) =>
    children.flatMap((child) => featuresOf(child, depth + 1));
  if (query.kind === "and" || query.kind === "or")
    return [query.kind, `depth ${depth}`, ...below(query.children)];
  if (query.kind === "not")
    return [query.child.kind === "not" ? "not not" : "not", ...below([query.child])];
  return [`depth ${depth}`, featureOf(query)];
}

function featureOf(query: Query): string {
  if (query.kind === "regex") return query.field;
  if (query.kind === "archived" || query.kind === "fork" || query.kind === "visibility")
    return `${query.kind}:${query.value}`;
  if (query.kind !== "revision") return query.kind;
  return query.value.length === 40 ? "commit" : `rev:${query.value}`;
}

/** The features that random cases must have. */
export const PROMISED = [
  ["and", "or", "not", "not not", "all", "none", "depth 5"],
  ["literal", "content", "file", "repo", "symbol", "language", "reposet", "context"],
  ["rev:*", "rev:HEAD", "rev:main", "rev:e", "commit"],
  ["archived:yes", "archived:no", "archived:only", "fork:yes", "fork:no", "fork:only"],
  ["visibility:public", "visibility:private", "visibility:any"],
  ["f:", "r:", "c:"],
  ["everybody", "a viewer", "a viewer of nothing", "case", "no case", "regex", "literals"],
].flat();

export function featuresOfCase({ request, options }: Omit<SearchCase, "corpus">): string[] {
  const regex = request.isRegexEnabled!;
  const caseSensitive = request.isCaseSensitivityEnabled!;
  return [
    ...featuresOf(parseQuery(request.query, { regex, caseSensitive })),
    ...["f:", "r:", "c:"].filter((short) => new RegExp(`(^|[\\s(-])${short}`).test(request.query)),
    options.viewer ? "a viewer" : "everybody",
    ...(options.viewer?.repositoryIds.size === 0 ? ["a viewer of nothing"] : []),
    caseSensitive ? "case" : "no case",
    regex ? "regex" : "literals",
  ];
}

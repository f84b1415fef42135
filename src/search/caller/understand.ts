/** A request, checked and made a query: all that is known of it before it meets a catalog. */

import { atomsOf, namesRevision, type Query } from "../../query/ast.ts";
import { parseQuery } from "../../query/parse.ts";
import { simplify } from "../../query/simplify.ts";
import type { Plan } from "../messages/plan.ts";
import { planQuery, type HostAtom } from "./plan-query.ts";
import { checkRequest, type CheckedRequest, type SearchRequest } from "../messages/request.ts";
import { unknownContext } from "./scope.ts";

/**
 * Saved sets of repositories for `context:`: from a set's name to the names of its repositories;
 * undefined where there is no such set. Called once for each name in a query.
 *
 * @example
 * const saved = new Map([["payments", ["shop", "ledger"]]]);
 * const contexts: Contexts = (name) => saved.get(name);
 * const engine = await open("./index", { contexts });
 */
export type Contexts = (
  name: string,
) => Iterable<string> | undefined | Promise<Iterable<string> | undefined>;

export interface Understood {
  readonly request: CheckedRequest;
  readonly query: Query;
  readonly plan: Plan;
  readonly hostAtoms: readonly HostAtom[];
  readonly allRevisions: boolean;
  /** Of `rev:` atoms under no negation: which branches a result names. */
  readonly revisionValues: readonly string[];
  readonly contexts: ReadonlyMap<string, ReadonlySet<string>>;
}

export async function understand(
  given: SearchRequest,
  contexts: Contexts | undefined,
): Promise<Understood> {
  const request = checkRequest(given);
  const dialect = {
    regex: request.isRegexEnabled,
    caseSensitive: request.isCaseSensitivityEnabled,
  };
  const parsed = parseQuery(request.query, dialect);
  const query = simplify(parsed);
  return {
    request,
    query,
    ...planQuery(query),
    allRevisions: namesRevision(parsed),
    revisionValues: namedRevisions(parsed),
    contexts: await resolveContexts(parsed, contexts),
  };
}

async function resolveContexts(
  query: Query,
  contexts: Contexts | undefined,
): Promise<Map<string, ReadonlySet<string>>> {
  const resolved = new Map<string, ReadonlySet<string>>();
  for (const atom of atomsOf(query)) {
    if (atom.kind !== "context" || resolved.has(atom.name)) continue;
    const names = await contexts?.(atom.name);
    if (!names) throw unknownContext(atom.name);
    resolved.set(atom.name, new Set(names));
  }
  return resolved;
}

/** The values of `rev:` under no negation. Ask it of the query as parsed: simplifying may drop some. */
function namedRevisions(query: Query): string[] {
  if (query.kind === "and" || query.kind === "or") return query.children.flatMap(namedRevisions);
  if (query.kind === "not")
    return query.child.kind === "not" ? namedRevisions(query.child.child) : [];
  return query.kind === "revision" ? [query.value] : [];
}

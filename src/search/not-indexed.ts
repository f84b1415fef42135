/**
 * Which repositories a query names that cannot have answered in full. It takes the catalog and the
 * names alone: nothing is searched.
 */

import { conjuncts, isConstant, type Atom, type Query } from "../query/ast.ts";
import type { Catalog, CatalogRepository } from "../store/catalog.ts";
import type { SkippedFile } from "../store/records.ts";
import type { SearchOptions, SearchRequest, Viewer } from "./request.ts";
import type { Explanation } from "./response.ts";

/**
 * Under this name an opened engine has what explain() says in `notIndexed`, without the searches
 * that explain() makes. No part of the interface of engines: for quern/http.
 */
export const NOT_INDEXED = Symbol.for("quern.notIndexed");

export interface KnowsNotIndexed {
  [NOT_INDEXED](request: SearchRequest, options: SearchOptions): Promise<Explanation["notIndexed"]>;
}

export interface NamingQuestion {
  readonly query: Query;
  readonly catalog: Catalog;
  readonly viewer: Viewer | undefined;
  readonly contexts: ReadonlyMap<string, ReadonlySet<string>>;
  /** Repositories whose first index is under way. */
  readonly indexing: ReadonlySet<string>;
  readonly skipped: (repository: number) => readonly SkippedFile[];
  readonly matches: (atom: Extract<Atom, { kind: "regex" }>, text: string) => boolean;
}

/** Repositories the query names that cannot have answered in full. */
export function notIndexed(question: NamingQuestion): Explanation["notIndexed"] {
  const { query, catalog, viewer, indexing } = question;
  const admitted = conjuncts(query).filter(
    (part) => part.kind === "regex" && part.field === "file",
  );
  return namesOf(question).flatMap((name): Explanation["notIndexed"] => {
    const known = catalog.byName.get(name);
    if (!known && indexing.has(name) && !viewer) return [{ repository: name, reason: "indexing" }];
    if (!known || !isVisible(known, viewer)) return [{ repository: name, reason: "unknown" }];
    const skipped = question
      .skipped(known.record.id)
      .filter(({ path }) =>
        admitted.every((atom) => question.matches(atom as Extract<Atom, { kind: "regex" }>, path)),
      );
    return skipped.length > 0
      ? [{ repository: name, reason: "files-skipped", files: skipped.length }]
      : [];
  });
}

const isVisible = ({ record }: CatalogRepository, viewer: Viewer | undefined): boolean =>
  viewer?.repositoryIds.has(record.id) ?? true;

/** Exact names in the query, what `repo:` matches of the visible ones, and what it spells out where it matches none. */
function namesOf(question: NamingQuestion): string[] {
  const { query, catalog, viewer, contexts, indexing, matches } = question;
  const visible = [...catalog.repositories.values()].filter((one) => isVisible(one, viewer));
  const known = [...visible.map(({ record }) => record.name), ...(viewer ? [] : indexing)];
  const names = affirmedAtoms(query).flatMap((part): string[] => {
    if (part.kind === "reposet") return [...part.names];
    if (part.kind === "context") return [...contexts.get(part.name)!];
    if (part.kind !== "regex" || part.field !== "repo") return [];
    const matching = known.filter((name) => matches(part, name));
    return matching.length > 0 ? matching : plainName(part.pattern);
  });
  return [...new Set(names)].sort();
}

/** Under no negation; of alternatives all, for each may be what was meant. REQUIRES: no double negation, which simplifying removes. */
function affirmedAtoms(query: Query): Atom[] {
  if (query.kind === "and" || query.kind === "or") return query.children.flatMap(affirmedAtoms);
  return query.kind === "not" || isConstant(query) ? [] : [query];
}

/** The name that an expression spells out, if it does. */
function plainName(pattern: string): string[] {
  const inner = pattern.replace(/^\^/, "").replace(/\$$/, "");
  const plain = inner.replace(/\\([^A-Za-z0-9])/g, "$1");
  return /[\\()[\]{}*+?|^$]/.test(inner.replace(/\\[^A-Za-z0-9]/g, "")) || plain === ""
    ? []
    : [plain];
}

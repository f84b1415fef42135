/**
 * What to change about a query that finds nothing, and which repositories it names that are not
 * there: every suggestion has been tried before it is made.
 */

import { nearestLanguage, languageNamed } from "../base/languages.ts";
import { QuernError } from "../base/errors.ts";
import { show, type Atom, type Query } from "../query/ast.ts";
import { parseQuery } from "../query/parse.ts";
import type { Catalog, CatalogRepository } from "../store/catalog.ts";
import type { SkippedFile } from "../store/records.ts";
import type { ExplainedSegment } from "./explain-task.ts";
import type { CheckedRequest, SearchRequest, Viewer } from "./request.ts";
import type { Explanation } from "./response.ts";
import type { SearchStats } from "./stats.ts";

type Suggestion = Explanation["suggestions"][number];
export type Change = Omit<Suggestion, "totalMatchCount">;

/** Changes worth trying, best first. */
export function changesOf(request: CheckedRequest, query: Query): Change[] {
  const { isCaseSensitivityEnabled, isRegexEnabled } = request;
  const change = (kind: Suggestion["change"], changed: Partial<SearchRequest>): Change => ({
    change: kind,
    request: { ...request, ...changed },
  });
  const asQuery = (changed: Query) => ({ query: show(changed) });
  return [
    ...replacedLanguages(query).map((changed) => change("language", asQuery(changed))),
    ...(isCaseSensitivityEnabled
      ? [change("ignore-case", { isCaseSensitivityEnabled: false })]
      : []),
    ...(isRegexEnabled ? [change("literal", { isRegexEnabled: false })] : []),
    ...(!isRegexEnabled && parses(request) ? [change("regex", { isRegexEnabled: true })] : []),
    ...withoutOneFilter(query).map((changed) => change("drop-filter", asQuery(changed))),
    ...inAllRevisions(query).map((changed) => change("all-revisions", asQuery(changed))),
  ];
}

/** Whether the literal query is one in the other dialect as well. */
function parses({ query, isCaseSensitivityEnabled }: CheckedRequest): boolean {
  try {
    parseQuery(query, { regex: true, caseSensitive: isCaseSensitivityEnabled });
    return true;
  } catch (error) {
    if (error instanceof QuernError) return false;
    throw error;
  }
}

const conjuncts = (query: Query): readonly Query[] =>
  query.kind === "and" ? query.children : [query];

const isFilter = (query: Query): boolean =>
  query.kind === "not" ||
  (query.kind === "regex" && query.field !== "content" && query.field !== "symbol") ||
  ["language", "revision", "reposet", "context", "archived", "fork", "visibility"].includes(
    query.kind,
  );

function withoutOneFilter(query: Query): Query[] {
  const parts = conjuncts(query);
  if (parts.length < 2) return [];
  return parts.flatMap((part, i) => {
    if (!isFilter(part)) return [];
    const rest = parts.filter((_, other) => other !== i);
    return [rest.length === 1 ? rest[0]! : { kind: "and" as const, children: rest }];
  });
}

/** The query with `rev:*` for the revisions it names, if any. */
function inAllRevisions(query: Query): Query[] {
  const parts = conjuncts(query);
  if (parts.some((part) => part.kind === "revision" && part.value === "*")) return [];
  const rest = parts.filter((part) => part.kind !== "revision");
  const everywhere: Query = { kind: "revision", value: "*" };
  return rest.length === 0 ? [everywhere] : [{ kind: "and", children: [...rest, everywhere] }];
}

/** The query with each language nobody knows replaced by the nearest one. */
function replacedLanguages(query: Query): Query[] {
  const parts = conjuncts(query);
  return parts.flatMap((part, i) => {
    if (part.kind !== "language" || languageNamed(part.name) !== undefined) return [];
    const name = nearestLanguage(part.name);
    if (name === undefined) return [];
    const changed = parts.map((one, other): Query =>
      other === i ? { kind: "language", name } : one,
    );
    return [changed.length === 1 ? changed[0]! : { kind: "and" as const, children: changed }];
  });
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
  const names = conjuncts(query).flatMap((part): string[] => {
    if (part.kind === "reposet") return [...part.names];
    if (part.kind === "context") return [...contexts.get(part.name)!];
    if (part.kind !== "regex" || part.field !== "repo") return [];
    const matching = known.filter((name) => matches(part, name));
    return matching.length > 0 ? matching : plainName(part.pattern);
  });
  return [...new Set(names)].sort();
}

/** The name that an expression spells out, if it does. */
function plainName(pattern: string): string[] {
  const inner = pattern.replace(/^\^/, "").replace(/\$$/, "");
  const plain = inner.replace(/\\([^A-Za-z0-9])/g, "$1");
  return /[\\()[\]{}*+?|^$]/.test(inner.replace(/\\[^A-Za-z0-9]/g, "")) || plain === ""
    ? []
    : [plain];
}

/** Of a search that was stopped it is not known which segments were reached. */
export function outcomeOf(
  { candidateFiles }: Pick<ExplainedSegment, "candidateFiles">,
  isDamaged: boolean,
  { shardsSkipped }: SearchStats,
): Explanation["segments"][number]["outcome"] {
  if (isDamaged) return "damaged";
  if (candidateFiles === 0) return "skipped-by-filter";
  return shardsSkipped > 0 ? "not-reached" : "scanned";
}

/**
 * Finds repositories that a query names although they are missing or not completely indexed. Reads only the catalog; no
 * search runs.
 */

import { compareText } from "../../base/compare.ts";
import { sortInSlices } from "../../base/sort.ts";
import type { Pause } from "../../base/yield.ts";
import { conjuncts, isConstant, type Atom, type Query } from "../../query/ast.ts";
import {
  repositoryNamed,
  type Catalog,
  type CatalogRepository,
} from "../../store/catalog/catalog.ts";
import type { SkippedFile } from "../../store/format/records.ts";
import type { SearchOptions, SearchRequest, Viewer } from "../messages/request.ts";
import type { Explanation } from "../messages/response.ts";
import type { MatchTexts } from "./name-matcher.ts";
import { exactlyNamed, isVisible, visibleRepositories } from "./scope.ts";

/**
 * The key of an engine's method that returns which names in a query are unknown or not indexed yet. It is like
 * `notIndexed` of explain(), without searches and without skipped files. Internal, for quern/http.
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
  /** Repositories that are being indexed for the first time. */
  readonly indexing: ReadonlySet<string>;
  readonly skipped?: (repository: number) => Promise<readonly SkippedFile[]>;
  /** Awaited regularly. */
  readonly pause: Pause;
  readonly matching: MatchTexts;
}

/** Returns the repositories that the query names although they are missing or not completely indexed. */
export async function notIndexed(question: NamingQuestion): Promise<Explanation["notIndexed"]> {
  const { catalog, viewer, indexing } = question;
  const found: Explanation["notIndexed"] = [];
  for (const name of await namesOf(question)) {
    await question.pause();
    const known = repositoryNamed(catalog, name);
    if (!known && indexing.has(name) && !viewer)
      found.push({ repository: name, reason: "indexing" });
    else if (!known || !isVisible(known, viewer))
      found.push({ repository: name, reason: "unknown" });
    else if (question.skipped) {
      const files = await countSkipped(question, question.skipped, known);
      if (files > 0) found.push({ repository: name, reason: "files-skipped", files });
    }
  }
  return found;
}

type Expression = Extract<Atom, { kind: "regex" }>;

/** Counts the skipped files of a repository whose paths satisfy the query's `file:` filters. */
async function countSkipped(
  { query, matching, pause }: NamingQuestion,
  skipped: NonNullable<NamingQuestion["skipped"]>,
  { record }: CatalogRepository,
): Promise<number> {
  const admitted = conjuncts(query).filter(
    (part): part is Expression => part.kind === "regex" && part.field === "file",
  );
  let paths: readonly string[] = (await skipped(record.id)).map(({ path }) => path);
  for (const atom of admitted) {
    if (paths.length === 0) break;
    const matched = await matching(atom, paths, pause);
    paths = paths.filter((path) => matched.has(path));
  }
  return paths.length;
}

/**
 * Returns the exact names in the query and the visible names that `repo:` matches. If `repo:` matches none, returns the
 * only name that it can match, if there is one.
 */
async function namesOf(question: NamingQuestion): Promise<string[]> {
  const { query, contexts, pause } = question;
  const names = new Set<string>();
  for (const part of affirmedAtoms(query)) {
    if (part.kind === "reposet") for (const name of part.names) names.add(name);
    if (part.kind === "context") for (const name of contexts.get(part.name)!) names.add(name);
    if (part.kind !== "regex" || part.field !== "repo") continue;
    const named = await namesMatching(part, question);
    for (const name of named.size > 0 ? named : plainName(part.pattern)) names.add(name);
  }
  return sortInSlices([...names], compareText, pause);
}

/**
 * The maximum number of names that are tested at once. The first groups have 1, 2 and 4 names, because one match may be
 * enough.
 */
const NAMES_A_TEST = 256;

/**
 * Returns the names that the expression matches, of visible repositories and of those that are being indexed for the
 * first time. Stops at the first match unless the caller needs all.
 */
async function namesMatching(
  atom: Expression,
  question: NamingQuestion,
): Promise<ReadonlySet<string>> {
  const { catalog, viewer, indexing, matching, pause } = question;
  let names: string[] = viewer ? [] : [...indexing];
  let found: ReadonlySet<string> = await matching(atom, names, pause);
  names = [];
  let most = 1;
  const test = async () => {
    most = Math.min(2 * most, NAMES_A_TEST);
    found = new Set([...found, ...(await matching(atom, names, pause))]);
    names = [];
  };
  for (const one of exactlyNamed(catalog, atom.pattern) ?? visibleRepositories(catalog, viewer)) {
    if (found.size > 0 && !question.skipped) return found;
    if (isVisible(one, viewer) && names.push(one.record.name) === most) await test();
    await pause();
  }
  await test();
  return found;
}

/**
 * Returns all atoms that are not negated, in every alternative. REQUIRES: no double negation; simplify() removes
 * those.
 */
function affirmedAtoms(query: Query): Atom[] {
  if (query.kind === "and" || query.kind === "or") return query.children.flatMap(affirmedAtoms);
  return query.kind === "not" || isConstant(query) ? [] : [query];
}

/** Returns the only name that an expression can match, or nothing if it can match several. */
function plainName(pattern: string): string[] {
  const inner = pattern.replace(/^\^/, "").replace(/\$$/, "");
  const plain = inner.replace(/\\([^A-Za-z0-9])/g, "$1");
  return /[\\()[\]{}*+?|^$]/.test(inner.replace(/\\[^A-Za-z0-9]/g, "")) || plain === ""
    ? []
    : [plain];
}

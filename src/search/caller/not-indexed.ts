/**
 * Finds the repositories that a query names but that are missing or not completely indexed. This runs no search. It
 * reads only the catalog and, if the caller passes `skipped`, the lists of skipped files. A name that the query does
 * not contain is returned only if the viewer may see its repository. So a host may save names in a context that its
 * callers must not learn.
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
import type { Viewer } from "../messages/request.ts";
import type { Explanation } from "../messages/response.ts";
import type { MatchTexts } from "./name-matcher.ts";
import { exactlyNamed, isVisible, repositoriesNamed, visibleRepositories } from "./scope.ts";

export interface NamingQuestion {
  readonly query: Query;
  readonly catalog: Catalog;
  readonly viewer: Viewer | undefined;
  readonly contexts: ReadonlyMap<string, ReadonlySet<string>>;
  /** The names of the repositories that are being indexed for the first time. */
  readonly indexing: ReadonlySet<string>;
  readonly skipped?: (repository: number) => Promise<readonly SkippedFile[]>;
  /** Called and awaited at short intervals. */
  readonly pause: Pause;
  readonly matching: MatchTexts;
}

/** Returns the repositories that the query names but that are missing or not completely indexed. */
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

/**
 * Counts the skipped files of a repository. Counts only files whose paths match every `file:` filter at the top level
 * of the query.
 */
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
 * Returns the names in the query's `reposet:` sets, and the names of the visible repositories that its `context:` and
 * `repo:` filters select. If a `repo:` filter matches no repository and its expression is a plain name, returns that
 * name.
 */
async function namesOf(question: NamingQuestion): Promise<string[]> {
  const { query, catalog, viewer, contexts, pause } = question;
  const names = new Set<string>();
  for (const part of affirmedAtoms(query)) {
    if (part.kind === "reposet") for (const name of part.names) names.add(name);
    if (part.kind === "context")
      for (const one of repositoriesNamed(catalog, contexts.get(part.name)!))
        if (isVisible(one, viewer)) names.add(one.record.name);
    if (part.kind !== "regex" || part.field !== "repo") continue;
    const named = await namesMatching(part, question);
    for (const name of named.size > 0 ? named : plainName(part.pattern)) names.add(name);
  }
  return sortInSlices([...names], compareText, pause);
}

/**
 * Names are tested in groups of at most this many. The first groups have 1, 2 and 4 names, and so on, because the
 * caller may need only one match.
 */
const NAMES_A_TEST = 256;

/**
 * Returns the names that the expression matches. Tests the names of visible repositories and of those that are being
 * indexed for the first time. If the caller does not count skipped files, one match is enough, so the search for
 * names ends after the first group with a match.
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
 * Returns all atoms that are not negated, including those in every alternative of an `or`. REQUIRES: the query has no
 * double negation, because simplify() has removed any.
 */
function affirmedAtoms(query: Query): Atom[] {
  if (query.kind === "and" || query.kind === "or") return query.children.flatMap(affirmedAtoms);
  return query.kind === "not" || isConstant(query) ? [] : [query];
}

/**
 * Returns the name that an expression stands for, if it is a plain name with or without anchors. Returns an empty
 * array for any other expression.
 */
function plainName(pattern: string): string[] {
  const inner = pattern.replace(/^\^/, "").replace(/\$$/, "");
  const plain = inner.replace(/\\([^A-Za-z0-9])/g, "$1");
  return /[\\()[\]{}*+?|^$]/.test(inner.replace(/\\[^A-Za-z0-9]/g, "")) || plain === ""
    ? []
    : [plain];
}

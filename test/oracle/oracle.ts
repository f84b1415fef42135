/**
 * A complete search by brute force, through every file, atom and byte. It is written from
 * the description of a search's response. With the engine, it shares only the parser, the folding
 * table and the types of the response. It does not rank: files are sorted
 * by repository, path and branches.
 *
 * Where the description leaves room, the oracle assumes the following.
 * - `rev:` holds for a file that is in a revision that it names. With a `rev:` anywhere, all files of all
 *   revisions are searched. `branches` are the file's revisions that a `rev:` without negation names,
 *   or all of its revisions if that leaves none.
 * - A line is long by its bytes without the newline. A window grows to whole characters. If it
 *   reaches the end of its line, context lines follow; otherwise nothing does. Windows that touch are separate.
 */

import { QuernError } from "../../src/base/errors.ts";
import { atomsOf, namesRevision, type Atom, type Query } from "../../src/query/ast.ts";
import { parseQuery } from "../../src/query/parse.ts";
import {
  checkRequest,
  type CheckedRequest,
  type SearchRequest,
  type Viewer,
} from "../../src/search/messages/request.ts";
import type { FileResult } from "../../src/search/messages/response.ts";
import { filesOf, type Corpus, type CorpusRepository, type CorpusRevision } from "./corpus.ts";
import type { SearchedFile } from "./corpus.ts";
import { languageNamed } from "./language-names.ts";
import { chunksOf, decode, rangeOf } from "./positions.ts";
import { spansOfExpression, type Span } from "./re2.ts";
import { mergeSpans, spansOfLiteral } from "./spans.ts";

export interface OracleOptions {
  readonly viewer?: Viewer;
  /** Returns the repositories of a set, or undefined if there is no set of that name. */
  readonly contexts?: (name: string) => Iterable<string> | undefined;
  /**
   * The keys of files, best first; other files follow. The first `matches` ranges in this order are expected. If
   * absent, `matches` is not applied, because it depends on the ranking.
   */
  readonly ranked?: readonly string[];
}

export type ExpectedFile = Omit<FileResult, "webUrl" | "externalWebUrl"> & {
  readonly branches: string[];
};

export interface ExpectedResponse {
  /** The files, sorted by repository, path and branches. */
  readonly files: ExpectedFile[];
  readonly fileCount: number;
  readonly totalMatchCount: number;
  /** The number of ranges in `files`. */
  readonly actualMatchCount: number;
  /** The ids of the repositories in `files`, ascending. */
  readonly repositoryIds: number[];
  /** Whether the query has a `sym:`. An engine that lacks symbols cannot evaluate it for every file. */
  readonly asksForSymbols: boolean;
}

interface Scene {
  readonly repository: CorpusRepository;
  readonly file: SearchedFile;
  readonly contexts: ReadonlyMap<string, ReadonlySet<string>>;
  readonly found: Found;
}

/** The occurrences that were found in each content so far, because many files share a content. */
type Found = Map<Uint8Array, Map<Atom, Span[]>>;

/** A file that matches. `cut` returns the file with this number of its ranges. */
interface Result {
  readonly result: ExpectedFile;
  readonly count: number;
  readonly cut: (ranges: number) => ExpectedFile;
}

/** Evaluates a request. Throws INVALID_REQUEST, CONTEXT_NOT_FOUND and the parser's errors. */
export function evaluate(
  corpus: Corpus,
  request: SearchRequest,
  options: OracleOptions = {},
): ExpectedResponse {
  const checked = checkRequest(request);
  const dialect = {
    regex: checked.isRegexEnabled,
    caseSensitive: checked.isCaseSensitivityEnabled,
  };
  const query = parseQuery(checked.query, dialect);
  const contexts = resolveContexts(query, options);
  const visible = corpus.repositories.filter(
    ({ id }) => options.viewer?.repositoryIds.has(id) ?? true,
  );
  const found: Found = new Map();
  const results = visible.flatMap((repository) =>
    searched(repository, query)
      .map((file): Scene => ({ repository, file, contexts, found }))
      .filter((scene) => holds(query, scene))
      .map((scene) => resultOf(query, scene, checked)),
  );
  const returned = options.ranked
    ? limit(results, options.ranked, checked.matches)
    : results.map(({ result }) => result);
  const total = results.reduce((sum, { count }) => sum + count, 0);
  return {
    files: returned.sort(compareFiles),
    fileCount: results.length,
    totalMatchCount: total,
    asksForSymbols: [...atomsOf(query)].some(
      (atom) => atom.kind === "regex" && atom.field === "symbol",
    ),
    actualMatchCount: options.ranked ? Math.min(total, checked.matches) : total,
    repositoryIds: [...new Set(returned.map(({ repositoryId }) => repositoryId))].sort(
      (a, b) => a - b,
    ),
  };
}

/** Returns whole files until `matches` ranges are used up. The last file has as many ranges as are left. */
function limit(
  results: readonly Result[],
  ranked: readonly string[],
  matches: number,
): ExpectedFile[] {
  const byKey = new Map(results.map((one) => [fileKey(one.result), one]));
  const limited: ExpectedFile[] = [];
  let left = matches;
  for (const key of new Set([...ranked, ...byKey.keys()])) {
    const found = byKey.get(key);
    if (!found || left === 0) continue;
    limited.push(found.cut(left));
    left -= Math.min(left, found.count);
  }
  return limited;
}

function resolveContexts(query: Query, options: OracleOptions): Map<string, ReadonlySet<string>> {
  const resolved = new Map<string, ReadonlySet<string>>();
  for (const atom of atomsOf(query)) {
    if (atom.kind !== "context") continue;
    const names = options.contexts?.(atom.name);
    if (names === undefined) throw new QuernError("CONTEXT_NOT_FOUND", `no context ${atom.name}`);
    resolved.set(atom.name, new Set(names));
  }
  return resolved;
}

/** Returns the files to search: without `rev:`, only those of the default revision. */
function searched(repository: CorpusRepository, query: Query): SearchedFile[] {
  const files = filesOf(repository);
  if (namesRevision(query)) return files;
  const main = repository.revisions[0]!;
  return files
    .filter((file) => file.revisions.includes(main))
    .map((file) => ({ ...file, revisions: [main] }));
}

function holds(query: Query, scene: Scene): boolean {
  if (query.kind === "all") return true;
  if (query.kind === "none") return false;
  if (query.kind === "and") return query.children.every((child) => holds(child, scene));
  if (query.kind === "or") return query.children.some((child) => holds(child, scene));
  if (query.kind === "not") return !holds(query.child, scene);
  return atomHolds(query, scene);
}

function atomHolds(atom: Atom, scene: Scene): boolean {
  const { repository, file, contexts } = scene;
  switch (atom.kind) {
    case "literal":
    case "regex":
      return spansOf(atom, scene).length > 0;
    case "language":
      return file.language !== undefined && languageNamed(atom.name) === file.language;
    case "revision":
      return file.revisions.some((revision) => isNamed(atom.value, revision, repository));
    case "reposet":
      return atom.names.includes(repository.name);
    case "context":
      return contexts.get(atom.name)!.has(repository.name);
    case "archived":
    case "fork":
      return (
        atom.value === "yes" ||
        (repository.metadata[atom.kind] ?? false) === (atom.value === "only")
      );
    case "visibility":
      return (
        atom.value === "any" || (repository.metadata.public ?? false) === (atom.value === "public")
      );
    case "history":
      throw new Error("ordinary queries have no filters of the history");
  }
}

function isNamed(value: string, revision: CorpusRevision, repository: CorpusRepository): boolean {
  if (value === "HEAD") return revision === repository.revisions[0];
  return value === "*" || revision.name.includes(value) || revision.commit === value;
}

/** Returns where a literal or an expression occurs in the text to which it applies. */
function spansOf(atom: Atom, scene: Scene): Span[] {
  if (atom.kind !== "literal" && atom.kind !== "regex") return [];
  const { repository, file } = scene;
  const field = atom.kind === "literal" ? "content" : atom.field;
  if (field === "file") return search(atom, Buffer.from(file.path));
  if (field === "repo") return search(atom, Buffer.from(repository.name));
  if (file.skipped !== undefined) return [];
  if (field === "content") return spansInContent(atom, scene);
  return (file.symbols ?? []).flatMap(({ start, end }) =>
    search(atom, file.bytes.subarray(start, end)).map((span) => ({
      start: start + span.start,
      end: start + span.end,
    })),
  );
}

function spansInContent(atom: TextAtom, { file: { bytes }, found }: Scene): Span[] {
  const known = found.get(bytes) ?? new Map<Atom, Span[]>();
  const spans = known.get(atom) ?? search(atom, bytes);
  found.set(bytes, known.set(atom, spans));
  return spans;
}

type TextAtom = Extract<Atom, { kind: "literal" | "regex" }>;

function search(atom: TextAtom, text: Uint8Array): Span[] {
  return atom.kind === "literal"
    ? spansOfLiteral(atom.text, atom.caseSensitive, text)
    : spansOfExpression(atom.pattern, atom.caseSensitive, text);
}

/** Returns the atoms whose occurrences are shown: those that hold, in branches that hold, without negation. */
function shownAtoms(query: Query, scene: Scene): Atom[] {
  if (!holds(query, scene)) return [];
  if (query.kind === "and" || query.kind === "or")
    return query.children.flatMap((child) => shownAtoms(child, scene));
  if (query.kind === "not")
    return query.child.kind === "not" ? shownAtoms(query.child.child, scene) : [];
  return query.kind === "all" || query.kind === "none" ? [] : [query];
}

function resultOf(query: Query, scene: Scene, request: CheckedRequest): Result {
  const { repository, file } = scene;
  const atoms = shownAtoms(query, scene);
  const shown = (inName: boolean) =>
    mergeSpans(
      atoms
        .filter(
          (atom) => atom.kind === "literal" || (atom.kind === "regex" && atom.field !== "repo"),
        )
        .filter((atom) => (atom.kind === "regex" && atom.field === "file") === inName)
        .flatMap((atom) => spansOf(atom, scene)),
    );
  const path = Buffer.from(file.path);
  const content = shown(false);
  const named = shown(true);
  const nameSpans = content.length + named.length === 0 ? [{ start: 0, end: path.length }] : named;
  const nameRanges = nameSpans.map((span) => rangeOf(path, span));
  // only the ranges that count are cut
  const cut = (ranges: number): ExpectedFile => ({
    fileName: {
      text: file.path,
      matchRanges: content.length > 0 ? nameRanges : nameRanges.slice(0, ranges),
    },
    repository: repository.name,
    repositoryId: repository.id,
    language: file.language ?? "",
    chunks: chunksOf(file, content.slice(0, ranges), request),
    branches: branchesOf(query, scene),
    ...(request.whole && file.skipped === undefined ? { content: decode(file.bytes) } : {}),
  });
  return { result: cut(Infinity), count: content.length || nameSpans.length, cut };
}

function branchesOf(query: Query, { repository, file }: Scene): string[] {
  const values = namedRevisions(query);
  const named = file.revisions.filter((revision) =>
    values.some((value) => isNamed(value, revision, repository)),
  );
  return (named.length > 0 ? named : file.revisions).map(({ name }) => name);
}

/** Returns the values of `rev:` without negation. */
function namedRevisions(query: Query): string[] {
  if (query.kind === "and" || query.kind === "or") return query.children.flatMap(namedRevisions);
  if (query.kind === "not")
    return query.child.kind === "not" ? namedRevisions(query.child.child) : [];
  return query.kind === "revision" ? [query.value] : [];
}

/** Returns the key of a file. A revision has a path only once, so the branches distinguish two files of one path. */
export function fileKey(file: Pick<FileResult, "repository" | "fileName" | "branches">): string {
  return [file.repository, file.fileName.text, ...(file.branches ?? [])].join("\0");
}

export function compareFiles(
  a: Parameters<typeof fileKey>[0],
  b: Parameters<typeof fileKey>[0],
): number {
  const [left, right] = [fileKey(a), fileKey(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/**
 * Computes what the catalog alone determines about a search: which files are in scope, and which files satisfy an
 * atom about repositories or revisions. Each result is one bitset for each segment, in shared memory.
 *
 * This file caches the results that later searches on the same catalog may need. These are the sets of recent atoms,
 * the scopes of all repositories, and the scopes of each interned set of repositories.
 */

import { LruCache } from "../../base/lru-cache.ts";
import { hasBit, isEmpty, placeBits, wordsFor, type Bitset } from "../../base/bitset.ts";
import { QuernError } from "../../base/errors.ts";
import { getOrMake } from "../../base/get-or-make.ts";
import { isInterned } from "../../base/interned-sets.ts";
import type { Pause } from "../../base/yield.ts";
import {
  repositoryNamed,
  type Catalog,
  type CatalogRepository,
  type Place,
} from "../../store/catalog/catalog.ts";
import { asciiFolded } from "../../store/catalog/names.ts";
import type { RevisionRecord } from "../../store/format/records.ts";
import type { SegmentInput } from "../messages/messages.ts";
import type { HostAtom } from "../meaning/plan-query.ts";
import type { Viewer } from "../messages/request.ts";
import type { MatchTexts } from "./name-matcher.ts";

/** Everything that determines the scope of a search. */
export interface ScopeQuestion {
  readonly catalog: Catalog;
  readonly viewer: Viewer | undefined;
  readonly hostAtoms: readonly HostAtom[];
  /** True to search all revisions, false to search only the default revision of each repository. */
  readonly allRevisions: boolean;
  /** Finds the names of repositories that a `repo:` atom matches. */
  readonly matching: MatchTexts;
  /** Maps each name after `context:` to the names of the repositories in that set. */
  readonly contexts: ReadonlyMap<string, ReadonlySet<string>>;
  /** Called and awaited after each repository, because there may be thousands of repositories. */
  readonly pause: Pause;
}

/**
 * Returns the segments that have files in scope. The largest segment comes first, so that all threads finish at about
 * the same time.
 */
export async function segmentsInScope(question: ScopeQuestion): Promise<SegmentInput[]> {
  const { catalog, hostAtoms } = question;
  const scopes = await scopesOf(question);
  const segments = catalog.manifest.segments.filter(({ segment }) => scopes.has(segment));
  const sets: ReadonlyMap<number, Bitset>[] = [];
  for (const atom of hostAtoms) sets.push(await setsOf(atom, scopes, question));
  return segments
    .sort((a, b) => b.textBytes - a.textBytes || a.segment - b.segment)
    .map(({ segment, symbols }) => ({
      segment,
      symbols,
      scope: scopes.get(segment)!,
      sets: sets.map((one) => one.get(segment)!),
    }));
}

export const isVisible = ({ record }: CatalogRepository, viewer: Viewer | undefined): boolean =>
  viewer?.repositoryIds.has(record.id) ?? true;

type Scopes = ReadonlyMap<number, Bitset>;
type ScopeChoice = Pick<ScopeQuestion, "catalog" | "viewer" | "allRevisions" | "pause">;

/** Caches scopes by catalog, then by the interned set of visible repositories, then by `allRevisions`. */
const kept = new WeakMap<Catalog, WeakMap<object, Map<boolean, Scopes>>>();
const EVERYTHING = {};

async function scopesOf(question: ScopeChoice): Promise<Scopes> {
  const { catalog, viewer, allRevisions } = question;
  const seen = viewer?.repositoryIds;
  if (seen && !isInterned(seen)) return countScopes(question);
  const ofCatalog = getOrMake(kept, catalog, () => new WeakMap<object, Map<boolean, Scopes>>());
  const known = getOrMake(ofCatalog, seen ?? EVERYTHING, () => new Map<boolean, Scopes>());
  const scopes = known.get(allRevisions) ?? (await countScopes(question));
  known.set(allRevisions, scopes);
  return scopes;
}

async function countScopes({ catalog, viewer, allRevisions, pause }: ScopeChoice): Promise<Scopes> {
  const scopes = new Map<number, Bitset>();
  for (const repository of visibleRepositories(catalog, viewer)) {
    for (const place of repository.places) {
      const sets = allRevisions ? place.sets : place.sets.slice(0, 1);
      addPlace(scopes, catalog, place, sets);
    }
    await pause();
  }
  for (const [segment, scope] of scopes) if (isEmpty(scope)) scopes.delete(segment);
  return scopes;
}

/**
 * Yields the repositories that the viewer may see. If the viewer's set has fewer ids than the catalog has
 * repositories, this iterates over the ids.
 */
export function* visibleRepositories(
  { repositories }: Pick<Catalog, "repositories">,
  viewer: Viewer | undefined,
): Generator<CatalogRepository> {
  const seen = viewer?.repositoryIds;
  if (!(seen instanceof Set) || seen.size > repositories.size) {
    for (const one of repositories.values()) if (isVisible(one, viewer)) yield one;
    return;
  }
  for (const id of seen as ReadonlySet<number>) {
    const one = repositories.get(id);
    if (one && isVisible(one, viewer)) yield one;
  }
}

function addPlace(
  scopes: Map<number, Bitset>,
  catalog: Catalog,
  place: Place,
  sets: readonly (Bitset | undefined)[],
): void {
  let scope = scopes.get(place.segment);
  if (!scope)
    scopes.set(place.segment, (scope = sharedBitset(catalog.headers.get(place.segment)!.files)));
  for (const set of sets) if (set) placeBits(scope, place.first, set, place.count);
}

const sharedBitset = (size: number): Bitset =>
  new Uint32Array(new SharedArrayBuffer(4 * wordsFor(size)));

/**
 * Caches the most recently used sets of each catalog, by atom. A set is cached only when it is complete, because the
 * computation of a set stops when its search is aborted.
 */
const keptSets = new WeakMap<Catalog, LruCache<string, Scopes>>();
const newSetCache = () => new LruCache<string, Scopes>({ most: 32 });

/**
 * Returns a bitset for each segment in scope, with the files for which the atom is true. The result may include other
 * segments as well. The caller must not change the bitsets.
 */
async function setsOf(atom: HostAtom, scopes: Scopes, question: ScopeQuestion): Promise<Scopes> {
  const { catalog } = question;
  const few = namedBy(atom, question);
  if (few) return countSets(atom, few, scopes.keys(), question);
  const ofCatalog = getOrMake(keptSets, catalog, newSetCache);
  const key = JSON.stringify(atom);
  const known = ofCatalog.get(key);
  if (known) return known;
  const sets = await countAll(atom, question);
  ofCatalog.set(key, sets);
  return sets;
}

async function countAll(atom: HostAtom, question: ScopeQuestion): Promise<Scopes> {
  const { headers, repositories } = question.catalog;
  return countSets(atom, repositories.values(), headers.keys(), question);
}

/**
 * Returns the repositories whose exact names the atom gives. Returns undefined if the atom selects repositories in
 * any other way.
 */
function namedBy(
  atom: HostAtom,
  { catalog, contexts }: Pick<ScopeQuestion, "catalog" | "contexts">,
): CatalogRepository[] | undefined {
  switch (atom.kind) {
    case "reposet":
      return repositoriesNamed(catalog, atom.names);
    case "context":
      return repositoriesNamed(catalog, contexts.get(atom.name)!);
    case "repo":
      return exactlyNamed(catalog, atom.pattern);
    case "archived":
    case "fork":
    case "visibility":
    case "revision":
      return undefined;
  }
}

export function repositoriesNamed(catalog: Catalog, names: Iterable<string>): CatalogRepository[] {
  return Array.from(names, (name) => repositoryNamed(catalog, name)).filter((one) => !!one);
}

/**
 * Returns the repositories that the expression can match, if it is a complete name such as `^github\.com/acme/shop$`.
 * Returns undefined for any other expression.
 */
export function exactlyNamed(
  { names, repositories }: Catalog,
  pattern: string,
): CatalogRepository[] | undefined {
  const literal = /^\^((?:[\w/ -]|\\[!-/:-@[-^`{-~])+)\$$/.exec(pattern)?.[1];
  if (literal === undefined) return undefined;
  const ids = names.byFolded.get(asciiFolded(literal.replace(/\\(.)/g, "$1"))) ?? [];
  return ids.map((id) => repositories.get(id)!);
}

async function countSets(
  atom: HostAtom,
  repositories: Iterable<CatalogRepository>,
  segments: Iterable<number>,
  question: ScopeQuestion,
): Promise<Map<number, Bitset>> {
  const { headers } = question.catalog;
  const sets = new Map<number, Bitset>();
  for (const segment of segments) sets.set(segment, sharedBitset(headers.get(segment)!.files));
  const listed: CatalogRepository[] = [];
  const all: string[] = [];
  for (const repository of repositories) {
    listed.push(repository);
    all.push(repository.record.name);
    await question.pause();
  }
  const names = await namesOf(atom, all, question);
  for (const repository of listed) {
    const truth = truthOf(atom, repository, { names });
    for (const place of repository.places) {
      const set = sets.get(place.segment);
      place.sets.forEach((bits, revision) => {
        if (set && bits && truth[revision]) placeBits(set, place.first, bits, place.count);
      });
    }
    await question.pause();
  }
  return sets;
}

/**
 * Returns the names of the repositories that a `reposet:`, `context:` or `repo:` atom selects. Returns an empty set
 * for any other atom.
 */
export async function namesOf(
  atom: HostAtom,
  all: readonly string[],
  { contexts, matching, pause }: Pick<ScopeQuestion, "contexts" | "matching" | "pause">,
): Promise<ReadonlySet<string>> {
  if (atom.kind === "reposet") return new Set(atom.names);
  if (atom.kind === "context") return contexts.get(atom.name)!;
  if (atom.kind !== "repo") return new Set();
  return matching(atom, all, pause);
}

interface AtomQuestion {
  readonly names: ReadonlySet<string>;
}

/** For each revision of a repository, returns whether the atom is true for the files of that revision. */
export function truthOf(
  atom: HostAtom,
  { record }: CatalogRepository,
  question: AtomQuestion,
): boolean[] {
  if (atom.kind === "revision")
    return record.revisions.map((_, i) => isNamed(atom.value, record.revisions, i));
  const holds = holdsFor(atom, record, question);
  return record.revisions.map(() => holds);
}

/**
 * Returns whether `rev:value` selects the revision at `position`. The value may be a part of the revision's name, its
 * commit, `*` for any revision, or `HEAD` for the first one.
 */
function isNamed(value: string, revisions: readonly RevisionRecord[], position: number): boolean {
  const { name, commit } = revisions[position]!;
  if (value === "HEAD") return position === 0;
  return value === "*" || name.includes(value) || commit === value;
}

function holdsFor(
  atom: Exclude<HostAtom, { kind: "revision" }>,
  { name, metadata }: CatalogRepository["record"],
  { names }: AtomQuestion,
): boolean {
  switch (atom.kind) {
    case "repo":
    case "reposet":
    case "context":
      return names.has(name);
    case "archived":
    case "fork":
      return atom.value === "yes" || (metadata[atom.kind] ?? false) === (atom.value === "only");
    case "visibility":
      return atom.value === "any" || (metadata.public ?? false) === (atom.value === "public");
  }
}

/**
 * Returns the names of the searched revisions that contain a file. If `values`, which come from `rev:` filters,
 * select some of these revisions, returns only the selected ones.
 */
export function branchesOf(
  repository: CatalogRepository,
  at: { readonly segment: number; readonly file: number },
  question: { readonly values: readonly string[]; readonly allRevisions: boolean },
): string[] {
  const place = repository.places.find(({ segment }) => segment === at.segment)!;
  const { revisions } = repository.record;
  const searched = question.allRevisions ? revisions : revisions.slice(0, 1);
  const holding = searched.flatMap((_, i) => {
    const set = place.sets[i];
    return set && hasBit(set, at.file - place.first) ? [i] : [];
  });
  const named = holding.filter((i) =>
    question.values.some((value) => isNamed(value, revisions, i)),
  );
  return (named.length > 0 ? named : holding).map((i) => revisions[i]!.name);
}

export function unknownContext(name: string): QuernError {
  return new QuernError("CONTEXT_NOT_FOUND", `there is no search context ${JSON.stringify(name)}`);
}

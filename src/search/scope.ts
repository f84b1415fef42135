/**
 * What the catalog alone decides: which files are searched, and for which of them an atom about
 * repositories or revisions holds; as a bitset for each segment. Without a viewer and a `rev:` the
 * scope is the same for every search of one generation, so it is kept, in memory that threads share.
 */

import { emptyBitset, hasBit, isEmpty, placeBits, wordsFor, type Bitset } from "../base/bitset.ts";
import { QuernError } from "../base/errors.ts";
import type { Catalog, CatalogRepository, Place } from "../store/catalog.ts";
import type { RevisionRecord } from "../store/records.ts";
import type { SegmentInput } from "./messages.ts";
import type { HostAtom } from "./plan.ts";
import type { Viewer } from "./request.ts";

/** What the host is asked about repositories. */
export interface ScopeQuestion {
  readonly catalog: Catalog;
  readonly viewer: Viewer | undefined;
  readonly hostAtoms: readonly HostAtom[];
  /** Whether all revisions are searched, not the default ones alone. */
  readonly allRevisions: boolean;
  /** For repo: atoms; tests a repository's name. */
  readonly matchesName: (atom: Extract<HostAtom, { kind: "repo" }>, name: string) => boolean;
  /** Names of each `context:`, resolved. */
  readonly contexts: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Segments with files in scope, the largest first, so that threads end together. */
export function segmentsInScope(question: ScopeQuestion): SegmentInput[] {
  const { catalog, viewer, hostAtoms, allRevisions } = question;
  const scopes = viewer || allRevisions ? scopesOf(question) : defaultScopes(catalog);
  const segments = catalog.manifest.segments.filter(({ segment }) => scopes.has(segment));
  const truths = hostAtoms.map(() => new Map<number, readonly boolean[]>());
  return segments
    .sort((a, b) => b.textBytes - a.textBytes || a.segment - b.segment)
    .map(({ segment, symbols }) => ({
      segment,
      symbols,
      scope: scopes.get(segment)!,
      sets: hostAtoms.map((atom, i) => setOf(atom, segment, question, truths[i]!)),
    }));
}

const kept = new WeakMap<Catalog, Map<number, Bitset>>();

function defaultScopes(catalog: Catalog): Map<number, Bitset> {
  let scopes = kept.get(catalog);
  if (!scopes) {
    scopes = scopesOf({ catalog, viewer: undefined, allRevisions: false });
    kept.set(catalog, scopes);
  }
  return scopes;
}

function scopesOf({
  catalog,
  viewer,
  allRevisions,
}: Pick<ScopeQuestion, "catalog" | "viewer" | "allRevisions">): Map<number, Bitset> {
  const scopes = new Map<number, Bitset>();
  for (const [id, { places }] of catalog.repositories) {
    if (viewer && !viewer.repositoryIds.has(id)) continue;
    for (const place of places) {
      const sets = allRevisions ? place.sets : place.sets.slice(0, 1);
      addPlace(scopes, catalog, place, sets);
    }
  }
  for (const [segment, scope] of scopes) if (isEmpty(scope)) scopes.delete(segment);
  return scopes;
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

/** The files of a segment for which the atom holds. */
function setOf(
  atom: HostAtom,
  segment: number,
  question: ScopeQuestion,
  known: Map<number, readonly boolean[]>,
): Bitset {
  const { catalog } = question;
  const set = emptyBitset(catalog.headers.get(segment)!.files);
  for (const [id, repository] of catalog.repositories) {
    const place = repository.places.find((one) => one.segment === segment);
    if (!place) continue;
    let truth = known.get(id);
    if (!truth) known.set(id, (truth = truthOf(atom, repository, question)));
    place.sets.forEach((bits, revision) => {
      if (bits && truth[revision]) placeBits(set, place.first, bits, place.count);
    });
  }
  return set;
}

/** For each revision of a repository whether the atom holds for its files. */
function truthOf(
  atom: HostAtom,
  { record }: CatalogRepository,
  question: ScopeQuestion,
): boolean[] {
  if (atom.kind === "revision")
    return record.revisions.map((_, i) => isNamed(atom.value, record.revisions, i));
  const holds = holdsFor(atom, record, question);
  return record.revisions.map(() => holds);
}

/** Whether `rev:value` names the revision at a position: part of its name, all, the default one, or its commit. */
export function isNamed(
  value: string,
  revisions: readonly RevisionRecord[],
  position: number,
): boolean {
  const { name, commit } = revisions[position]!;
  if (value === "HEAD") return position === 0;
  return value === "*" || name.includes(value) || commit === value;
}

function holdsFor(
  atom: Exclude<HostAtom, { kind: "revision" }>,
  { name, metadata }: CatalogRepository["record"],
  { matchesName, contexts }: ScopeQuestion,
): boolean {
  switch (atom.kind) {
    case "repo":
      return matchesName(atom, name);
    case "reposet":
      return atom.names.includes(name);
    case "context":
      return contexts.get(atom.name)!.has(name);
    case "archived":
    case "fork":
      return atom.value === "yes" || (metadata[atom.kind] ?? false) === (atom.value === "only");
    case "visibility":
      return atom.value === "any" || (metadata.public ?? false) === (atom.value === "public");
  }
}

/** Names of the revisions that hold a file: those that `values` name, or without any the searched ones. */
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

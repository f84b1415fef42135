/**
 * What the catalog alone decides: which files are searched, and for which of them an atom about
 * repositories or revisions holds; as a bitset for each segment. Without a viewer and a `rev:` the
 * scope is the same for every search of one generation, so it is kept, in memory that threads share.
 */

import {
  emptyBitset,
  hasBit,
  isEmpty,
  placeBits,
  wordsFor,
  type Bitset,
} from "../../base/bitset.ts";
import { QuernError } from "../../base/errors.ts";
import type { Pause } from "../../base/yield.ts";
import type { Catalog, CatalogRepository, Place } from "../../store/catalog/catalog.ts";
import type { RevisionRecord } from "../../store/format/records.ts";
import type { SegmentInput } from "../messages/messages.ts";
import type { HostAtom } from "../meaning/plan-query.ts";
import type { Viewer } from "../messages/request.ts";
import type { MatchTexts } from "./name-matcher.ts";

/** What the host is asked about repositories. */
export interface ScopeQuestion {
  readonly catalog: Catalog;
  readonly viewer: Viewer | undefined;
  readonly hostAtoms: readonly HostAtom[];
  /** Whether all revisions are searched, not the default ones alone. */
  readonly allRevisions: boolean;
  /** For repo: atoms. */
  readonly matching: MatchTexts;
  /** Names of each `context:`, resolved. */
  readonly contexts: ReadonlyMap<string, ReadonlySet<string>>;
  /** Awaited after each repository: there may be thousands. */
  readonly pause: Pause;
}

/** Segments with files in scope, the largest first, so that threads end together. */
export async function segmentsInScope(question: ScopeQuestion): Promise<SegmentInput[]> {
  const { catalog, viewer, hostAtoms, allRevisions, pause } = question;
  const scopes =
    viewer || allRevisions ? await scopesOf(question) : await defaultScopes(catalog, pause);
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

const kept = new WeakMap<Catalog, Map<number, Bitset>>();

async function defaultScopes(catalog: Catalog, pause: Pause): Promise<Map<number, Bitset>> {
  let scopes = kept.get(catalog);
  if (!scopes) {
    scopes = await scopesOf({ catalog, viewer: undefined, allRevisions: false, pause });
    kept.set(catalog, scopes);
  }
  return scopes;
}

async function scopesOf({
  catalog,
  viewer,
  allRevisions,
  pause,
}: Pick<ScopeQuestion, "catalog" | "viewer" | "allRevisions" | "pause">): Promise<
  Map<number, Bitset>
> {
  const scopes = new Map<number, Bitset>();
  for (const repository of catalog.repositories.values()) {
    if (!isVisible(repository, viewer)) continue;
    for (const place of repository.places) {
      const sets = allRevisions ? place.sets : place.sets.slice(0, 1);
      addPlace(scopes, catalog, place, sets);
    }
    await pause();
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

/** The files for which the atom holds, of each segment in scope. */
async function setsOf(
  atom: HostAtom,
  scopes: ReadonlyMap<number, Bitset>,
  question: ScopeQuestion,
): Promise<Map<number, Bitset>> {
  const { headers, repositories } = question.catalog;
  const sets = new Map<number, Bitset>();
  for (const segment of scopes.keys()) sets.set(segment, emptyBitset(headers.get(segment)!.files));
  const names = await namesOf(atom, question);
  for (const repository of repositories.values()) {
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

/** The repositories that an atom names one by one; for all other atoms none. */
async function namesOf(
  atom: HostAtom,
  { catalog, contexts, matching, pause }: ScopeQuestion,
): Promise<ReadonlySet<string>> {
  if (atom.kind === "reposet") return new Set(atom.names);
  if (atom.kind === "context") return contexts.get(atom.name)!;
  if (atom.kind !== "repo") return new Set();
  const names = [...catalog.repositories.values()].map(({ record }) => record.name);
  return matching(atom, names, pause);
}

interface AtomQuestion {
  readonly names: ReadonlySet<string>;
}

/** For each revision of a repository whether the atom holds for its files. */
function truthOf(atom: HostAtom, { record }: CatalogRepository, question: AtomQuestion): boolean[] {
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

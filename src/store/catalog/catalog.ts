/**
 * One generation of the index in memory: manifest, repositories, and which files their revisions
 * name: one bit a file and revision. Loading the next generation reads only what has changed.
 */

import { unpack } from "msgpackr";
import { countBits, wordsFor, type Bitset } from "../../base/bitset.ts";
import { wordsOf } from "../../base/growable.ts";
import { internOwnSet } from "../../base/interned-sets.ts";
import { IdMap } from "../../base/wide-map.ts";
import type { Pause } from "../../base/yield.ts";
import type { Snapshot } from "../lmdb/environment.ts";
import { repositoryKey, revisionKey, skippedKey } from "../format/format.ts";
import { decodeSkipped } from "../format/skipped-files.ts";
import { readManifestInSlices, type Manifest } from "./manifest.ts";
import { orderNames, type Named, type Names } from "./names.ts";
import type { RepositoryRecord, SkippedFile } from "../format/records.ts";
import { corrupt } from "../format/sealed.ts";
import {
  filesOfRepository,
  readHeaderInSlices,
  type SegmentHeader,
} from "../segments/segment-tables.ts";

export interface Catalog {
  readonly manifest: Manifest;
  /** By number, ascending. */
  readonly repositories: IdMap<CatalogRepository>;
  readonly names: Names;
  /** Ids of the public ones: the same set as long as it holds the same ids. */
  readonly publicIds: ReadonlySet<number>;
  readonly headers: ReadonlyMap<number, SegmentHeader>;
}

export interface CatalogRepository {
  readonly record: RepositoryRecord;
  /** Generation in which it changed last. */
  readonly changed: number;
  readonly places: readonly Place[];
}

/** A repository's files in one segment, and which of them its revisions name. */
export interface Place {
  readonly segment: number;
  readonly first: number;
  readonly count: number;
  /** By position in record.revisions; absent where the revision names none of them. */
  readonly sets: readonly (Bitset | undefined)[];
}

/** Reads the newest generation that `snapshot` sees. */
export async function loadCatalog(
  snapshot: Snapshot,
  before: Catalog | undefined,
  pause: Pause,
): Promise<Catalog> {
  const manifest = await readManifestInSlices(snapshot, pause);
  if (before?.manifest.generation === manifest.generation) return before;
  const headers = await loadHeaders(snapshot, { manifest, before, pause });
  const repositories = await IdMap.from(
    readRepositories(snapshot, { manifest, before, headers }),
    manifest.nextRepository,
    pause,
  );
  const loaded = { manifest, repositories, headers };
  return { ...loaded, ...(await namesAndPublicIds(loaded, before, pause)) };
}

/** One by one, as they are asked for. */
function* readRepositories(
  snapshot: Snapshot,
  {
    manifest,
    before,
    headers,
  }: Pick<Catalog, "manifest" | "headers"> & { before?: Catalog | undefined },
): Generator<[id: number, repository: CatalogRepository]> {
  for (const [id, changed] of manifest.repositories) {
    const known = before?.repositories.get(id);
    const isCurrent = known?.changed === changed;
    yield [id, isCurrent ? known : readRepository(snapshot, id, changed, headers)];
  }
}

async function loadHeaders(
  snapshot: Snapshot,
  { manifest, before, pause }: { manifest: Manifest; before: Catalog | undefined; pause: Pause },
): Promise<Catalog["headers"]> {
  const headers = new Map<number, SegmentHeader>();
  for (const { segment } of manifest.segments) {
    const header =
      before?.headers.get(segment) ?? (await readHeaderInSlices(snapshot, segment, pause));
    if (!header) throw corrupt(`segment ${segment} is not there`);
    headers.set(segment, header);
    await pause();
  }
  return headers;
}

/** Those of the catalog before, as long as they are the same. */
async function namesAndPublicIds(
  { manifest, repositories }: Pick<Catalog, "manifest" | "repositories">,
  before: Catalog | undefined,
  pause: Pause,
): Promise<Pick<Catalog, "names" | "publicIds">> {
  const named: Named[] = [];
  const publicIds = new Set<number>();
  let isSame = before?.repositories.size === repositories.size;
  for (const [id, one] of repositories) {
    const known = before?.repositories.get(id);
    isSame &&= known !== undefined && (known === one || hasSameNames(known, one));
    named.push(namedIn(one));
    if (one.record.metadata.public === true) publicIds.add(id);
    await pause();
  }
  return {
    names:
      before && isSame ? before.names : await orderNames(named, manifest.nextRepository, pause),
    publicIds: internOwnSet(publicIds),
  };
}

function readRepository(
  snapshot: Snapshot,
  id: number,
  changed: number,
  headers: ReadonlyMap<number, SegmentHeader>,
): CatalogRepository {
  const value = snapshot.get(repositoryKey(id), `the record of repository ${id}`);
  if (!value) throw corrupt(`the record of repository ${id}`);
  const record = unpack(value) as RepositoryRecord;
  const places = record.segments.map((segment): Place => {
    const header = headers.get(segment);
    const range = header && filesOfRepository(header, id);
    if (!range) throw corrupt(`repository ${id} has no files in segment ${segment}`);
    const sets = record.revisions.map(({ number }) => {
      const bits = snapshot.get(revisionKey(id, segment, number), `a revision of repository ${id}`);
      if (bits && bits.length !== 4 * wordsFor(range.count))
        throw corrupt(`a revision of repository ${id}`);
      return bits && wordsOf(bits);
    });
    return { segment, first: range.first, count: range.count, sets };
  });
  mustNameAll(record, places);
  return { record, changed, places };
}

/** Finds a repository by its name, without reading any other. */
export function repositoryNamed(
  { names, repositories }: Catalog,
  name: string,
): CatalogRepository | undefined {
  const id = names.byName.get(name);
  return id === undefined ? undefined : repositories.get(id);
}

const namedIn = ({ record: { id, name, metadata } }: CatalogRepository): Named => ({
  id,
  name,
  displayName: metadata.displayName,
});

function hasSameNames(a: CatalogRepository, b: CatalogRepository): boolean {
  const [one, other] = [namedIn(a), namedIn(b)];
  return one.name === other.name && one.displayName === other.displayName;
}

/** A set that is not there is empty: where a damaged tree has lost one, only the count tells. */
function mustNameAll({ id, revisions }: RepositoryRecord, places: readonly Place[]): void {
  revisions.forEach(({ files }, i) => {
    let named = 0;
    for (const { sets } of places) if (sets[i]) named += countBits(sets[i]);
    if (named !== files) throw corrupt(`a revision of repository ${id}`);
  });
}

/** Files that are listed and not searchable. REQUIRES: the snapshot stays open until then. */
export async function readSkipped(
  snapshot: Snapshot,
  repository: number,
  pause: Pause,
): Promise<SkippedFile[]> {
  const what = `the skipped files of repository ${repository}`;
  const value = snapshot.get(skippedKey(repository), what);
  return value ? decodeSkipped(value, what, pause) : [];
}

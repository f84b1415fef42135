/**
 * Loads one generation of the index into memory: the manifest, the repositories, and the files of their
 * revisions, as one bit for each file and revision. Loading the next generation reads only what has changed.
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
  /** The repositories by id, ascending. */
  readonly repositories: IdMap<CatalogRepository>;
  readonly names: Names;
  /** The ids of public repositories, as an interned set (interned-sets.ts). */
  readonly publicIds: ReadonlySet<number>;
  readonly headers: ReadonlyMap<number, SegmentHeader>;
}

export interface CatalogRepository {
  readonly record: RepositoryRecord;
  /** The generation in which the repository changed last. */
  readonly changed: number;
  readonly places: readonly Place[];
}

/** A repository's range of files in one segment, and the sets of files of its revisions. */
export interface Place {
  readonly segment: number;
  readonly first: number;
  readonly count: number;
  /** The files of each revision, by position in record.revisions. Undefined if a revision has none of them. */
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

/** Reads repositories one by one, as they are requested. */
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

/** Returns the names and public ids. Reuses those of `before` if they have not changed. */
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

/** Throws INDEX_CORRUPT if a revision has lost files. A missing set counts as empty, so only the total tells. */
function mustNameAll({ id, revisions }: RepositoryRecord, places: readonly Place[]): void {
  revisions.forEach(({ files }, i) => {
    let named = 0;
    for (const { sets } of places) if (sets[i]) named += countBits(sets[i]);
    if (named !== files) throw corrupt(`a revision of repository ${id}`);
  });
}

/** Reads the skipped files of a repository. REQUIRES: the snapshot stays open until it resolves. */
export async function readSkipped(
  snapshot: Snapshot,
  repository: number,
  pause: Pause,
): Promise<SkippedFile[]> {
  const what = `the skipped files of repository ${repository}`;
  const value = snapshot.get(skippedKey(repository), what);
  return value ? decodeSkipped(value, what, pause) : [];
}

/**
 * Updates a data directory to given generations of shards. The update first fetches the missing segments and symbols,
 * and stores them under numbers to which no manifest refers yet. Then it publishes all of them in one transaction.
 * Until that transaction, searches of the directory see the earlier generations. Superseded data stays for RETIRE_MS,
 * as after a merge.
 *
 * The directory may hold only some slices of a shard. In that case, it has only the segments of those slices, and the
 * record of a revision counts only the files in those segments.
 */

import { pack } from "msgpackr";
import type { Catalog } from "../catalog/catalog.ts";
import type { Damage } from "../catalog/damage.ts";
import type { PublishedSegment, PublishedState, ShardHead } from "../catalog/head.ts";
import { fetchExtra, type RepositoryExtra } from "../objects/repository-object.ts";
import {
  deleteSegment,
  deleteSymbols,
  fetchSegment,
  fetchSegmentTables,
  fetchSymbols,
  fetchSymbolsHeader,
} from "../objects/segment-object.ts";
import type { SegmentStore } from "../objects/segment-store.ts";
import {
  nextManifest,
  putManifest,
  readManifest,
  type Manifest,
  type ManifestSegment,
} from "../../store/catalog/manifest.ts";
import {
  repositoryKey,
  repositoryRanges,
  RETIRE_MS,
  revisionKey,
  skippedKey,
  versionsKey,
} from "../../store/format/format.ts";
import type { RevisionRecord } from "../../store/format/records.ts";
import { readHeader } from "../../store/segments/segment-tables.ts";
import { RepositoryList } from "../../store/catalog/repository-list.ts";
import { deleteLeftovers } from "../../store/upkeep/leftovers.ts";
import type { Environment, Snapshot, Writer } from "../../store/lmdb/environment.ts";
import { checkLease } from "../../store/lmdb/lease.ts";
import { countBits } from "../../base/bitset.ts";
import { wordsOf } from "../../base/growable.ts";
import { DamagedObjects } from "./damaged-objects.ts";
import { eachOf } from "./each-of.ts";
import {
  hasSegment,
  isSameSlices,
  needsOne,
  putContents,
  readContents,
  reading,
  type Contents,
  type LocalSegment,
  type Slices,
} from "./contents.ts";

export interface Bringing {
  readonly environment: Environment;
  /** The owner of the directory's write lease. */
  readonly owner: string;
  readonly catalog: Pick<Catalog, "states">;
  readonly store: SegmentStore;
  readonly damage: Pick<Damage, "report">;
  /**
   * The oldest generation of the directory that searches may still read. By default, searches are assumed to read a
   * superseded generation for RETIRE_MS at most.
   */
  readonly oldestHeld?: number;
  /**
   * Whether to delete superseded data before new data is fetched, for a disk that is too small for both. REQUIRES: no
   * other process searches the directory.
   */
  readonly evicts?: boolean;
  /**
   * Whether to fetch only the tables of segments. complete.ts fetches the rest later. REQUIRES: no search runs in the
   * directory, and all calls for the directory have the same value.
   */
  readonly tablesOnly?: boolean;
}

/** A shard at a generation. If `own` is given, only these slices of the shard are wanted. */
export interface WantedShard extends ShardHead {
  readonly own?: Slices;
}

/** A segment that the directory is to have, and its number in the directory. */
interface Wanted {
  readonly published: PublishedSegment;
  readonly local: LocalSegment;
  /**
   * The segment as the directory already has it, perhaps with older symbols. Undefined if the directory lacks the
   * segment.
   */
  readonly before: LocalSegment | undefined;
}

/** The state of a repository with its data, and with the local numbers of its segments. */
interface Arriving {
  readonly state: PublishedState;
  readonly extra: RepositoryExtra;
  /** Returns the local number of a segment of the shard, or undefined if its slice is not wanted. */
  readonly numberOf: (segment: number) => number | undefined;
  /** Whether the directory of a writer does without a part of the repository, because an object is damaged. */
  readonly isPartial: boolean;
}

/**
 * Updates the directory. Resolves when the directory holds exactly the wanted generations. Rejects with ObjectsDamaged
 * if that needs damaged objects; the directory then holds what it held before. REQUIRES: nobody else writes to the
 * directory during the call.
 */
export async function bringTo(
  bringing: Bringing,
  wantedShards: readonly WantedShard[],
): Promise<void> {
  const { environment, owner, oldestHeld = Infinity, evicts } = bringing;
  const retireMs = evicts ? -Infinity : RETIRE_MS; // with -Infinity, data of any age is deleted
  const heads = wantedShards.map(withOwnSegments);
  await deleteLeftovers(environment, owner, { oldestHeld, retireMs });
  const before = reading(environment, (snapshot) => ({
    contents: readContents(snapshot),
    manifest: readManifest(snapshot),
  }));
  if (isAt(before, heads)) return;
  const wanted = place(before, heads, bringing.tablesOnly ?? false);
  await fetchMissing(bringing, wanted);
  const arriving = await fetchStates(bringing, before, heads, wanted);
  const fetched = wanted.filter((one) => !one.before);
  await environment.texts.sync(fetched.map(({ local }) => local.here));
  await environment.write((writer) => {
    checkLease(writer, owner);
    name(writer, { heads, wanted, arriving });
  });
}

function withOwnSegments(one: WantedShard): WantedShard {
  const { own, segments } = one;
  if (!own) return one;
  const { without = [] } = own;
  const isOwn = (published: PublishedSegment): boolean =>
    hasSegment(own, published.segment) && !needsOne(published, without);
  return { ...one, segments: segments.filter(isOwn) };
}

export interface Before {
  readonly contents: Contents;
  readonly manifest: Manifest;
}

/** Whether the directory holds exactly these generations, without later changes of an index run. */
function isAt({ contents, manifest }: Before, heads: readonly WantedShard[]): boolean {
  const shards = new Map(contents.shards.map((one) => [one[0], one]));
  const isSame =
    shards.size === heads.length &&
    heads.every(({ shard, generation, own }) => {
      const here = shards.get(shard);
      return here?.[1] === generation && isSameSlices(here[2], own);
    });
  return isSame && isUnchanged({ contents, manifest });
}

/**
 * Whether the directory is still as its last update or publication has left it, without later changes of an index
 * run.
 */
export function isUnchanged({ contents, manifest }: Before): boolean {
  const symbols = new Map(contents.segments.map((one) => [one.here, one.symbols]));
  return (
    contents.here.equals(manifest.repositories) &&
    symbols.size === manifest.segments.length &&
    manifest.segments.every((one) => symbols.get(one.segment) === one.symbols)
  );
}

/**
 * Assigns a local number to each segment. A segment that the directory already has keeps its number, and any other
 * segment gets the next unused number. If an index run has changed a segment or merged it away, the segment gets a
 * new number. This is necessary because threads cache data under the numbers of segments and editions.
 */
function place(
  { contents, manifest }: Before,
  heads: readonly ShardHead[],
  tablesOnly: boolean,
): Wanted[] {
  const named = new Map(manifest.segments.map((one) => [one.segment, one.symbols]));
  const same = contents.segments.filter(({ here, symbols }) => named.get(here) === symbols);
  const known = new Map(same.map((one) => [keyOf(one), one]));
  let next = manifest.nextSegment;
  return heads.flatMap(({ shard, segments }) =>
    segments.map((published): Wanted => {
      const { segment, object, bytes, symbols, symbolsObject } = published;
      const before = known.get(keyOf({ shard, segment }));
      const here = before?.here ?? next++;
      const isPartial = before ? before.isPartial : tablesOnly;
      const local = { shard, segment, here, object, bytes, symbols, symbolsObject, isPartial };
      return { published, local, before };
    }),
  );
}

const keyOf = ({ shard, segment }: Pick<LocalSegment, "shard" | "segment">): string =>
  `${shard}/${segment}`;

async function fetchMissing(
  { environment, store, damage }: Bringing,
  wanted: readonly Wanted[],
): Promise<void> {
  const damaged = new DamagedObjects();
  await eachOf(wanted, async ({ local, before }) => {
    const { here: segment, object, bytes, symbols: edition, symbolsObject, isPartial } = local;
    const as = (key: string) => ({ object: key, shard: local.shard, segment: local.segment });
    if (!before) {
      await deleteSegment(environment, segment); // deletes the values that an interrupted fetch has left
      const fetch = isPartial ? fetchSegmentTables : fetchSegment;
      const of = { key: object, segment, bytes };
      await damaged.orDamaged(as(object), () => fetch(environment, of, store));
    }
    if (symbolsObject === undefined || before?.symbolsObject === symbolsObject) return;
    await deleteSymbols(environment, { segment, edition });
    const fetch = isPartial ? fetchSymbolsHeader : fetchSymbols;
    const of = { key: symbolsObject, segment, edition };
    await damaged.orDamaged(as(symbolsObject), () => fetch(environment, of, store));
  });
  await damaged.check(damage);
}

/** The repositories whose states were fetched. */
interface Arrived {
  /** The states that are not stored yet. They are stored in the transaction that makes them visible. */
  readonly states: readonly Arriving[];
  /**
   * The ids of all repositories whose states were fetched. States that are not in `states` are already stored, but no
   * manifest refers to their repositories yet.
   */
  readonly ids: readonly number[];
}

/**
 * Fetches the states that this directory lacks, and those that an index run in the directory has changed. Also fetches
 * the states that refer to segments whose numbers have changed.
 */
async function fetchStates(
  { environment, owner, catalog, store, damage }: Bringing,
  before: Before,
  heads: readonly WantedShard[],
  wanted: readonly Wanted[],
): Promise<Arrived> {
  const numbers = new Map(wanted.map(({ local }) => [keyOf(local), local.here]));
  const { repositories: named } = before.manifest;
  const moved = reading(environment, (snapshot) => movedRepositories(snapshot, before));
  const kept: Arriving[] = [];
  const ids: number[] = [];
  for (const [head, missing] of missingStates(before, heads, moved)) {
    const { shard, repositories } = head;
    const numberOf = (segment: number) => numbers.get(keyOf({ shard, segment }));
    ids.push(...missing);
    const pairs = missing.map((id) => [id, repositories.get(id)!] as const);
    for await (const states of catalog.states(pairs, { hasExtra: true })) {
      const arriving: Arriving[] = [];
      const damaged = new DamagedObjects();
      await eachOf(states, async (state) => {
        const { extra: key } = state;
        const as = { object: String(key), shard, segment: undefined };
        if (typeof key === "string" && head.own?.without?.includes(key))
          return void arriving.push({ state, ...WITHOUT_EXTRA });
        const extra = await damaged.orDamaged(as, () => fetchExtra(key, store));
        const isPartial =
          head.own?.without !== undefined &&
          state.record.segments.some((segment) => numberOf(segment) === undefined);
        if (extra) arriving.push({ state, numberOf, extra, isPartial });
      });
      await damaged.check(damage);
      const isNew = ({ state }: Arriving): boolean => named.get(state.repository) === undefined;
      const isLast = missing.length === states.length;
      kept.push(...arriving.filter((one) => isLast || !isNew(one)));
      if (isLast) continue;
      // one transaction for all states would need the memory of a whole catalog; no search reads them before the
      // manifest refers to them
      await environment.write((writer) => {
        checkLease(writer, owner);
        for (const one of arriving.filter(isNew)) replaceState(writer, one);
      });
    }
  }
  return { states: kept, ids };
}

/**
 * Returns the repositories of the segments whose symbols an index run has changed. The index run did not change the
 * records of these repositories, but place() gives their segments new numbers.
 */
function movedRepositories(snapshot: Snapshot, { contents, manifest }: Before): number[] {
  const symbols = new Map(contents.segments.map((one) => [one.here, one.symbols]));
  return manifest.segments
    .filter((one) => symbols.has(one.segment) && symbols.get(one.segment) !== one.symbols)
    .flatMap(({ segment }) => [...(readHeader(snapshot, segment)?.repositories.numbers ?? [])]);
}

/**
 * Yields, for each shard, the ids of the repositories whose states are to be fetched. `moved` contains the
 * repositories whose segments get new numbers.
 */
function* missingStates(
  { contents, manifest }: Before,
  heads: readonly WantedShard[],
  moved: readonly number[],
): Generator<readonly [head: WantedShard, ids: readonly number[]]> {
  const shards = new Map(contents.shards.map((one) => [one[0], one]));
  const { arrived, gone } = manifest.repositories.since(contents.here);
  const touched = [...arrived, ...gone, ...moved];
  for (const head of heads) {
    const { repositories, generation, own } = head;
    const here = shards.get(head.shard);
    const ids = new Set(touched.filter((id) => repositories.get(id) !== undefined));
    if (!here || !isSameSlices(here[2], own)) for (const id of repositories.ids) ids.add(id);
    else if (here[1] !== generation)
      for (const id of repositories.since(contents.repositories).arrived) ids.add(id);
    if (ids.size > 0) yield [head, [...ids]];
  }
}

/** The data of a repository whose object is damaged. Without segments, an index run reads all its files again. */
const WITHOUT_EXTRA: Omit<Arriving, "state"> = {
  numberOf: () => undefined,
  extra: { skipped: undefined, versions: [] },
  isPartial: true,
};

interface Naming {
  readonly heads: readonly WantedShard[];
  readonly wanted: readonly Wanted[];
  readonly arriving: Arrived;
}

/**
 * Writes the new state to the manifest and to the record of contents.ts. This makes the new state visible to
 * searches. REQUIRES: called within Environment.write(); all wanted data is stored.
 */
function name(writer: Writer, { heads, wanted, arriving }: Naming): void {
  const before = readManifest(writer);
  const repositories = RepositoryList.union(heads.map((head) => head.repositories));
  const { gone } = repositories.since(before.repositories);
  for (const id of gone) removeAll(writer, id);
  for (const one of arriving.states) replaceState(writer, one);
  const here = before.repositories.with({ arrived: arriving.ids, gone }, before.generation + 1);
  putContents(writer, {
    shards: heads.map(({ shard, generation: at, own }) => (own ? [shard, at, own] : [shard, at])),
    segments: wanted.map(({ local }) => local),
    repositories,
    here,
  });
  putManifest(writer, manifestOf(before, { wanted, here }));
}

function replaceState(writer: Writer, one: Arriving): void {
  removeAll(writer, one.state.repository);
  putState(writer, one);
}

function removeAll(writer: Writer, repository: number): void {
  for (const range of repositoryRanges(repository))
    for (const key of writer.keys(range)) writer.remove(key);
}

function putState(writer: Writer, { state, extra, numberOf, isPartial }: Arriving): void {
  const { repository: id, record, sets } = state;
  const segments = record.segments.flatMap((segment) => numberOf(segment) ?? []);
  const isWhole = segments.length === record.segments.length;
  const files = new Map<number, number>();
  for (const [segment, revision, bits] of sets) {
    const here = numberOf(segment);
    if (here === undefined) continue;
    writer.put(revisionKey(id, here, revision), bits);
    if (!isWhole) files.set(revision, (files.get(revision) ?? 0) + countBits(wordsOf(bits)));
  }
  const revisions = isWhole
    ? record.revisions
    : record.revisions.map((one) => ({ ...one, files: files.get(one.number) ?? 0 }));
  // without its commits, git() lists all files of the repository instead of changes
  const stored = isPartial
    ? { ...record, segments, isPartial: true, revisions: revisions.map(withoutCommit) }
    : { ...record, segments, revisions };
  writer.put(repositoryKey(id), pack(stored));
  if (extra.skipped) writer.put(skippedKey(id), extra.skipped);
  for (const [segment, versions] of extra.versions) {
    const here = numberOf(segment);
    if (here !== undefined) writer.put(versionsKey(id, here), versions);
  }
}

const withoutCommit = ({ number, name, files }: RevisionRecord): RevisionRecord => ({
  number,
  name,
  files,
});

function manifestOf(
  before: Manifest,
  { wanted, here }: Pick<Naming, "wanted"> & Pick<Contents, "here">,
): Manifest {
  const named = new Set(wanted.map(({ local }) => local.here));
  const generation = before.generation + 1;
  const at = Date.now();
  const superseded = before.segments.filter(({ segment }) => !named.has(segment));
  const retired = before.retired.filter(({ segment }) => !named.has(segment));
  return nextManifest(before, {
    segments: wanted.map(({ published: one, local }): ManifestSegment => {
      const { files, textBytes, symbols, hasSymbols } = one;
      return { segment: local.here, files, textBytes, symbols, hasSymbols };
    }),
    repositories: here,
    nextRepository: Math.max(before.nextRepository, 1 + (here.ids.at(-1) ?? 0)),
    nextSegment: Math.max(before.nextSegment, ...wanted.map(({ local }) => local.here + 1)),
    retired: [
      ...retired,
      ...superseded.map(({ segment, content }) => ({
        segment,
        ...(content !== undefined && { content }),
        at,
        generation,
      })),
    ],
  });
}

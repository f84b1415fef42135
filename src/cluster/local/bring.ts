/**
 * Brings a data directory to generations of shards: fetches the segments and symbols that it lacks under numbers
 * that nothing names, then names them all in one transaction. Searches of the directory see the
 * generations from before until then, and what is superseded stays for RETIRE_MS, as after a merge.
 *
 * Of a shard the directory may hold some slices only: their segments, and of each repository the files in
 * them. A revision then says how many of its files are here.
 */

import { pack } from "msgpackr";
import type { Catalog } from "../catalog/catalog.ts";
import type { PublishedSegment, PublishedState, ShardHead } from "../catalog/head.ts";
import { fetchExtra, type RepositoryExtra } from "../objects/repository-object.ts";
import {
  deleteSegment,
  deleteSymbols,
  fetchSegment,
  fetchSymbols,
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
  revisionKey,
  skippedKey,
  versionsKey,
} from "../../store/format/format.ts";
import { deleteLeftovers } from "../../store/upkeep/leftovers.ts";
import type { Environment, Writer } from "../../store/lmdb/environment.ts";
import { checkLease } from "../../store/lmdb/lease.ts";
import { countBits } from "../../base/bitset.ts";
import { wordsOf } from "../../base/growable.ts";
import {
  hasSegment,
  isSameSlices,
  putContents,
  readContents,
  reading,
  type Contents,
  type LocalRepository,
  type LocalSegment,
  type Slices,
} from "./contents.ts";

/** Objects that are fetched at once. */
const FETCHED_AT_ONCE = 4;

export interface Bringing {
  readonly environment: Environment;
  /** Of the directory's own lease. */
  readonly owner: string;
  readonly catalog: Pick<Catalog, "states">;
  readonly store: SegmentStore;
  /** The oldest generation of the directory that somebody reads. Default: none is read for longer than RETIRE_MS. */
  readonly oldestHeld?: number;
  /** Whether what is superseded goes first, because there is no room. REQUIRES: no other process searches here. */
  readonly evicts?: boolean;
}

/** A shard at a generation, or some slices of it. */
export interface WantedShard extends ShardHead {
  readonly own?: Slices;
}

/** A segment, and where it comes to lie. */
interface Wanted {
  readonly published: PublishedSegment;
  readonly local: LocalSegment;
  /** What is here of it already. */
  readonly before: LocalSegment | undefined;
}

/** A state and what belongs to it, with the numbers of segments that it has here. */
interface Arriving {
  readonly state: PublishedState;
  readonly extra: RepositoryExtra;
  /** undefined: it lies in a slice that is not wanted. */
  readonly numberOf: (segment: number) => number | undefined;
}

/** Resolves when the directory holds exactly these generations. REQUIRES: nobody else writes to it meanwhile. */
export async function bringTo(
  bringing: Bringing,
  wantedShards: readonly WantedShard[],
): Promise<void> {
  const { environment, owner, oldestHeld = Infinity, evicts } = bringing;
  const heads = wantedShards.map(withOwnSegments);
  await deleteLeftovers(environment, owner, oldestHeld, evicts);
  const before = reading(environment, (snapshot) => ({
    contents: readContents(snapshot),
    manifest: readManifest(snapshot),
  }));
  if (isAt(before, heads)) return;
  const wanted = place(before, heads);
  await fetchMissing(bringing, wanted);
  const arriving = await fetchStates(bringing, before, heads, wanted);
  await environment.write((writer) => {
    checkLease(writer, owner);
    name(writer, { heads, wanted, arriving });
  });
}

const withOwnSegments = (one: WantedShard): WantedShard =>
  one.own
    ? { ...one, segments: one.segments.filter(({ segment }) => hasSegment(one.own!, segment)) }
    : one;

export interface Before {
  readonly contents: Contents;
  readonly manifest: Manifest;
}

/** Whether the directory holds these generations, and no run has changed anything since. */
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

export function isUnchanged({ contents, manifest }: Before): boolean {
  const here = new Map(contents.repositories.map((one) => [one.id, one.here]));
  const symbols = new Map(contents.segments.map((one) => [one.here, one.symbols]));
  return (
    here.size === manifest.repositories.length &&
    symbols.size === manifest.segments.length &&
    manifest.repositories.every(([id, changed]) => here.get(id) === changed) &&
    manifest.segments.every((one) => symbols.get(one.segment) === one.symbols)
  );
}

/**
 * Gives each segment its number here: the one it has, or the next that nothing ever had. What a run has changed
 * or merged away comes anew: threads keep what they know of a number, and of its editions.
 */
function place({ contents, manifest }: Before, heads: readonly ShardHead[]): Wanted[] {
  const named = new Map(manifest.segments.map((one) => [one.segment, one.symbols]));
  const same = contents.segments.filter(({ here, symbols }) => named.get(here) === symbols);
  const known = new Map(same.map((one) => [keyOf(one), one]));
  let next = manifest.nextSegment;
  return heads.flatMap(({ shard, segments }) =>
    segments.map((published): Wanted => {
      const { segment, object, bytes, symbols, symbolsObject } = published;
      const before = known.get(keyOf({ shard, segment }));
      const here = before?.here ?? next++;
      const local = { shard, segment, here, object, bytes, symbols, symbolsObject };
      return { published, local, before };
    }),
  );
}

const keyOf = ({ shard, segment }: Pick<LocalSegment, "shard" | "segment">): string =>
  `${shard}/${segment}`;

async function fetchMissing(
  { environment, store }: Bringing,
  wanted: readonly Wanted[],
): Promise<void> {
  await eachOf(wanted, async ({ local, before }) => {
    const { here: segment, object, bytes, symbols: edition, symbolsObject } = local;
    if (!before) {
      await deleteSegment(environment, segment); // what a fetch that was cut off has left
      await fetchSegment(environment, { key: object, segment, bytes }, store);
    }
    if (symbolsObject === undefined || before?.symbolsObject === symbolsObject) return;
    await deleteSymbols(environment, { segment, edition });
    await fetchSymbols(environment, { key: symbolsObject, segment, edition }, store);
  });
}

/** Those that this directory has not, or that a run has changed. */
async function fetchStates(
  { catalog, store }: Bringing,
  { contents, manifest }: Before,
  heads: readonly WantedShard[],
  wanted: readonly Wanted[],
): Promise<Arriving[]> {
  const known = new Map(contents.repositories.map((one) => [one.id, one]));
  const slices = new Map(contents.shards.map(([shard, , own]) => [shard, own]));
  const here = new Map(manifest.repositories);
  const numbers = new Map(wanted.map(({ local }) => [keyOf(local), local.here]));
  const arriving: Arriving[] = [];
  for (const { shard, repositories, own } of heads) {
    const hasSameSlices = isSameSlices(slices.get(shard), own);
    const missing = repositories.filter(([id, changed]) => {
      const one = known.get(id);
      return !hasSameSlices || one?.changed !== changed || one.here !== here.get(id);
    });
    const numberOf = (segment: number) => numbers.get(keyOf({ shard, segment }));
    const states = await catalog.states(missing);
    await eachOf(states, async (state) => {
      arriving.push({ state, numberOf, extra: await fetchExtra(state.extra, store) });
    });
  }
  return arriving;
}

/** Runs for all, some at a time; the first failure ends it. */
async function eachOf<T>(all: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  const left = all[Symbol.iterator]();
  let hasFailed = false;
  const lane = async (): Promise<void> => {
    for (const one of left) {
      if (hasFailed) return;
      await run(one).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: FETCHED_AT_ONCE }, lane));
  for (const one of lanes) if (one.status === "rejected") throw one.reason;
}

interface Naming {
  readonly heads: readonly WantedShard[];
  readonly wanted: readonly Wanted[];
  readonly arriving: readonly Arriving[];
}

/** REQUIRES: within Environment.write(); all that is wanted is there. */
function name(writer: Writer, { heads, wanted, arriving }: Naming): void {
  const before = { manifest: readManifest(writer), contents: readContents(writer) };
  const generation = before.manifest.generation + 1;
  const ids = new Set(heads.flatMap(({ repositories }) => repositories.map(([id]) => id)));
  const changed = arriving.map(({ state }) => state.repository);
  const gone = before.manifest.repositories.flatMap(([id]) => (ids.has(id) ? [] : [id]));
  for (const id of [...gone, ...changed]) removeAll(writer, id);
  for (const one of arriving) putState(writer, one);
  const repositories = localRepositories(before.contents, heads, { generation, changed });
  putContents(writer, {
    shards: heads.map(({ shard, generation: at, own }) => (own ? [shard, at, own] : [shard, at])),
    segments: wanted.map(({ local }) => local),
    repositories,
  });
  putManifest(writer, manifestOf(before.manifest, { wanted, repositories }));
}

function removeAll(writer: Writer, repository: number): void {
  for (const range of repositoryRanges(repository))
    for (const key of writer.keys(range)) writer.remove(key);
}

function putState(writer: Writer, { state, extra, numberOf }: Arriving): void {
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
  writer.put(repositoryKey(id), pack({ ...record, revisions, segments }));
  if (extra.skipped) writer.put(skippedKey(id), extra.skipped);
  for (const [segment, versions] of extra.versions) {
    const here = numberOf(segment);
    if (here !== undefined) writer.put(versionsKey(id, here), versions);
  }
}

function localRepositories(
  before: Contents,
  heads: readonly ShardHead[],
  { generation, changed }: { readonly generation: number; readonly changed: readonly number[] },
): LocalRepository[] {
  const here = new Map(before.repositories.map((one) => [one.id, one.here]));
  for (const id of changed) here.set(id, generation);
  return heads
    .flatMap(({ repositories }) => repositories)
    .map(([id, at]) => ({ id, changed: at, here: here.get(id)! }))
    .sort((a, b) => a.id - b.id);
}

function manifestOf(
  before: Manifest,
  { wanted, repositories }: Pick<Naming, "wanted"> & Pick<Contents, "repositories">,
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
    repositories: repositories.map(({ id, here }) => [id, here]),
    nextRepository: Math.max(before.nextRepository, 1 + (repositories.at(-1)?.id ?? 0)),
    nextSegment: Math.max(before.nextSegment, ...wanted.map(({ local }) => local.here + 1)),
    retired: [...retired, ...superseded.map(({ segment }) => ({ segment, at, generation }))],
  });
}

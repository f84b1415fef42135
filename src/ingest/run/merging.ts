/**
 * Decides which segments to merge. Segments are grouped into tiers by size. If a tier has `tierSegments` segments,
 * they are merged into one segment of the next tier. A segment with more dead files than live ones is rewritten
 * without the dead files. Segments that use the same stored content count as one segment. They are merged together,
 * and the content with them.
 *
 * Segments that borrow from the same lender are also merged with each other, by the same two rules. If `tierSegments`
 * of them have similar numbers of files, they become one segment. A segment with more dead files than live ones is
 * rewritten. The new segment borrows from the same lender. So such a merge writes only tables of files, and leaves
 * the lender unchanged.
 */

import { pack } from "msgpackr";
import { countBits, emptyBitset, unite } from "../../base/bitset.ts";
import { bytesOf } from "../../base/growable.ts";
import type { Pause } from "../../base/yield.ts";
import { createKernel } from "../../kernel/kernel.ts";
import type { Catalog, CatalogRepository } from "../../store/catalog/catalog.ts";
import type { Writer } from "../../store/lmdb/environment.ts";
import {
  repositoryKey,
  revisionKey,
  versionsKey,
  type NewLayout,
} from "../../store/format/format.ts";
import { checkLease } from "../../store/lmdb/lease.ts";
import {
  contentOf,
  nextManifest,
  putManifest,
  readManifest,
  withRepositories,
  type ManifestSegment,
} from "../../store/catalog/manifest.ts";
import {
  mergeSegments,
  type MergedRepository,
  type MergedSegment,
  type MergeInput,
} from "../../store/upkeep/merge.ts";
import type { RevisionSet } from "../../store/segments/segment-writer.ts";
import { segmentTarget } from "../../store/segments/segment-target.ts";
import { threadEnvironment } from "../../store/lmdb/thread-environment.ts";
import type { Task } from "../../threads/task.ts";
import type { RunBounds } from "./bounds.ts";
import { withSymbols } from "./publish.ts";

/** The size by which segments are grouped into tiers, with the limits of the tiers. */
interface Tiers<T> {
  readonly sizeOf: (one: T) => number;
  /**
   * The minimum size in the second tier. Each higher tier begins at `tierSegments` times the size of the tier below.
   */
  readonly least: number;
  /** The maximum size of a merged segment. */
  readonly most: number;
}

const byText = ({ segmentBytes }: RunBounds): Tiers<Content> => ({
  sizeOf: ({ textBytes }) => textBytes,
  least: 256 * 1024,
  most: segmentBytes,
});

/**
 * The tiers of segments that borrow, by their number of files. Such a segment takes about 8 bytes for each file that
 * its lender also has, and 50 bytes for every other file. So 2^12 files take at most about 200 KiB, which is less than
 * the minimum size in the second tier of `byText`. A merge takes about 150 bytes of memory per file, so the largest
 * merge takes 80 MB.
 */
const BY_FILES: Tiers<ManifestSegment> = {
  sizeOf: ({ files }) => files,
  least: 2 ** 12,
  most: 2 ** 19,
};

/** Segments that are to be merged into one. If there is only one segment, it is rewritten without its dead files. */
export interface MergeGroup {
  readonly segments: readonly ManifestSegment[];
  /**
   * The lender from which all these segments borrow, if the merged segment is to borrow from it, too. If absent, the
   * merged segment stores its own content. Such a group has either no live files, or all segments that use the content
   * of any of its segments.
   */
  readonly lender?: number;
}

export interface MergeOptions {
  readonly bounds: RunBounds;
  readonly pause: Pause;
}

/** Returns the next merge by the rules at the head of this file, or undefined if no merge is due. */
export async function nextMerge(
  catalog: Catalog,
  { bounds, pause }: MergeOptions,
): Promise<MergeGroup | undefined> {
  const { tierSegments } = bounds;
  const { segments } = catalog.manifest;
  const live = await liveFiles(catalog, pause);
  const dead = segments.filter(({ segment }) => !live.get(segment));
  if (dead.length > 0) return { segments: dead }; // one transaction removes all empty segments
  const contents = contentsOf(catalog, live);
  const wasteful = contents.find(({ live, files }) => 2 * live < files);
  if (wasteful) return { segments: wasteful.sharers };
  for (const { content, sharers } of contents) {
    const borrowers = sharers.filter(({ segment }) => segment !== content);
    const mostlyDead = borrowers.find(({ segment, files }) => 2 * live.get(segment)! < files);
    const segments = mostlyDead ? [mostlyDead] : fullTier(borrowers, BY_FILES, tierSegments);
    if (segments) return { segments, lender: content };
  }
  const full = fullTier(contents, byText(bounds), tierSegments);
  return full && { segments: full.flatMap(({ sharers }) => sharers) };
}

/**
 * Returns the members of the lowest full tier that are to be merged. A tier is full if it has at least `tierSegments`
 * members, and two of them fit into one segment. Returns undefined if no tier is full.
 */
function fullTier<T>(
  all: readonly T[],
  by: Tiers<T>,
  tierSegments: number,
): readonly T[] | undefined {
  const tiers = new Map<number, T[]>();
  for (const one of all) {
    const tier = tierOf(by.sizeOf(one) / by.least, tierSegments);
    tiers.set(tier, [...(tiers.get(tier) ?? []), one]);
  }
  const full = [...tiers.entries()].sort(([a], [b]) => a - b).map(([, members]) => members);
  return full
    .filter((members) => members.length >= tierSegments)
    .map((members) => fitting(members, by))
    .find((group) => group.length > 1);
}

/** The content of a segment, with all segments that use this content: its owner and those that borrow from it. */
interface Content {
  readonly content: number;
  readonly textBytes: number;
  readonly sharers: ManifestSegment[];
  /** The number of live files in all sharers together. */
  readonly live: number;
  /**
   * The number of files in the segment that owns the content. If another segment borrows the content, this is the
   * number of blobs instead.
   */
  readonly files: number;
}

function contentsOf(
  { manifest, headers }: Catalog,
  live: ReadonlyMap<number, number>,
): readonly Content[] {
  const contents = new Map<number, Content>();
  for (const one of manifest.segments) {
    const content = contentOf(one);
    const liveHere = live.get(one.segment) ?? 0;
    const known = contents.get(content);
    const files = known || content !== one.segment ? headers.get(one.segment)!.blobs : one.files;
    contents.set(content, {
      content,
      textBytes: one.textBytes,
      sharers: [...(known?.sharers ?? []), one],
      live: (known?.live ?? 0) + liveHere,
      files,
    });
  }
  return [...contents.values()];
}

/**
 * Returns the next merge for compact(), which reduces the number or the size of segments. Returns undefined if no
 * merge would.
 */
export async function nextCompaction(
  catalog: Catalog,
  { bounds, pause }: MergeOptions,
): Promise<MergeGroup | undefined> {
  const contents = contentsOf(catalog, await liveFiles(catalog, pause));
  const group = fitting(contents, byText(bounds));
  if (group.length > 1) return { segments: group.flatMap(({ sharers }) => sharers) };
  const improvable = contents.find(
    ({ content, sharers, live, files }) =>
      sharers.length > 1 || sharers[0]!.segment !== content || live < files,
  );
  return improvable && { segments: improvable.sharers };
}

/** Returns as many items as fit into one segment together, the smallest first. */
function fitting<T>(all: readonly T[], { sizeOf, most }: Tiers<T>): T[] {
  let size = 0;
  const ordered = [...all].sort((a, b) => sizeOf(a) - sizeOf(b));
  return ordered.filter((one) => (size += sizeOf(one)) <= most);
}

/**
 * Returns the number of the tier for a size. The size is given in units of `least`, the minimum size in the second
 * tier.
 */
const tierOf = (size: number, tierSegments: number): number =>
  Math.max(0, Math.floor(Math.log(size) / Math.log(tierSegments)) + 1);

async function liveFiles(catalog: Catalog, pause: Pause): Promise<Map<number, number>> {
  const live = new Map<number, number>();
  for (const { places } of catalog.repositories.values()) {
    for (const { segment, count, sets } of places) {
      const named = emptyBitset(count);
      for (const set of sets) if (set) unite(named, set);
      live.set(segment, (live.get(segment) ?? 0) + countBits(named));
    }
    await pause();
  }
  return live;
}

export interface MergeTaskInput {
  readonly merge: MergeInput;
  readonly target: number;
  readonly layout: NewLayout;
  readonly owner: string;
}

export const mergeTask: Task<MergeTaskInput, MergedSegment> = async (
  { merge, target, layout, owner },
  context,
) => {
  const environment = threadEnvironment(context);
  const snapshot = environment.snapshot();
  try {
    return await mergeSegments(
      merge,
      { target: segmentTarget(environment, target, owner), layout },
      { snapshot, kernel: createKernel(), thread: context },
    );
  } finally {
    snapshot.close();
  }
};

export function mergeInput(catalog: Catalog, group: MergeGroup): MergeInput {
  const { lender } = group;
  const segments = group.segments.map(({ segment }) => segment);
  const repositories = [...catalog.repositories.values()].flatMap(
    ({ record, places }): MergedRepository[] => {
      const own = places.filter(({ segment }) => segments.includes(segment));
      const revisions = record.revisions.map(({ number }) => number);
      return own.length > 0 ? [{ id: record.id, revisions, places: own }] : [];
    },
  );
  const symbols = group.segments.map(({ symbols }) => symbols);
  const words = group.segments.map(({ words = 0 }) => words);
  return { segments, symbols, words, repositories, ...(lender !== undefined && { lender }) };
}

/** Returns whether the segments to merge have a live file. If they have none, the merge reads only their tables. */
export const hasLiveFiles = ({ repositories }: MergeInput): boolean =>
  repositories.some(({ places }) =>
    places.some(({ sets }) => sets.some((set) => set !== undefined && countBits(set) > 0)),
  );

export interface MergePublication {
  readonly catalog: Catalog;
  readonly input: MergeInput;
  readonly written: MergedSegment;
  readonly owner: string;
}

/**
 * Publishes a merged segment, and retires the segments that were merged into it. REQUIRES: the call is within
 * Environment.write(), and nothing was written since `catalog` was read.
 */
export function publishMerge(
  writer: Writer,
  { catalog, input, written, owner }: MergePublication,
): void {
  checkLease(writer, owner);
  const manifest = readManifest(writer);
  const generation = manifest.generation + 1;
  const { sets: writtenSets, ...segment } = written;
  const sets = new Map<number, RevisionSet[]>();
  for (const set of writtenSets) {
    const own = sets.get(set.repository);
    if (own) own.push(set);
    else sets.set(set.repository, [set]);
  }
  for (const { id } of input.repositories) {
    const { record } = catalog.repositories.get(id)!;
    moveRepository(writer, record, { input, to: segment.segment, sets: sets.get(id) ?? [] });
  }
  const merged = new Set(input.segments);
  const moved = input.repositories.map(({ id }) => id);
  const added = segment.files > 0 ? [withSymbols(segment, manifest)] : [];
  const at = Date.now();
  putManifest(
    writer,
    nextManifest(manifest, {
      segments: [...manifest.segments.filter((one) => !merged.has(one.segment)), ...added],
      repositories: withRepositories(manifest, moved),
      nextSegment: Math.max(manifest.nextSegment, segment.segment + 1),
      retired: [
        ...manifest.retired,
        ...manifest.segments
          .filter((one) => merged.has(one.segment))
          .map(({ segment: retired, content }) => ({
            segment: retired,
            ...(content !== undefined && { content }),
            at,
            generation,
          })),
      ],
    }),
  );
}

interface Move {
  readonly input: MergePublication["input"];
  readonly to: number;
  /** The revision sets of this repository. */
  readonly sets: readonly RevisionSet[];
}

function moveRepository(
  writer: Writer,
  record: CatalogRepository["record"],
  { input, to, sets }: Move,
): void {
  for (const segment of input.segments) {
    for (const { number } of record.revisions)
      writer.remove(revisionKey(record.id, segment, number));
    writer.remove(versionsKey(record.id, segment));
  }
  for (const { segment, revision, bits } of sets)
    writer.put(revisionKey(record.id, segment, revision), bytesOf(bits));
  const kept = record.segments.filter((segment) => !input.segments.includes(segment));
  const segments = sets.length > 0 ? [...kept, to] : kept;
  writer.put(repositoryKey(record.id), pack({ ...record, segments }));
}

/**
 * Decides which segments to merge. TIER_SEGMENTS segments of the same size tier are merged into one of the next tier.
 * A segment with more dead files than live ones is rewritten without the dead ones.
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
  SEGMENT_BYTES,
  versionsKey,
} from "../../store/format/format.ts";
import { checkLease } from "../../store/lmdb/lease.ts";
import {
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

const TIER_SEGMENTS = 8;
/** The text size of a segment in the lowest tier. Each higher tier has TIER_SEGMENTS times as much. */
const LEAST_TIER_BYTES = 256 * 1024;

/** Segments to merge into one. A single one is rewritten without its dead files. */
export type MergeGroup = readonly ManifestSegment[];

/** Returns the next merge by the rules above, or undefined if none is due. */
export async function nextMerge(catalog: Catalog, pause: Pause): Promise<MergeGroup | undefined> {
  const { segments } = catalog.manifest;
  const live = await liveFiles(catalog, pause);
  const dead = segments.filter(({ segment }) => !live.get(segment));
  if (dead.length > 0) return dead; // all empty segments are removed in one transaction
  const garbage = segments.find((one) => 2 * live.get(one.segment)! < one.files);
  if (garbage) return [garbage];
  const tiers = new Map<number, ManifestSegment[]>();
  for (const segment of segments) {
    const tier = tierOf(segment);
    tiers.set(tier, [...(tiers.get(tier) ?? []), segment]);
  }
  const full = [...tiers.entries()].sort(([a], [b]) => a - b).map(([, members]) => members);
  return full
    .filter((members) => members.length >= TIER_SEGMENTS)
    .map(fitting)
    .find((group) => group.length > 1);
}

/** Returns the next merge that makes segments fewer or smaller, for compact(). */
export async function nextCompaction(
  catalog: Catalog,
  pause: Pause,
): Promise<MergeGroup | undefined> {
  const { segments } = catalog.manifest;
  const group = fitting(segments);
  if (group.length > 1) return group;
  const live = await liveFiles(catalog, pause);
  const garbage = segments.find((one) => (live.get(one.segment) ?? 0) < one.files);
  return garbage && [garbage];
}

/** Returns the smallest segments, as many as fit into one. */
function fitting(segments: readonly ManifestSegment[]): ManifestSegment[] {
  let bytes = 0;
  const ordered = [...segments].sort((a, b) => a.textBytes - b.textBytes || a.segment - b.segment);
  return ordered.filter(({ textBytes }) => (bytes += textBytes) <= SEGMENT_BYTES);
}

function tierOf({ textBytes }: ManifestSegment): number {
  return Math.max(
    0,
    Math.floor(Math.log(textBytes / LEAST_TIER_BYTES) / Math.log(TIER_SEGMENTS)) + 1,
  );
}

/** Counts the live files of each segment. */
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
  readonly owner: string;
}

export const mergeTask: Task<MergeTaskInput, MergedSegment> = async (
  { merge, target, owner },
  context,
) => {
  const environment = threadEnvironment(context);
  const snapshot = environment.snapshot();
  try {
    return await mergeSegments(merge, segmentTarget(environment, target, owner), {
      snapshot,
      kernel: createKernel(),
      pause: () => context.pause(),
    });
  } finally {
    snapshot.close();
  }
};

export function mergeInput(catalog: Catalog, group: MergeGroup): MergeInput {
  const segments = group.map(({ segment }) => segment);
  const repositories = [...catalog.repositories.values()].flatMap(
    ({ record, places }): MergedRepository[] => {
      const own = places.filter(({ segment }) => segments.includes(segment));
      const revisions = record.revisions.map(({ number }) => number);
      return own.length > 0 ? [{ id: record.id, revisions, places: own }] : [];
    },
  );
  return { segments, symbols: group.map(({ symbols }) => symbols), repositories };
}

export interface MergePublication {
  readonly catalog: Catalog;
  readonly input: MergeInput;
  readonly written: MergedSegment;
  readonly owner: string;
}

/**
 * Publishes a merged segment and retires the segments that it was made of. REQUIRES: called within
 * Environment.write(), and nothing was written since `catalog` was read.
 */
export function publishMerge(
  writer: Writer,
  { catalog, input, written, owner }: MergePublication,
): void {
  checkLease(writer, owner);
  const manifest = readManifest(writer);
  const generation = manifest.generation + 1;
  const sets = new Map<number, RevisionSet[]>();
  for (const set of written.sets) {
    const own = sets.get(set.repository);
    if (own) own.push(set);
    else sets.set(set.repository, [set]);
  }
  for (const { id } of input.repositories) {
    const { record } = catalog.repositories.get(id)!;
    moveRepository(writer, record, { input, to: written.segment, sets: sets.get(id) ?? [] });
  }
  const merged = new Set(input.segments);
  const moved = input.repositories.map(({ id }) => id);
  const { segment, files, textBytes, symbols, hasSymbols } = written;
  const added = files > 0 ? [{ segment, files, textBytes, symbols, hasSymbols }] : [];
  const at = Date.now();
  putManifest(
    writer,
    nextManifest(manifest, {
      segments: [...manifest.segments.filter((one) => !merged.has(one.segment)), ...added],
      repositories: withRepositories(manifest, moved),
      nextSegment: Math.max(manifest.nextSegment, segment + 1),
      retired: [
        ...manifest.retired,
        ...input.segments.map((retired) => ({ segment: retired, at, generation })),
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

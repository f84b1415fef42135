/**
 * Deletes what no manifest names: segments that an interrupted run has written, and retired ones that
 * nobody reads any more; and frees what dead readers hold.
 */

import type { Environment, Snapshot, Writer } from "../lmdb/environment.ts";
import {
  segmentKey,
  segmentOfKey,
  segmentRange,
  SEGMENTS_RANGE,
  versionsKey,
} from "../format/format.ts";
import { checkLease } from "../lmdb/lease.ts";
import {
  deletable,
  nextManifest,
  putManifest,
  readManifest,
  type Manifest,
} from "../catalog/manifest.ts";
import { readHeader, type SegmentHeader } from "../segments/segment-tables.ts";

/** 2 MiB of text: the pages that a transaction frees are used again by the next but one, so it is best to free some before more is written. */
const KEYS_A_TRANSACTION = 64;

/** REQUIRES: the lease is `owner`'s. */
export async function deleteLeftovers(
  environment: Environment,
  owner: string,
  oldestHeld: number,
): Promise<void> {
  environment.releaseDeadReaders();
  const snapshot = environment.snapshot();
  let manifest: Manifest;
  let stored: number[];
  try {
    manifest = readManifest(snapshot);
    stored = storedSegments(snapshot);
  } finally {
    snapshot.close();
  }
  const retired = new Set(manifest.retired.map(({ segment }) => segment));
  const dead = deletable(manifest, Date.now(), oldestHeld).map(({ segment }) => segment);
  const named = new Set(manifest.segments.map(({ segment }) => segment));
  const unnamed = stored.filter((segment) => !named.has(segment) && !retired.has(segment));
  for (let left = [...unnamed, ...dead]; left.length > 0;)
    left = await environment.write((writer) => {
      checkLease(writer, owner);
      return deleteSome(writer, left);
    });
}

/** Numbers of all segments of which something is stored: one key each is looked at. */
function storedSegments(snapshot: Snapshot): number[] {
  const segments: number[] = [];
  for (let [start, end] = SEGMENTS_RANGE; ;) {
    const [key] = snapshot.keys([start, end], 1);
    if (!key) return segments;
    const segment = segmentOfKey(key);
    segments.push(segment);
    start = segmentKey(segment + 1, 0);
  }
}

/** As much as one transaction takes; returns the segments of which something may be left. Those that are gone are no longer retired. */
function deleteSome(writer: Writer, segments: readonly number[]): number[] {
  const gone = new Set<number>();
  let room = KEYS_A_TRANSACTION;
  for (const segment of segments) {
    const keys = [...writer.keys(segmentRange(segment), room)];
    removeVersions(writer, segment);
    for (const key of keys) writer.remove(key);
    room -= keys.length;
    if (room === 0) break;
    gone.add(segment);
  }
  const manifest = readManifest(writer);
  const retired = manifest.retired.filter(({ segment }) => !gone.has(segment));
  if (retired.length < manifest.retired.length)
    putManifest(writer, nextManifest(manifest, { retired }));
  return segments.filter((segment) => !gone.has(segment));
}

/** Versions that nobody moved to another segment; they came with the header and go with it. */
function removeVersions(writer: Writer, segment: number): void {
  for (const repository of headerIfSound(writer, segment)?.repositories.numbers ?? [])
    writer.remove(versionsKey(repository, segment));
}

/** What is dead may be damaged: then it must still be possible to delete it. */
function headerIfSound(writer: Writer, segment: number): SegmentHeader | undefined {
  try {
    return readHeader(writer, segment);
  } catch {
    return undefined;
  }
}

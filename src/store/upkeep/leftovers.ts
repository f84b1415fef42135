/**
 * Deletes the values and the text files of segments that no search needs. These are segments that an interrupted run
 * has left without publishing them, and retired segments that are no longer read. Also releases the reader slots of
 * dead processes.
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
  contentOf,
  deletable,
  nextManifest,
  putManifest,
  readManifest,
  type Manifest,
  type Retirement,
} from "../catalog/manifest.ts";
import { readHeader, type SegmentHeader } from "../segments/segment-tables.ts";

/**
 * The maximum number of keys that one transaction deletes. The values of 128 keys have about 2 MiB of text. LMDB reuses
 * freed pages two transactions later, so the file grows less if transactions are small.
 */
const KEYS_PER_TRANSACTION = 128;

/**
 * Deletes the segments that no search needs any more, in several transactions. REQUIRES: `owner` holds the lease, and
 * no other process reads a segment for longer than `retireMs` after the segment was retired.
 */
export async function deleteLeftovers(
  environment: Environment,
  owner: string,
  retirement: Retirement,
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
  const deletableNow = new Set(deletable(manifest, Date.now(), retirement));
  const kept = [
    ...manifest.segments,
    ...manifest.retired.filter((segment) => !deletableNow.has(segment)),
  ];
  const contents = new Set(kept.map(contentOf)); // a retired segment that is still read also needs its content
  const dead = [...deletableNow]
    .map(({ segment }) => segment)
    .filter((segment) => !contents.has(segment));
  const named = new Set([...manifest.segments, ...manifest.history].map(({ segment }) => segment));
  const isUnnamed = (segment: number): boolean => !named.has(segment) && !retired.has(segment);
  const unnamed = stored.filter(isUnnamed);
  const leftFiles = environment.texts.segments().filter(isUnnamed);
  for (
    let left = [...unnamed, ...dead], files = [...leftFiles, ...dead];
    left.length > 0 || files.length > 0;
  )
    [left, files] = await environment.write((writer) => {
      checkLease(writer, owner);
      environment.texts.retire(files);
      return [deleteSome(writer, left), []];
    });
  await environment.texts.sweep();
}

/** Returns the numbers of all segments that have stored values. Reads one key of each segment. */
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

/**
 * Deletes as many values as fit into one transaction. If no value of a segment is left, removes the segment from the
 * manifest's list of retired segments. Returns the segments that may still have values.
 */
function deleteSome(writer: Writer, segments: readonly number[]): number[] {
  const gone = new Set<number>();
  let room = KEYS_PER_TRANSACTION;
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

/**
 * Removes the versions of a segment's files. The keys of the versions begin with the numbers of repositories, which
 * only the header of the segment names.
 */
function removeVersions(writer: Writer, segment: number): void {
  for (const repository of headerIfSound(writer, segment)?.repositories.numbers ?? [])
    writer.remove(versionsKey(repository, segment));
}

/** Returns the header of a segment, or undefined if the header is damaged. A damaged segment must be deletable, too. */
function headerIfSound(writer: Writer, segment: number): SegmentHeader | undefined {
  try {
    return readHeader(writer, segment);
  } catch {
    return undefined;
  }
}

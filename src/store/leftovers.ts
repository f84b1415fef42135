/**
 * Deletes what no manifest names: segments that an interrupted run has written, and retired ones that
 * nobody reads any more; and frees what dead readers hold. In transactions of some MB, so that a
 * reader's old pages are not held long.
 */

import type { Environment, Snapshot, Writer } from "./environment.ts";
import { segmentKey, segmentOfKey, segmentRange, SEGMENTS_RANGE, versionsKey } from "./format.ts";
import { checkLease } from "./lease.ts";
import { deletable, nextManifest, putManifest, readManifest, type Manifest } from "./manifest.ts";
import { readHeader, type SegmentHeader } from "./segment-tables.ts";

const KEYS_A_TRANSACTION = 256;

/** REQUIRES: the lease is `owner`'s. */
export async function deleteLeftovers(
  environment: Environment,
  owner: string,
  oldestHeld: number,
): Promise<void> {
  environment.forgetDeadReaders();
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
  const dead = new Set(deletable(manifest, Date.now(), oldestHeld).map(({ segment }) => segment));
  const named = new Set(manifest.segments.map(({ segment }) => segment));
  const unnamed = stored.filter((segment) => !named.has(segment) && !retired.has(segment));
  for (const segment of [...unnamed, ...dead]) await deleteSegment(environment, owner, segment);
  if (dead.size > 0) await forget(environment, owner, dead);
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

async function deleteSegment(
  environment: Environment,
  owner: string,
  segment: number,
): Promise<void> {
  for (let isMore = true; isMore;) {
    isMore = await environment.write((writer) => {
      checkLease(writer, owner);
      const keys = [...writer.keys(segmentRange(segment), KEYS_A_TRANSACTION)];
      removeVersions(writer, segment);
      for (const key of keys) writer.remove(key);
      return keys.length === KEYS_A_TRANSACTION;
    });
  }
}

/** Versions that nobody moved to another segment; they came with the header and go with it. */
function removeVersions(writer: Writer, segment: number): void {
  for (const { repository } of headerIfSound(writer, segment)?.repositories ?? [])
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

/** Takes segments that are deleted from the list of retired ones. */
async function forget(
  environment: Environment,
  owner: string,
  dead: ReadonlySet<number>,
): Promise<void> {
  await environment.write((writer) => {
    checkLease(writer, owner);
    const manifest = readManifest(writer);
    const retired = manifest.retired.filter(({ segment }) => !dead.has(segment));
    putManifest(writer, nextManifest(manifest, { retired }));
  });
}

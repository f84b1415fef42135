/**
 * Reads and writes the versions of a repository's files in a segment:
 *
 *     value := width version*      width: u8; version: `width` bytes
 *
 * In memory, a version has HASH_BYTES bytes. In the value, trailing zeros that all of these versions have are left out.
 * So versions of files on disk take 8 bytes each. If all versions are unknown, they take no bytes.
 */

import { HASH_BYTES, versionsKey } from "../format/format.ts";
import { corrupt } from "../format/sealed.ts";
import type { Snapshot } from "../lmdb/environment.ts";

/** Encodes versions that have HASH_BYTES bytes each. */
export function encodeVersions(versions: Uint8Array): Uint8Array {
  const width = widthOf(versions);
  const value = new Uint8Array(1 + (versions.length / HASH_BYTES) * width);
  value[0] = width;
  for (let from = 0, to = 1; to < value.length; from += HASH_BYTES)
    for (let i = 0; i < width; i++) value[to++] = versions[from + i]!;
  return value;
}

/** Returns the length of the longest version, without trailing zeros. */
function widthOf(versions: Uint8Array): number {
  let width = 0;
  for (let from = 0; from < versions.length; from += HASH_BYTES)
    for (let last = HASH_BYTES; last > width; last--)
      if (versions[from + last - 1] !== 0) width = last;
  return width;
}

/** Reads the versions of a repository's `count` files in a segment. */
export function readVersions(
  snapshot: Pick<Snapshot, "get">,
  of: { readonly repository: number; readonly segment: number; readonly count: number },
): Uint8Array {
  const { repository, segment, count } = of;
  const what = `the versions of repository ${repository} in segment ${segment}`;
  const value = snapshot.get(versionsKey(repository, segment), what);
  const width = value?.[0] ?? 0;
  if (value?.length !== 1 + count * width || width > HASH_BYTES) throw corrupt(what);
  const versions = new Uint8Array(count * HASH_BYTES);
  for (let from = 1, to = 0; from < value.length; to += HASH_BYTES)
    for (let i = 0; i < width; i++) versions[to + i] = value[from++]!;
  return versions;
}

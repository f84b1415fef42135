/**
 * What only a writer and lists of skipped files ask of a repository, as an object:
 *
 *     kind        tag       number
 *     REPOSITORY  SKIPPED   0: its files that are listed and not searchable, as skipped-files.ts has them
 *     REPOSITORY  VERSIONS  of the segment in its shard: the versions of its files there
 */

import { damaged, decodeBundle, describe, encodeBundle, type Value } from "./bundle.ts";
import type { SegmentStore } from "./segment-store.ts";

const KIND = 3;
const TAG = { SKIPPED: 2, VERSIONS: 4 } as const;

/** Values as stored, without seals. */
export interface RepositoryExtra {
  readonly skipped: Uint8Array | undefined;
  readonly versions: readonly (readonly [segment: number, versions: Uint8Array])[];
}

/** Resolves to the key. */
export async function sendExtra(extra: RepositoryExtra, store: SegmentStore): Promise<string> {
  const { skipped, versions } = extra;
  const values: Value[] = [
    ...(skipped ? [{ tag: TAG.SKIPPED, number: 0, bytes: skipped }] : []),
    ...versions.map(([number, bytes]) => ({ tag: TAG.VERSIONS, number, bytes })),
  ];
  const { key, bytes } = await describe("repo", encodeBundle(KIND, values));
  await store.put(key, encodeBundle(KIND, values), bytes);
  return key;
}

export async function fetchExtra(key: string, store: SegmentStore): Promise<RepositoryExtra> {
  let skipped: Uint8Array | undefined;
  const versions: [number, Uint8Array][] = [];
  for await (const { tag, number, bytes } of decodeBundle(key, KIND, await store.get(key))) {
    if (tag === TAG.SKIPPED) skipped = Uint8Array.from(bytes);
    else if (tag === TAG.VERSIONS) versions.push([number, Uint8Array.from(bytes)]);
    else throw damaged(key);
  }
  return { skipped, versions };
}

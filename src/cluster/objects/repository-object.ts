/**
 * Stores what a repository has beyond the data for searches: its skipped files, and the versions of its files. This
 * data is stored as an object with these values:
 *
 *     kind        tag       number   value
 *     REPOSITORY  SKIPPED   0        its files that are listed and not searchable (skipped-files.ts)
 *     REPOSITORY  VERSIONS  S        the versions of its files in segment S of the shard
 *
 * Short data is stored as a MessagePack list in the repository's row in PostgreSQL instead. Otherwise, an index run of
 * a small repository would spend most of its time on fetching the object.
 */

import { pack, unpack } from "msgpackr";
import { damaged, decodeBundle, KIND, sendBundle, type Value } from "./bundle.ts";
import type { SegmentStore } from "./segment-store.ts";

const TAG = { SKIPPED: 2, VERSIONS: 4 } as const;

/** The data of a repository object. The values are those of the data directory, without seals. */
export interface RepositoryExtra {
  readonly skipped: Uint8Array | undefined;
  readonly versions: readonly (readonly [segment: number, versions: Uint8Array])[];
}

/**
 * The maximum number of bytes that are stored in a row. The versions of about 400 files of a git repository fit into
 * a row, or those of 900 files of a folder.
 */
const MOST_ROW_BYTES = 8_192;

/**
 * Stores the data as an object, unless it is short. Resolves to the key of the object, or to the bytes for the row.
 */
export async function sendExtra(
  extra: RepositoryExtra,
  store: SegmentStore,
): Promise<string | Uint8Array> {
  const { skipped, versions } = extra;
  const short = pack([skipped ?? null, versions]);
  if (short.length <= MOST_ROW_BYTES) return short;
  const values: Value[] = [
    ...(skipped ? [{ tag: TAG.SKIPPED, number: 0, bytes: skipped }] : []),
    ...versions.map(([number, bytes]) => ({ tag: TAG.VERSIONS, number, bytes })),
  ];
  const { key } = await sendBundle(store, "repo", {
    kind: KIND.repo,
    tables: () => [],
    rest: () => values,
  });
  return key;
}

export async function fetchExtra(
  key: string | Uint8Array,
  store: SegmentStore,
): Promise<RepositoryExtra> {
  if (typeof key !== "string") {
    const [short, all] = unpack(key) as [Uint8Array | null, RepositoryExtra["versions"]];
    return { skipped: short ?? undefined, versions: all };
  }
  let skipped: Uint8Array | undefined;
  const versions: [number, Uint8Array][] = [];
  for await (const { tag, number, bytes } of decodeBundle(key, KIND.repo, await store.get(key))) {
    if (tag === TAG.SKIPPED) skipped = Uint8Array.from(bytes);
    else if (tag === TAG.VERSIONS) versions.push([number, Uint8Array.from(bytes)]);
    else throw damaged(key);
  }
  return { skipped, versions };
}

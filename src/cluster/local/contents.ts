/**
 * Reads and writes the record of a data directory that says which parts of a cluster it holds. The record changes in
 * the same transactions as those parts. Segments have different numbers in each directory, because two shards may use
 * the same number. Changes of an index run in this directory are not recorded until they are published.
 */

import { bytesOf } from "../../base/growable.ts";
import { RepositoryList } from "../../store/catalog/repository-list.ts";
import { decodeRecord, encodeRecord } from "../../store/format/columns.ts";
import type { Environment, Snapshot, Writer } from "../../store/lmdb/environment.ts";
import { engineKey } from "../../store/format/format.ts";
import { isCount } from "../../store/format/sealed.ts";

export interface Contents {
  /**
   * The generation of each shard, and which of its slices the directory has. Without `slices`, the directory has all
   * slices.
   */
  readonly shards: readonly (readonly [shard: number, generation: number, slices?: Slices])[];
  readonly segments: readonly LocalSegment[];
  /** The generation of its shard in which each repository last changed. */
  readonly repositories: RepositoryList;
  /**
   * The generation of this directory in which each repository was stored. If the manifest has another generation, an
   * index run has changed the repository since.
   */
  readonly here: RepositoryList;
}

/** Some slices of a shard: their ascending numbers, and the number of all slices of the shard. */
export interface Slices {
  readonly own: readonly number[];
  readonly of: number;
}

export const hasSegment = ({ own, of }: Slices, segment: number): boolean =>
  own.includes(segment % of);

export const isSameSlices = (a: Slices | undefined, b: Slices | undefined): boolean =>
  a?.of === b?.of && a?.own.join() === b?.own.join();

export interface LocalSegment {
  readonly shard: number;
  /** The segment's number in the shard. */
  readonly segment: number;
  /** The segment's number in this directory. */
  readonly here: number;
  readonly object: string;
  /** The length of the object. */
  readonly bytes: number;
  readonly symbols: number;
  readonly symbolsObject: string | undefined;
  /**
   * Whether the directory has only the tables of the segment, and the header of its symbols. An index run needs no
   * more, but nobody can search or merge the segment.
   */
  readonly isPartial: boolean;
}

export const EMPTY_CONTENTS: Contents = {
  shards: [],
  segments: [],
  repositories: RepositoryList.EMPTY,
  here: RepositoryList.EMPTY,
};

const WHAT = "the record of what a cluster has put here";

/** The head of the record. Three columns of `count` words follow: ids, `changed` and `here`. */
interface StoredRecord extends Pick<Contents, "shards" | "segments"> {
  readonly count: number;
}

export function readContents(from: Pick<Snapshot | Writer, "get">): Contents {
  const value = from.get(engineKey("cluster"), WHAT);
  if (!value) return EMPTY_CONTENTS;
  const { record, columns } = decodeRecord<StoredRecord>(value, WHAT, isStored);
  const { shards, segments, count } = record;
  const ids = columns.words(count);
  const repositories = new RepositoryList(ids, columns.words(count));
  const here = new RepositoryList(ids, columns.words(count));
  columns.end();
  return { shards, segments, repositories, here };
}

const isStored = (record: Readonly<Record<string, unknown>>): boolean =>
  isCount(record["count"]) &&
  ["shards", "segments"].every((name) => Array.isArray(record[name])) &&
  (record["shards"] as unknown[][]).every(([shard]) => isCount(shard));

/** Writes the record. REQUIRES: both lists have the same repositories. */
export function putContents(writer: Writer, contents: Contents): void {
  const { shards, segments, repositories, here } = contents;
  const record: StoredRecord = { shards, segments, count: repositories.length };
  const columns = [repositories.ids, repositories.changed, here.changed].map(bytesOf);
  writer.put(engineKey("cluster"), ...encodeRecord(record), ...columns);
}

/** Calls `read` with a snapshot, and closes the snapshot when it returns. */
export function reading<T>(environment: Environment, read: (snapshot: Snapshot) => T): T {
  const snapshot = environment.snapshot();
  try {
    return read(snapshot);
  } finally {
    snapshot.close();
  }
}

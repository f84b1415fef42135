/**
 * Reads and writes the record of a data directory that says which parts of a cluster the directory holds. The record
 * changes in the same transactions as those parts. An index run is an exception: it changes the directory first. The
 * record is updated when the cluster has published the changes of the run. A segment has a number in its shard and
 * another number in the directory, because two shards may use the same number.
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
  /** For each repository, the generation of its shard in which the repository last changed. */
  readonly repositories: RepositoryList;
  /**
   * For each repository, the generation of this directory in which the repository was stored. If the manifest has
   * another generation for the repository, an index run has changed the repository since.
   */
  readonly here: RepositoryList;
}

/**
 * Some slices of a shard. `own` lists their numbers in ascending order, and `of` is the number of all slices of the
 * shard. `without` lists the keys of damaged objects. A writer does without segments and repositories that need them.
 */
export interface Slices {
  readonly own: readonly number[];
  readonly of: number;
  readonly without?: readonly string[];
}

export const hasSegment = ({ own, of }: Slices, segment: number): boolean =>
  own.includes(segment % of);

/** Returns all slices of a shard without what needs damaged objects, or undefined if no object is damaged. */
export const slicesWithout = (without: readonly string[], of: number): Slices | undefined =>
  without.length === 0 ? undefined : { own: Array.from({ length: of }, (_, i) => i), of, without };

export const needsOne = (
  { object, symbolsObject }: Pick<LocalSegment, "object" | "symbolsObject">,
  objects: readonly string[],
): boolean =>
  objects.includes(object) || (symbolsObject !== undefined && objects.includes(symbolsObject));

export const isSameSlices = (a: Slices | undefined, b: Slices | undefined): boolean =>
  a?.of === b?.of && a?.own.join() === b?.own.join() && a?.without?.join() === b?.without?.join();

export interface LocalSegment {
  readonly shard: number;
  /** The segment's number in the shard. */
  readonly segment: number;
  /** The segment's number in this directory. */
  readonly here: number;
  readonly object: string;
  /** The total length in bytes of the values in the object before they are packed. */
  readonly bytes: number;
  readonly symbols: number;
  readonly symbolsObject: string | undefined;
  /**
   * Whether the directory has only the tables of the segment and the header of its symbols. They are enough for an
   * index run that finds the segment's files unchanged, but not for a search or a merge.
   */
  readonly isPartial: boolean;
}

const EMPTY_CONTENTS: Contents = {
  shards: [],
  segments: [],
  repositories: RepositoryList.EMPTY,
  here: RepositoryList.EMPTY,
};

const WHAT = "the record of what a cluster has put here";

/**
 * The head of the record as it is stored. Three columns of `count` words each follow the head: the ids of the
 * repositories, and the generations of `repositories` and of `here`.
 */
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

/** Writes the record. REQUIRES: `repositories` and `here` list the same repositories. */
export function putContents(writer: Writer, contents: Contents): void {
  const { shards, segments, repositories, here } = contents;
  const record: StoredRecord = { shards, segments, count: repositories.length };
  const columns = [repositories.ids, repositories.changed, here.changed].map(bytesOf);
  writer.put(engineKey("cluster"), ...encodeRecord(record), ...columns);
}

/** Calls `read` with a snapshot. Closes the snapshot when `read` returns. */
export function reading<T>(environment: Environment, read: (snapshot: Snapshot) => T): T {
  const snapshot = environment.snapshot();
  try {
    return read(snapshot);
  } finally {
    snapshot.close();
  }
}

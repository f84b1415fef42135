/**
 * Describes a shard at one of its generations. Rows and objects never change, so a generation can be read until a
 * collection deletes it (collection.ts).
 */

import type { EndedJob } from "./jobs.ts";
import { RepositoryList } from "../../store/catalog/repository-list.ts";
import type { RepositoryRecord } from "../../store/format/records.ts";

export interface ShardHead {
  readonly shard: number;
  readonly generation: number;
  readonly segments: readonly PublishedSegment[];
  /** For each repository, the generation of the shard in which the repository last changed. */
  readonly repositories: RepositoryList;
  /** A number greater than that of every segment that was ever published in the shard. */
  readonly nextSegment: number;
  /** The number of slices of the shard. Segment n is in slice n modulo this number. */
  readonly slices: number;
}

/**
 * Returns the number of slices of a shard. A shard has one slice for every `shardBytes` bytes of its text, but not
 * more slices than segments.
 */
export function slicesFor(
  segments: readonly Pick<PublishedSegment, "textBytes">[],
  shardBytes: number,
): number {
  const textBytes = segments.reduce((sum, one) => sum + one.textBytes, 0);
  return Math.max(1, Math.min(segments.length, Math.ceil(textBytes / shardBytes)));
}

export interface PublishedSegment {
  /** The segment's number in the shard. */
  readonly segment: number;
  /** The key of the segment's object. */
  readonly object: string;
  /** The total length in bytes of the values in the object before they are packed. */
  readonly bytes: number;
  readonly files: number;
  readonly textBytes: number;
  /** The number of the current edition of the segment's symbols, or 0 if there is none. */
  readonly symbols: number;
  readonly hasSymbols: boolean;
  /** The key of the object with the current edition of the symbols, or undefined if there is none. */
  readonly symbolsObject: string | undefined;
}

/** The state of a repository since generation `changed` of the repository's shard. */
export interface PublishedState {
  readonly repository: number;
  readonly changed: number;
  /** The repository's record. It refers to segments by their numbers in the shard. */
  readonly record: RepositoryRecord;
  readonly sets: readonly PublishedSet[];
  /**
   * Data that is needed only for writing and for listing skipped files (repository-object.ts). If the data is long,
   * this is the key of the object that contains it.
   */
  readonly extra: string | Uint8Array;
}

/** A revision set as PostgreSQL stores it. `segment` is the segment's number in the shard. */
export type PublishedSet = readonly [segment: number, revision: number, bits: Uint8Array];

/** The next generation of a shard, as a writer has prepared it. */
export interface Publication extends Omit<ShardHead, "generation"> {
  /** The generation on which the new one is based. */
  readonly before: number;
  readonly writer: string;
  /** A time before the writer stored its first object, by PostgreSQL's clock. */
  readonly began: string;
  /** The new states of the repositories that changed. The field `changed` of each is `before + 1`. */
  readonly states: readonly PublishedState[];
  readonly removed: readonly number[];
  /** The job that ends with the publication, unless the job was requested again while it ran. */
  readonly job?: EndedJob | undefined;
}

/** Returns the head of a shard in which nothing is published yet. */
export const emptyHead = (shard: number): ShardHead => ({
  shard,
  generation: 0,
  segments: [],
  repositories: RepositoryList.EMPTY,
  nextSegment: 1,
  slices: 1,
});

/** Returns the head of the shard after `publication` is published. */
export const headAfter = ({
  shard,
  before,
  segments,
  repositories,
  nextSegment,
  slices,
}: Publication): ShardHead => ({
  shard,
  generation: before + 1,
  segments,
  repositories,
  nextSegment,
  slices,
});

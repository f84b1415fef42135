/** What is true of a shard at one of its generations. Rows and objects never change, so it can be read at any time. */

import type { EndedJob } from "./jobs.ts";
import type { RepositoryRecord } from "../../store/format/records.ts";

export interface ShardHead {
  readonly shard: number;
  readonly generation: number;
  readonly segments: readonly PublishedSegment[];
  /** Each repository with the generation of the shard in which it changed last. */
  readonly repositories: readonly (readonly [repository: number, changed: number])[];
  /** More than any number that was ever published. */
  readonly nextSegment: number;
  /** How many slices it has. A segment lies in the slice of its number modulo this. */
  readonly slices: number;
}

/** How many slices a shard has: one for each `shardBytes` of its text, and none without a segment. */
export function slicesFor(
  segments: readonly Pick<PublishedSegment, "textBytes">[],
  shardBytes: number,
): number {
  const textBytes = segments.reduce((sum, one) => sum + one.textBytes, 0);
  return Math.max(1, Math.min(segments.length, Math.ceil(textBytes / shardBytes)));
}

export interface PublishedSegment {
  /** Its number in the shard. */
  readonly segment: number;
  /** The key of its object. */
  readonly object: string;
  /** Of the object. */
  readonly bytes: number;
  readonly files: number;
  readonly textBytes: number;
  /** The edition of its symbols that counts; 0: there is none. */
  readonly symbols: number;
  readonly hasSymbols: boolean;
  /** The key of that edition's object; undefined: there is none. */
  readonly symbolsObject: string | undefined;
}

/** A repository as it was from one generation of its shard on. */
export interface PublishedState {
  readonly repository: number;
  readonly changed: number;
  /** Segments bear the shard's numbers. */
  readonly record: RepositoryRecord;
  readonly sets: readonly PublishedSet[];
  /** The key of the object with what only writers and lists of skipped files ask for. */
  readonly extra: string;
}

/** A revision set as stored: segment of the shard, number of the revision, bits. */
export type PublishedSet = readonly [segment: number, revision: number, bits: Uint8Array];

/** What a writer has made, to be the shard's next generation. */
export interface Publication extends Omit<ShardHead, "generation"> {
  /** The generation that the writer began with. */
  readonly before: number;
  readonly writer: string;
  /** PostgreSQL's time before the writer stored its first object. */
  readonly began: string;
  /** Of the repositories that changed, `changed` being `before + 1`. */
  readonly states: readonly PublishedState[];
  readonly removed: readonly number[];
  /** The job that it ends, unless somebody has asked again. */
  readonly job?: EndedJob | undefined;
}

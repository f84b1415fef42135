/**
 * What a data directory has from where, as one of its own records, which changes in the transactions
 * that change the rest. A segment of a shard has a number of this directory's own: two shards count alike. What
 * a run of this machine has made and not published is not in it.
 */

import { pack } from "msgpackr";
import type { Environment, Snapshot, Writer } from "../../store/lmdb/environment.ts";
import { engineKey } from "../../store/format/format.ts";
import { isCount, unpackAs } from "../../store/format/sealed.ts";

export interface Contents {
  /** The generation of each shard, and which of its slices are here; without them all of it is. */
  readonly shards: readonly (readonly [shard: number, generation: number, slices?: Slices])[];
  readonly segments: readonly LocalSegment[];
  readonly repositories: readonly LocalRepository[];
}

/** Some slices of a shard: their numbers, ascending, and how many the shard has. */
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
  /** Its number in the shard. */
  readonly segment: number;
  /** Its number here. */
  readonly here: number;
  readonly object: string;
  /** Of the object. */
  readonly bytes: number;
  readonly symbols: number;
  readonly symbolsObject: string | undefined;
}

export interface LocalRepository {
  readonly id: number;
  /** The generation of its shard in which it changed last. */
  readonly changed: number;
  /** The generation of this directory in which it came: if it is another by now, a run has changed it. */
  readonly here: number;
}

export const EMPTY_CONTENTS: Contents = { shards: [], segments: [], repositories: [] };

const WHAT = "the record of what a cluster has put here";

export function readContents(from: Pick<Snapshot | Writer, "get">): Contents {
  const value = from.get(engineKey("cluster"), WHAT);
  return value ? unpackAs<Contents>(Uint8Array.from(value), WHAT, isContents) : EMPTY_CONTENTS;
}

const isContents = (record: Readonly<Record<string, unknown>>): boolean =>
  ["shards", "segments", "repositories"].every((name) => Array.isArray(record[name])) &&
  (record["shards"] as unknown[][]).every(([shard]) => isCount(shard));

export function putContents(writer: Writer, contents: Contents): void {
  writer.put(engineKey("cluster"), pack(contents));
}

/** Reads in a snapshot that is closed before anything is awaited. */
export function reading<T>(environment: Environment, read: (snapshot: Snapshot) => T): T {
  const snapshot = environment.snapshot();
  try {
    return read(snapshot);
  } finally {
    snapshot.close();
  }
}

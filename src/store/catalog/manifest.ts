/**
 * Reads and writes the manifest, the small record that names everything published. A search uses one manifest
 * throughout.
 */

import { bytesOf } from "../../base/growable.ts";
import type { Snapshot, Writer } from "../lmdb/environment.ts";
import { decodeRecord, encodeRecord } from "../format/columns.ts";
import { engineKey } from "../format/format.ts";
import { corrupt, isCount } from "../format/sealed.ts";
import { RepositoryList } from "./repository-list.ts";

export interface Manifest {
  /** Grows by one with each publication. */
  readonly generation: number;
  readonly segments: readonly ManifestSegment[];
  /** Each repository, with the generation in which its record or revision sets last changed. */
  readonly repositories: RepositoryList;
  /** The id of the next new repository. Ids are never used again. */
  readonly nextRepository: number;
  /** Greater than the number of every segment that was ever published. */
  readonly nextSegment: number;
  readonly retired: readonly RetiredSegment[];
}

export interface ManifestSegment {
  readonly segment: number;
  /** The lender whose content the segment borrows. Absent if the segment stores its own content. */
  readonly content?: number;
  readonly files: number;
  readonly textBytes: number;
  /** The current edition of its symbols; 0 if there is none. */
  readonly symbols: number;
  /** Whether this edition has the symbols of every blob. */
  readonly hasSymbols: boolean;
}

/** Returns the segment that stores the content of a segment. */
export const contentOf = ({
  segment,
  content,
}: Pick<ManifestSegment, "segment" | "content">): number => content ?? segment;

/** Returns the bytes of all text. If several segments share a text, it counts once. */
export function textBytesOf({ segments }: Pick<Manifest, "segments">): number {
  const bytes = new Map(segments.map((one) => [contentOf(one), one.textBytes]));
  return [...bytes.values()].reduce((sum, each) => sum + each, 0);
}

export interface RetiredSegment {
  readonly segment: number;
  /** The lender whose content the segment borrows, as in ManifestSegment. */
  readonly content?: number;
  /** When it was retired, in milliseconds since 1970. */
  readonly at: number;
  /** The first generation without the segment. */
  readonly generation: number;
}

/**
 * The length of the generation, an 8-byte float before the record. The columns of the list of repositories come after
 * the record.
 */
const GENERATION_BYTES = 8;

export const EMPTY_MANIFEST: Manifest = {
  generation: 0,
  segments: [],
  repositories: RepositoryList.EMPTY,
  nextRepository: 1,
  nextSegment: 1,
  retired: [],
};

export function readManifest(from: Snapshot | Writer): Manifest {
  const value = from.get(engineKey("manifest"), "the manifest");
  if (!value) throw corrupt("there is no manifest");
  return unpackManifest(value);
}

/** Decodes the manifest's value. */
export function unpackManifest(value: Uint8Array): Manifest {
  const { record, columns } = decodeRecord<StoredRecord>(
    value.subarray(GENERATION_BYTES),
    "the manifest",
    ({ count }) => isCount(count),
  );
  const { count, ...rest } = record;
  const repositories = new RepositoryList(columns.words(count), columns.words(count));
  columns.end();
  return { ...rest, repositories };
}

interface StoredRecord extends Omit<Manifest, "repositories"> {
  /** The number of repositories. */
  readonly count: number;
}

/** Reads only the manifest's generation, because a search checks that first. */
export function readGeneration(from: Snapshot): number {
  const value = from.getSealed(engineKey("manifest"));
  if (!value || value.length < GENERATION_BYTES) throw corrupt("there is no manifest");
  return new DataView(value.buffer, value.byteOffset).getFloat64(0, true);
}

export function putManifest(writer: Writer, { repositories, ...rest }: Manifest): void {
  const generation = new DataView(new ArrayBuffer(GENERATION_BYTES));
  generation.setFloat64(0, rest.generation, true);
  const record: StoredRecord = { ...rest, count: repositories.length };
  const columns = [repositories.ids, repositories.changed].map(bytesOf);
  const value = [new Uint8Array(generation.buffer), ...encodeRecord(record), ...columns];
  writer.put(engineKey("manifest"), ...value);
}

/** Returns the manifest of the next generation, with `change` applied. */
export function nextManifest(manifest: Manifest, change: Partial<Manifest>): Manifest {
  return { ...manifest, ...change, generation: manifest.generation + 1 };
}

/** Returns the next generation's list of repositories, with `arrived` added or marked as changed. */
export const withRepositories = (
  { repositories, generation }: Manifest,
  arrived: readonly number[],
): RepositoryList => repositories.with({ arrived }, generation + 1);

/** When retired segments may be deleted. */
export interface Retirement {
  /** How long other processes may read a retired segment, in milliseconds. */
  readonly retireMs: number;
  /** The oldest generation that a search of this process reads. */
  readonly oldestHeld: number;
}

/** Returns the retired segments that are no longer read. */
export function deletable(
  manifest: Manifest,
  now: number,
  { retireMs, oldestHeld }: Retirement,
): RetiredSegment[] {
  return manifest.retired.filter(
    ({ at, generation }) => now - at >= retireMs && generation <= oldestHeld,
  );
}

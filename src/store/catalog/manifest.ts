/**
 * Reads and writes the manifest, the small record that lists the segments and repositories of the published state. A
 * search uses one manifest from its start to its end.
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
  /**
   * All published repositories. For each, the list has the generation in which its record or its revision sets last
   * changed.
   */
  readonly repositories: RepositoryList;
  /** The id that the next new repository will get. Ids are never reused. */
  readonly nextRepository: number;
  /** Greater than the number of every segment that was ever published. */
  readonly nextSegment: number;
  readonly retired: readonly RetiredSegment[];
  /** The history segments. Those of one repository are in order, newest first. */
  readonly history: readonly HistorySegment[];
}

/** A segment with commits and changes of one repository, see history/tables.ts. */
export interface HistorySegment {
  readonly segment: number;
  readonly repository: number;
  readonly commits: number;
  readonly changes: number;
  readonly textBytes: number;
}

export interface ManifestSegment {
  readonly segment: number;
  /** The lender whose content the segment borrows. Absent if the segment stores its own content. */
  readonly content?: number;
  readonly files: number;
  readonly textBytes: number;
  /** The number of the current edition of the segment's symbols, or 0 if there is none. */
  readonly symbols: number;
  /** Whether the current edition contains the symbols of every blob. */
  readonly hasSymbols: boolean;
  /** The version of the stems for which the segment has word lists. Absent if it has none. */
  readonly words?: number | undefined;
}

/** Returns the segment in which the content of this segment is stored. */
export const contentOf = ({
  segment,
  content,
}: Pick<ManifestSegment, "segment" | "content">): number => content ?? segment;

/** Returns the total length of all text, in bytes. Text that several segments share counts once. */
export function textBytesOf({ segments }: Pick<Manifest, "segments">): number {
  const bytes = new Map(segments.map((one) => [contentOf(one), one.textBytes]));
  return [...bytes.values()].reduce((sum, each) => sum + each, 0);
}

export interface RetiredSegment {
  readonly segment: number;
  /** The lender whose content the segment borrows, as in ManifestSegment. */
  readonly content?: number;
  /** The time at which the segment was retired, in milliseconds since 1970. */
  readonly at: number;
  /** The first generation without the segment. */
  readonly generation: number;
}

/**
 * The length of the generation, which is stored as an 8-byte float before the record. The columns of the list of
 * repositories are stored after the record.
 */
const GENERATION_BYTES = 8;

export const EMPTY_MANIFEST: Manifest = {
  generation: 0,
  segments: [],
  repositories: RepositoryList.EMPTY,
  nextRepository: 1,
  nextSegment: 1,
  retired: [],
  history: [],
};

export function readManifest(from: Snapshot | Writer): Manifest {
  const value = from.get(engineKey("manifest"), "the manifest");
  if (!value) throw corrupt("there is no manifest");
  return unpackManifest(value);
}

/** Decodes the stored value of the manifest. */
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

/** Reads only the generation, and does not check the seal. Every search calls this first, so it has to be fast. */
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

/** Returns `manifest` with `change` applied and the generation raised by one. */
export function nextManifest(manifest: Manifest, change: Partial<Manifest>): Manifest {
  return { ...manifest, ...change, generation: manifest.generation + 1 };
}

/** Returns the next generation's list of repositories, with `arrived` added or marked as changed. */
export const withRepositories = (
  { repositories, generation }: Manifest,
  arrived: readonly number[],
): RepositoryList => repositories.with({ arrived }, generation + 1);

/** The conditions under which a retired segment may be deleted. */
export interface Retirement {
  /** The time for which other processes may still read a retired segment, in milliseconds. */
  readonly retireMs: number;
  /** The oldest generation that a running search of this process reads. */
  readonly oldestHeld: number;
}

/** Returns the retired segments that no search can still be reading. */
export function deletable(
  manifest: Manifest,
  now: number,
  { retireMs, oldestHeld }: Retirement,
): RetiredSegment[] {
  return manifest.retired.filter(
    // a time of the future is as old: the clock was put back after it
    ({ at, generation }) => Math.abs(now - at) >= retireMs && generation <= oldestHeld,
  );
}

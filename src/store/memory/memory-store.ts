/**
 * Keeps segments in memory, for unsaved text that no other process sees. Keys, seals and tables are those of
 * the store on disk (format.ts), so the readers and writers of segments work with both.
 *
 * Segments in memory are numbered from FIRST_MEMORY_SEGMENT up, published ones from 1 up. A finished segment
 * is packed into one shared buffer, which all threads read without copying it.
 */

import { PART_KEY_BYTES, segmentOfKey, SEGMENTS_TABLE } from "../format/format.ts";
import { seal, unseal } from "../format/sealed.ts";
import type { Snapshot, Writer } from "../lmdb/environment.ts";
import type { SegmentTarget } from "../segments/segment-target.ts";

export const FIRST_MEMORY_SEGMENT = 0x8000_0000;

/** All values of one segment, packed as plain data that can be sent to other threads. */
export interface PackedSegment {
  readonly segment: number;
  /** The keys, decoded as latin1. */
  readonly keys: readonly string[];
  /** The offset of each sealed value in `bytes`, then the end of the last one. */
  readonly starts: Uint32Array;
  /** The values, in shared memory. */
  readonly bytes: Uint8Array;
}

/** A segment that is being written. */
export class MemoryTarget implements SegmentTarget {
  readonly segment: number;
  readonly environment = { snapshot: (): Snapshot => new MemorySnapshot(this.#values) };
  readonly #values = new Map<string, Uint8Array>();

  constructor(segment: number) {
    this.segment = segment;
  }

  write<T>(work: (writer: Writer) => T): T {
    return work(new MemoryWriter(this.#values));
  }

  pack(): PackedSegment {
    const starts = new Uint32Array(this.#values.size + 1);
    const values = [...this.#values.values()];
    values.forEach(({ length }, i) => (starts[i + 1] = starts[i]! + length));
    const bytes = new Uint8Array(new SharedArrayBuffer(starts.at(-1)!));
    values.forEach((value, i) => bytes.set(value, starts[i]));
    return { segment: this.segment, keys: [...this.#values.keys()], starts, bytes };
  }
}

/** Returns a snapshot that contains the packed segments as well as everything in `snapshot`. */
export function withSegments(snapshot: Snapshot, segments: readonly PackedSegment[]): Snapshot {
  return segments.length === 0 ? snapshot : new MemorySnapshot(valuesOf(segments), snapshot);
}

/** Returns a snapshot that contains only the packed segment. */
export const openPacked = (segment: PackedSegment): Snapshot =>
  new MemorySnapshot(valuesOf([segment]));

function valuesOf(segments: readonly PackedSegment[]): Map<string, Uint8Array> {
  const values = new Map<string, Uint8Array>();
  for (const { keys, starts, bytes } of segments)
    keys.forEach((key, i) => values.set(key, bytes.subarray(starts[i], starts[i + 1])));
  return values;
}

class MemorySnapshot implements Snapshot {
  readonly #values: ReadonlyMap<string, Uint8Array>;
  readonly #disk: Snapshot | undefined;

  constructor(values: ReadonlyMap<string, Uint8Array>, disk?: Snapshot) {
    this.#values = values;
    this.#disk = disk;
  }

  get(key: Buffer, what: string): Uint8Array | undefined {
    if (this.#disk && !isInMemory(key)) return this.#disk.get(key, what);
    const value = this.getSealed(key);
    // a copy, because msgpackr's native part crashes the process if it is given shared memory
    return value && unseal(key, Uint8Array.from(value), what);
  }

  getSealed(key: Buffer): Uint8Array | undefined {
    if (this.#disk && !isInMemory(key)) return this.#disk.getSealed(key);
    return this.#values.get(key.toString("latin1"));
  }

  keys(...range: Parameters<Snapshot["keys"]>): Iterable<Buffer> {
    return this.#disk?.keys(...range) ?? [];
  }

  close(): void {
    this.#disk?.close();
  }
}

const isInMemory = (key: Buffer): boolean =>
  key[0] === SEGMENTS_TABLE &&
  key.length >= PART_KEY_BYTES &&
  segmentOfKey(key) >= FIRST_MEMORY_SEGMENT;

class MemoryWriter implements Writer {
  readonly #values: Map<string, Uint8Array>;

  constructor(values: Map<string, Uint8Array>) {
    this.#values = values;
  }

  get(key: Buffer, what: string): Uint8Array | undefined {
    const value = this.#values.get(key.toString("latin1"));
    return value && unseal(key, value, what);
  }

  keys(): Iterable<Buffer> {
    return [];
  }

  put(key: Buffer, ...payload: readonly Uint8Array[]): void {
    this.#values.set(key.toString("latin1"), seal(key, ...payload));
  }

  remove(key: Buffer): void {
    this.#values.delete(key.toString("latin1"));
  }
}

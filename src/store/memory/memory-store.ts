/**
 * A store in memory, with the keys, seals and tables of the one on the disk (format.ts), for segments
 * that no other process ever sees: unsaved text. The writers and readers of segments do not notice.
 *
 * Such segments have numbers of their own, from FIRST_MEMORY_SEGMENT up; what is published counts up
 * from 1. A finished one is packed into one shared buffer, which every thread reads in place.
 */

import { PART_KEY_BYTES, segmentOfKey, SEGMENTS_TABLE } from "../format/format.ts";
import { seal, unseal } from "../format/sealed.ts";
import type { Snapshot, Writer } from "../lmdb/environment.ts";
import type { SegmentTarget } from "../segments/segment-target.ts";

export const FIRST_MEMORY_SEGMENT = 0x8000_0000;

/** All values of one segment, packed. Plain data: it crosses threads. */
export interface PackedSegment {
  readonly segment: number;
  /** As latin1. */
  readonly keys: readonly string[];
  /** Where each sealed value begins in `bytes`; one more, the end. */
  readonly starts: Uint32Array;
  /** In memory that threads share. */
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

  write(work: (writer: Writer) => void): void {
    work(new MemoryWriter(this.#values));
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

/** The snapshot, and the packed segments as if they were in it. */
export function withSegments(snapshot: Snapshot, segments: readonly PackedSegment[]): Snapshot {
  return segments.length === 0 ? snapshot : new MemorySnapshot(valuesOf(segments), snapshot);
}

/** A snapshot of the packed segment alone. */
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
    // as a copy: msgpackr's native part ends the process where it is given shared memory
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

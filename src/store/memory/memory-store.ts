/**
 * Keeps segments in memory, for unsaved text that no other process sees. Keys, seals and tables are the same
 * as in the store on disk (format.ts), so the readers and writers of segments work with both.
 *
 * Segments in memory are numbered from FIRST_MEMORY_SEGMENT up, published ones from 1 up. Values are written into
 * shared memory, which all threads read without copying it.
 */

import { PART_KEY_BYTES, segmentOfKey, SEGMENTS_TABLE } from "../format/format.ts";
import { sealedLength, sealInto, unseal } from "../format/sealed.ts";
import type { Snapshot, Writer } from "../lmdb/environment.ts";
import type { SegmentTarget } from "../segments/segment-target.ts";

export const FIRST_MEMORY_SEGMENT = 0x8000_0000;

/** All values of one segment, as plain data that can be sent to other threads. */
export interface PackedSegment {
  readonly segment: number;
  /** The keys, decoded as latin1. */
  readonly keys: readonly string[];
  /** For each sealed value its chunk, and its start and end there. */
  readonly places: Uint32Array;
  /** The chunks, in shared memory. */
  readonly chunks: readonly Uint8Array[];
}

/** Returns the bytes of all values of a segment. */
export function packedBytes({ places }: PackedSegment): number {
  let bytes = 0;
  for (let i = 0; i < places.length; i += 3) bytes += places[i + 2]! - places[i + 1]!;
  return bytes;
}

/** The sizes of the first chunk and of the largest ones. Each chunk is twice as large as the one before it. */
const LEAST_CHUNK_BYTES = 2 ** 16;
const MOST_CHUNK_BYTES = 2 ** 22;

/** A segment that is being written. */
export class MemoryTarget implements SegmentTarget {
  readonly segment: number;
  readonly environment = { snapshot: (): Snapshot => new MemorySnapshot(valuesOf([this.pack()])) };
  readonly #values = new Map<string, readonly [chunk: number, start: number, end: number]>();
  readonly #chunks: Uint8Array[] = [];
  /** The bytes of the last chunk that are in use. */
  #used = 0;
  #nextChunk = LEAST_CHUNK_BYTES;

  constructor(segment: number) {
    this.segment = segment;
  }

  write<T>(work: (writer: Writer) => T): T {
    return work({
      get: (key, what) => this.environment.snapshot().get(key, what),
      keys: () => [],
      put: (key, ...payload) => this.#put(key, payload),
      remove: (key) => void this.#values.delete(key.toString("latin1")),
    });
  }

  #put(key: Buffer, payload: readonly Uint8Array[]): void {
    const length = sealedLength(payload);
    if (this.#used + length > (this.#chunks.at(-1)?.length ?? 0)) this.#addChunk(length);
    const [start, end] = [this.#used, this.#used + length];
    sealInto(this.#chunks.at(-1)!.subarray(start, end), key, payload);
    this.#used = end;
    this.#values.set(key.toString("latin1"), [this.#chunks.length - 1, start, end]);
  }

  #addChunk(least: number): void {
    this.#chunks.push(new Uint8Array(new SharedArrayBuffer(Math.max(this.#nextChunk, least))));
    this.#used = 0;
    this.#nextChunk = Math.min(2 * this.#nextChunk, MOST_CHUNK_BYTES);
  }

  pack(): PackedSegment {
    const places = Uint32Array.from([...this.#values.values()].flat());
    return { segment: this.segment, keys: [...this.#values.keys()], places, chunks: this.#chunks };
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
  for (const { keys, places, chunks } of segments)
    keys.forEach((key, i) => {
      const [chunk, start, end] = places.subarray(3 * i, 3 * i + 3);
      values.set(key, chunks[chunk!]!.subarray(start, end));
    });
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

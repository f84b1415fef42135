/**
 * Keeps segments in memory, for unsaved text that no other process sees. Their keys, seals and tables are the same as
 * in the store on disk (format.ts), so the readers and writers of segments work with both stores.
 *
 * Segments in memory are numbered from FIRST_MEMORY_SEGMENT up. Values are written into shared memory, which all
 * threads read without copying it. Blocks of text are kept in a shorter form, because a checkout has ten thousand of
 * them. They have space for a seal, but the seal is not computed. Computing the seals of a checkout would take 25 ms,
 * and checking them would take 25 ms on each of two threads. Blocks have no keys, because each search would send all
 * keys to each thread.
 */

import { copyBytes } from "../../base/copy-bytes.ts";
import {
  FIRST_MEMORY_SEGMENT,
  isTextKey,
  numberOf,
  PART_KEY_BYTES,
  segmentOfKey,
  SEGMENTS_TABLE,
} from "../format/format.ts";
import { SEAL_BYTES, sealedLength, sealInto, unseal } from "../format/sealed.ts";
import type { Snapshot, Writer } from "../lmdb/environment.ts";
import type { SegmentTarget } from "../segments/segment-target.ts";

/** All values of one segment, as plain data that can be sent to other threads. */
export interface PackedSegment {
  readonly segment: number;
  /** The keys of all values except blocks of text, decoded as latin1. */
  readonly keys: readonly string[];
  /**
   * For each of `keys`, three numbers say where the value and its seal are: the number of a chunk, and the start and
   * end in this chunk.
   */
  readonly places: Uint32Array;
  /**
   * For each block of text, in order, three numbers say where it is: the number of a chunk, and the start and end in
   * this chunk.
   */
  readonly blocks: Uint32Array;
  /** The chunks, in shared memory. */
  readonly chunks: readonly Uint8Array[];
}

/** Returns the number of bytes of all values of a segment. */
export function packedBytes({ places, blocks }: PackedSegment): number {
  let bytes = 0;
  for (const some of [places, blocks])
    for (let i = 0; i < some.length; i += 3) bytes += some[i + 2]! - some[i + 1]!;
  return bytes;
}

/**
 * The size of the first chunk, and the size up to which each chunk is twice as large as the one before it. A chunk is
 * larger only if a single value needs a larger one.
 */
const LEAST_CHUNK_BYTES = 2 ** 16;
const MOST_CHUNK_BYTES = 2 ** 22;

/** A segment that is being written. */
export class MemoryTarget implements SegmentTarget {
  readonly segment: number;
  readonly environment = { snapshot: (): Snapshot => new MemorySnapshot([this.pack()]) };
  readonly #values = new Map<string, readonly [chunk: number, start: number, end: number]>();
  readonly #blocks: number[] = [];
  readonly #chunks: Uint8Array[] = [];
  /** The number of bytes of the last chunk that are in use. */
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
    this.#used = end;
    if (isTextKey(key)) return this.#putBlock(payload[0]!, start, end);
    sealInto(this.#chunks.at(-1)!.subarray(start, end), key, payload);
    this.#values.set(key.toString("latin1"), [this.#chunks.length - 1, start, end]);
  }

  /** Stores the next block of text. The writer of a segment puts the blocks in order, and each block in one piece. */
  #putBlock(block: Uint8Array, start: number, end: number): void {
    copyBytes(block, 0, this.#chunks.at(-1)!, start, block.length);
    this.#blocks.push(this.#chunks.length - 1, start, end);
  }

  #addChunk(least: number): void {
    this.#chunks.push(new Uint8Array(new SharedArrayBuffer(Math.max(this.#nextChunk, least))));
    this.#used = 0;
    this.#nextChunk = Math.min(2 * this.#nextChunk, MOST_CHUNK_BYTES);
  }

  pack(): PackedSegment {
    const places = Uint32Array.from([...this.#values.values()].flat());
    const blocks = Uint32Array.from(this.#blocks);
    const keys = [...this.#values.keys()];
    return { segment: this.segment, keys, places, blocks, chunks: this.#chunks };
  }
}

/** Returns a snapshot that contains the packed segments as well as everything in `snapshot`. */
export const withSegments = (snapshot: Snapshot, segments: readonly PackedSegment[]): Snapshot =>
  segments.length === 0 ? snapshot : new MemorySnapshot(segments, snapshot);

/** Returns a snapshot that contains only the packed segment. */
export const openPacked = (segment: PackedSegment): Snapshot => new MemorySnapshot([segment]);

class MemorySnapshot implements Snapshot {
  readonly #values = new Map<string, Uint8Array>();
  readonly #segments: ReadonlyMap<number, PackedSegment>;
  readonly #disk: Snapshot | undefined;

  constructor(segments: readonly PackedSegment[], disk?: Snapshot) {
    this.#segments = new Map(segments.map((one) => [one.segment, one]));
    for (const { keys, places, chunks } of segments)
      for (const [i, key] of keys.entries()) this.#values.set(key, valueAt(places, i, chunks)!);
    this.#disk = disk;
  }

  get(key: Buffer, what: string): Uint8Array | undefined {
    if (this.#disk && !isInMemory(key)) return this.#disk.get(key, what);
    const value = this.getSealed(key);
    if (!value) return undefined;
    // copied, because msgpackr's native code crashes the process if it reads shared memory
    const copy = Uint8Array.from(value);
    return isTextKey(key) ? copy.subarray(0, -SEAL_BYTES) : unseal(key, copy, what);
  }

  getSealed(key: Buffer): Uint8Array | undefined {
    if (this.#disk && !isInMemory(key)) return this.#disk.getSealed(key);
    if (!isTextKey(key)) return this.#values.get(key.toString("latin1"));
    const segment = this.#segments.get(segmentOfKey(key));
    return segment && valueAt(segment.blocks, numberOf(key), segment.chunks);
  }

  copyText(...what: Parameters<NonNullable<Snapshot["copyText"]>>): boolean {
    return this.#disk?.copyText?.(...what) ?? false;
  }

  hasOpenText(segment: number): boolean {
    return this.#disk?.hasOpenText?.(segment) ?? false;
  }

  textSeal(segment: number, block: number): number {
    return this.#disk!.textSeal!(segment, block);
  }

  keys(...range: Parameters<Snapshot["keys"]>): Iterable<Buffer> {
    return this.#disk?.keys(...range) ?? [];
  }

  close(): void {
    this.#disk?.close();
  }
}

function valueAt(
  places: Uint32Array,
  i: number,
  chunks: readonly Uint8Array[],
): Uint8Array | undefined {
  const chunk = chunks[places[3 * i] ?? -1];
  return chunk?.subarray(places[3 * i + 1], places[3 * i + 2]);
}

const isInMemory = (key: Buffer): boolean =>
  key[0] === SEGMENTS_TABLE &&
  key.length >= PART_KEY_BYTES &&
  segmentOfKey(key) >= FIRST_MEMORY_SEGMENT;

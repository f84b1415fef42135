/**
 * Caches values for a thread that must not wait for the disk. Another thread reads the values and sends them to this
 * thread, which then reads them only from this cache, in its own memory.
 *
 * The other thread records the values with a recorder, which wraps a snapshot and copies everything that is read
 * through it. All copies are sent in one buffer.
 */

import { LruCache } from "../../base/lru-cache.ts";
import { segmentOfKey } from "../format/format.ts";
import { SEAL_BYTES, unseal } from "../format/sealed.ts";
import type { KeyRange, Snapshot } from "../lmdb/environment.ts";

/** Values and their seals, as plain data for a message. */
export interface PackedValues {
  /** The keys, decoded as latin1. */
  readonly keys: readonly string[];
  /** The offset of each value in `bytes`, followed by the end of the last value. */
  readonly starts: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Thrown by a snapshot of cached values if a value is missing. */
export class NotKept extends Error {
  constructor() {
    super("the value is not kept");
  }
}

/**
 * Reads from another snapshot, and records everything that is read, each value once. Closing the recorder leaves the
 * other snapshot open.
 */
export class ValueRecorder implements Snapshot {
  readonly #snapshot: Snapshot;
  readonly #most: number;
  readonly #values = new Map<string, Uint8Array>();
  #bytes = 0;

  /** Records at most `most` bytes. If more bytes are read, packed() returns undefined. */
  constructor(snapshot: Snapshot, most: number) {
    this.#snapshot = snapshot;
    this.#most = most;
  }

  get(key: Buffer, what: string): Uint8Array | undefined {
    const value = this.#snapshot.getSealed(key);
    const payload = value && unseal(key, value, what); // checked now, because KeptSnapshot.get() does not check it
    if (value) this.#record(key, value);
    return payload;
  }

  /** Records the value even if it is damaged. REQUIRES: whoever reads it from the cache checks its seal. */
  getSealed(key: Buffer): Uint8Array | undefined {
    const value = this.#snapshot.getSealed(key);
    if (value) this.#record(key, value);
    return value;
  }

  used(key: Buffer, value: Uint8Array): void {
    this.#record(key, value);
  }

  #record(key: Buffer, value: Uint8Array): void {
    const name = key.toString("latin1");
    if (this.#bytes > this.#most || this.#values.has(name)) return;
    this.#bytes += value.length;
    if (this.#bytes > this.#most) this.#values.clear();
    else this.#values.set(name, value.slice());
  }

  keys(range: KeyRange, limit?: number): Iterable<Buffer> {
    return this.#snapshot.keys(range, limit);
  }

  close(): void {}

  /** Returns the recorded values, or undefined if there were too many. */
  packed(): PackedValues | undefined {
    if (this.#bytes > this.#most) return undefined;
    const values = [...this.#values.values()];
    const starts = new Uint32Array(values.length + 1);
    values.forEach(({ length }, i) => (starts[i + 1] = starts[i]! + length));
    const bytes = new Uint8Array(starts.at(-1)!);
    values.forEach((value, i) => bytes.set(value, starts[i]));
    return { keys: [...this.#values.keys()], starts, bytes };
  }
}

/** The values that a thread has cached, in the order of their last use. */
export class KeptValues {
  readonly #values: LruCache<string, Uint8Array>;

  constructor(most: number) {
    this.#values = new LruCache({ most, costOf: ({ length }) => length + VALUE_BYTES });
  }

  /**
   * Stores a separate copy of each value. Otherwise, a value that stays in the cache would keep all `bytes` in memory.
   */
  add({ keys, starts, bytes }: PackedValues): void {
    for (const [i, key] of keys.entries())
      if (!this.#values.has(key)) this.#values.set(key, bytes.slice(starts[i], starts[i + 1]));
  }

  /** Removes the values of all segments that `isKept` rejects. */
  dropOthers(isKept: (segment: number) => boolean): void {
    for (const key of this.#values.keys())
      if (!isKept(segmentOfKey(Buffer.from(key, "latin1")))) this.#values.delete(key);
  }

  /** Returns a snapshot of the cached values. Reading any other value throws NotKept. */
  snapshot(): Snapshot {
    return new KeptSnapshot(this.#values);
  }
}

/** The number of bytes of memory that a value takes in addition to its content. */
const VALUE_BYTES = 256;

class KeptSnapshot implements Snapshot {
  readonly #values: LruCache<string, Uint8Array>;

  constructor(values: LruCache<string, Uint8Array>) {
    this.#values = values;
  }

  /** Returns a cached value without its seal, which the recorder has checked. */
  get(key: Buffer): Uint8Array {
    const value = this.getSealed(key);
    return value.subarray(0, value.length - SEAL_BYTES);
  }

  getSealed(key: Buffer): Uint8Array {
    const value = this.#values.get(key.toString("latin1"));
    if (!value) throw new NotKept();
    return value;
  }

  keys(): never {
    throw new NotKept();
  }

  close(): void {}
}

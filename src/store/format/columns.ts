/**
 * Encodes and decodes values that consist of a small record and its columns:
 *
 *     value := length record column*      length: u32, the length of the record; record: MessagePack
 *
 * Columns are typed arrays in their memory layout, so a column of any length is read with one copy. With MessagePack
 * instead of columns, decoding 3 000 repositories blocked the calling thread for 6 ms.
 */

import { pack } from "msgpackr";
import { bytesOf, wordsOf } from "../../base/growable.ts";
import { corrupt, unpackAs } from "./sealed.ts";

const LENGTH_BYTES = 4;

/** Encodes the record, preceded by its length. The columns have to be written after these bytes. */
export function encodeRecord(record: object): Uint8Array[] {
  const packed = pack(record);
  return [bytesOf(Uint32Array.of(packed.length)), packed];
}

/**
 * Decodes the record, and returns it with a reader of its columns. REQUIRES: `value` is a copy, or the reader is used
 * before the next read of the snapshot.
 */
export function decodeRecord<T extends object>(
  value: Uint8Array,
  what: string,
  isRecord: (record: Readonly<Record<string, unknown>>) => boolean,
): { readonly record: T; readonly columns: ColumnReader } {
  if (value.length < LENGTH_BYTES) throw corrupt(what);
  const end = LENGTH_BYTES + wordsOf(value.subarray(0, LENGTH_BYTES))[0]!;
  if (end > value.length) throw corrupt(what);
  const record = unpackAs<T>(value.subarray(LENGTH_BYTES, end), what, isRecord);
  return { record, columns: new ColumnReader(value.subarray(end), what) };
}

/** Reads one column after another. Returns each column as a copy. */
export class ColumnReader {
  readonly #what: string;
  #rest: Uint8Array;

  constructor(bytes: Uint8Array, what: string) {
    this.#rest = bytes;
    this.#what = what;
  }

  bytes(length: number): Uint8Array {
    if (length > this.#rest.length) throw corrupt(this.#what);
    const column = this.#rest.slice(0, length);
    this.#rest = this.#rest.subarray(length);
    return column;
  }

  words(count: number): Uint32Array {
    return wordsOf(this.bytes(4 * count));
  }

  /** Throws INDEX_CORRUPT if there are bytes after the last column. */
  end(): void {
    if (this.#rest.length > 0) throw corrupt(this.#what);
  }
}

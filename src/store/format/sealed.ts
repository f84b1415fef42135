/**
 * Adds seals to values and checks them. A seal is the CRC-32 of a key and a payload. The seal follows the payload. It
 * covers the key, too, because damage in LMDB's tree can put an intact value under the wrong key. Node computes the CRC
 * at 7 GB/s, so a block of text takes 5 µs.
 */

import { crc32 } from "node:zlib";
import { unpack } from "msgpackr";
import { QuernError } from "../../base/errors.ts";

export const SEAL_BYTES = 4;

export function seal(key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer {
  const value = Buffer.allocUnsafe(sealedLength(parts));
  sealInto(value, key, parts);
  return value;
}

export const sealedLength = (parts: readonly Uint8Array[]): number =>
  parts.reduce((sum, { length }) => sum + length, SEAL_BYTES);

/** Writes the payload and its seal to `value`. REQUIRES: `value` has the length that sealedLength() returns. */
export function sealInto(value: Uint8Array, key: Uint8Array, parts: readonly Uint8Array[]): void {
  let at = 0;
  for (const part of parts) {
    value.set(part, at);
    at += part.length;
  }
  const { buffer, byteOffset } = value;
  const seal = sealOf(key, value.subarray(0, at));
  new DataView(buffer, byteOffset).setUint32(at, seal, true);
}

/** Returns the seal of a payload under a key. */
export const sealOf = (key: Uint8Array, payload: Uint8Array): number => crc32(payload, crc32(key));

/** Returns true if the seal of a value is right for this key. */
export function isSealed(key: Uint8Array, value: Uint8Array): boolean {
  const length = value.length - SEAL_BYTES;
  if (length < 0) return false;
  const seal = value[length]! | (value[length + 1]! << 8) | (value[length + 2]! << 16);
  return (seal | (value[length + 3]! << 24)) >>> 0 === sealOf(key, value.subarray(0, length));
}

/**
 * Checks the seal of a value, and returns the payload as a view of `value`. Throws INDEX_CORRUPT if the seal is wrong.
 */
export function unseal(key: Uint8Array, value: Uint8Array, what: string): Uint8Array {
  if (!isSealed(key, value)) throw corrupt(what);
  return value.subarray(0, value.length - SEAL_BYTES);
}

/** Decodes a MessagePack record. Throws INDEX_CORRUPT if the record is invalid or if `isRecord` rejects it. */
export function unpackAs<T extends object>(
  value: Uint8Array,
  what: string,
  isRecord: (record: Readonly<Record<string, unknown>>) => boolean,
): T {
  let record: unknown;
  try {
    record = unpack(value);
  } catch {
    throw corrupt(what);
  }
  if (typeof record !== "object" || record === null) throw corrupt(what);
  if (!isRecord(record as Readonly<Record<string, unknown>>)) throw corrupt(what);
  return record as T; // isRecord has checked the fields that matter
}

/** Returns true if a value can be a length or an index in a table. */
export const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 32;

export const isCorrupt = (error: unknown): error is QuernError =>
  error instanceof QuernError && error.code === "INDEX_CORRUPT";

export function corrupt(what: string): QuernError {
  return new QuernError(
    "INDEX_CORRUPT",
    `the index is damaged: ${what}; run check(), then index the repositories again into a new directory; on a machine of a cluster, delete the folder, and the machine fetches everything again`,
  );
}

/** Returns what `read` returns, or undefined if the data is damaged. */
export function unlessCorrupt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isCorrupt(error)) return undefined;
    throw error;
  }
}

/**
 * The contract of a store of immutable objects. Keys follow from the content, so equal content is stored once and nothing ever
 * changes. `segmentStoreSuite` of quern/testing checks a store. An S3-compatible service meets the contract without
 * conditional writes.
 */

import { QuernError } from "../../base/errors.ts";

/**
 * A store of immutable objects. A store that takes long rejects with ABORTED when a `signal` that it was given aborts;
 * a store may ignore it.
 *
 * @example
 * const segments: SegmentStore = directorySegments("/mnt/shared/quern");
 * for await (const { key, at } of segments.list("v1/")) console.log(key, at);
 */
export interface SegmentStore {
  /**
   * Stores an object of `bytes` bytes. If there is one under the key, this leaves one, and renews its date.
   * Nobody sees an object that is not whole: a `body` of another length rejects with INVALID_REQUEST, a body
   * that throws rejects with what it threw, and nothing is stored.
   *
   * @example
   * declare const segments: SegmentStore;
   * const body = (async function* () {
   *   yield Buffer.from("text");
   * })();
   * await segments.put("v1/seg/98/982d9e3e", body, 4);
   */
  put(
    key: string,
    body: AsyncIterable<Uint8Array>,
    bytes: number,
    signal?: AbortSignal,
  ): Promise<void>;
  /**
   * Reads an object, or the bytes from `from` to `to`, which does not belong to them; what lies behind the
   * object's end is left out. Rejects with INDEX_NOT_FOUND if there is no such object, now or while it is read.
   *
   * @example
   * declare const segments: SegmentStore;
   * for await (const bytes of await segments.get("v1/seg/98/982d9e3e", [0, 100])) console.log(bytes);
   */
  get(
    key: string,
    range?: readonly [from: number, to: number],
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Removes an object. If there is none, nothing happens.
   *
   * @example
   * declare const segments: SegmentStore;
   * await segments.delete("v1/seg/98/982d9e3e");
   */
  delete(key: string, signal?: AbortSignal): Promise<void>;
  /**
   * Lists the objects whose keys begin with `prefix`, by key. An object that is stored or removed meanwhile may
   * or may not be listed.
   *
   * @example
   * declare const segments: SegmentStore;
   * for await (const { key, at } of segments.list("v1/sym/")) console.log(key, at);
   */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<StoredObject>;
}

/**
 * An object of a SegmentStore, as it is listed.
 *
 * @example
 * const isOld = ({ at }: StoredObject): boolean => Date.now() - at.getTime() > 86_400_000;
 */
export interface StoredObject {
  /** The object's key. */
  key: string;
  /** When it was stored last. */
  at: Date;
}

const KEY = /^[a-z0-9]+(?:\/[a-z0-9]+)*$/;

/** Returns whether a key is a path of lower-case letters and digits, which is the same on every file system and in every URL. */
export const isKey = (key: string): boolean => KEY.test(key) && key.length <= 512;

export function checkedKey(key: string): string {
  if (typeof key === "string" && isKey(key)) return key;
  throw new QuernError(
    "INVALID_REQUEST",
    `key: must be lower-case letters and digits, with "/" between, got ${JSON.stringify(key)}`,
  );
}

export function checkedRange(
  range: readonly [from: number, to: number] = [0, Number.MAX_SAFE_INTEGER],
): readonly [from: number, to: number] {
  const [from, to] = range;
  if (Number.isSafeInteger(from) && Number.isSafeInteger(to) && 0 <= from && from <= to)
    return [from, to];
  throw new QuernError(
    "INVALID_REQUEST",
    `range: must be two integers, the first not above the second, got ${from} and ${to}`,
  );
}

export const noSuchObject = (key: string, cause?: unknown): QuernError =>
  new QuernError("INDEX_NOT_FOUND", `there is no object ${key} in the store`, { cause });

/** Passes `body` on, and throws at its end or before if its length is not `bytes`. */
export async function* ofLength(
  body: AsyncIterable<Uint8Array>,
  bytes: number,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length > bytes) break;
    yield piece;
  }
  if (length === bytes) return;
  const got = length > bytes ? "more" : String(length);
  throw new QuernError("INVALID_REQUEST", `put: body must have ${bytes} bytes, got ${got}`);
}

/** Cuts `body` into pieces of `bytes` bytes; the last one may be shorter. */
export async function* inPieces(
  body: AsyncIterable<Uint8Array>,
  bytes: number,
): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = [];
  let length = 0;
  for await (let piece of body) {
    while (length + piece.length >= bytes) {
      const rest = bytes - length;
      yield Buffer.concat([...held, piece.subarray(0, rest)]);
      [held, length] = [[], 0];
      piece = piece.subarray(rest);
    }
    if (piece.length > 0) held.push(piece);
    length += piece.length;
  }
  if (length > 0) yield Buffer.concat(held);
}

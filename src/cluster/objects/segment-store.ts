/**
 * Defines the contract of a store of immutable objects. Keys are derived from the content, so equal content is stored
 * once and objects never change. `segmentStoreSuite` of quern/testing tests whether a store fulfils the contract. An
 * S3-compatible service can fulfil it without conditional writes.
 */

import { QuernError } from "../../base/errors.ts";

/**
 * A store of immutable objects. A call with a `signal` should reject with ABORTED when the signal aborts. A fast
 * store may ignore the signal.
 *
 * @example
 * const segments: SegmentStore = directorySegments("/mnt/shared/quern");
 * for await (const { key, at } of segments.list("v1/")) console.log(key, at);
 */
export interface SegmentStore {
  /**
   * Stores an object of `bytes` bytes. If the store already has an object with this key, the store keeps only one of
   * them, and renews its date. Readers never see an incomplete object. If `body` has another length, the call rejects
   * with INVALID_REQUEST. If `body` throws an error, the call rejects with that error. In both cases, nothing is
   * stored.
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
   * Reads an object, or its bytes from `from` up to but not including `to`. A range may extend beyond the end of the
   * object. Rejects with INDEX_NOT_FOUND if the object does not exist, or is removed while it is read.
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
   * Removes an object. Does nothing if the object does not exist.
   *
   * @example
   * declare const segments: SegmentStore;
   * await segments.delete("v1/seg/98/982d9e3e");
   */
  delete(key: string, signal?: AbortSignal): Promise<void>;
  /**
   * Lists the objects whose keys begin with `prefix`, sorted by key. An object that is stored or removed while the list
   * is read may or may not be listed.
   *
   * @example
   * declare const segments: SegmentStore;
   * for await (const { key, at } of segments.list("v1/sym/")) console.log(key, at);
   */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<StoredObject>;
}

/**
 * An entry in a SegmentStore's list.
 *
 * @example
 * const isOld = ({ at }: StoredObject): boolean => Date.now() - at.getTime() > 86_400_000;
 */
export interface StoredObject {
  /** The object's key. */
  key: string;
  /** The time at which the object was last stored. */
  at: Date;
}

const KEY = /^[a-z0-9]+(?:\/[a-z0-9]+)*$/;

/**
 * Returns whether a key is a path of lower-case letters and digits. Such a path is the same on every file system and
 * in every URL.
 */
export const isKey = (key: string): boolean => KEY.test(key) && key.length <= 512;

export function checkedKey(key: string): string {
  if (typeof key === "string" && isKey(key)) return key;
  throw new QuernError(
    "INVALID_REQUEST",
    `key: must be lower-case letters and digits, separated by "/", got ${JSON.stringify(key)}`,
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

/**
 * Yields the pieces of `body`. Throws, at the end of `body` at the latest, if the length of `body` is not `bytes`.
 */
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

/** Splits `body` into pieces of `bytes` bytes. The last piece may be shorter. */
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

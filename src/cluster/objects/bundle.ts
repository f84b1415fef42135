/**
 * Defines the format of every object: a sequence of values, each with a tag and a number. Version 1:
 *
 *     object := "quern" version kind value* end
 *     value  := tag number length byte[length]
 *     end    := 255
 *
 * `version`, `kind` and `tag` are bytes, the others u32, little-endian. The kind defines what tags and numbers mean;
 * see segment-object.ts. The key of an object ends with the SHA-256 of all its bytes. So objects with equal content
 * have the same key, and values need no seals. Once a reader has reached the end, it knows that the object is
 * undamaged. Before that, any value may be damaged.
 *
 * *Example.* An object of kind 1 with one value (tag 3, number 2, content `hi`): 71 75 65 72 6e 01 01, 03, 02 00 00
 * 00, 02 00 00 00, 68 69, ff.
 */

import { createHash } from "node:crypto";
import { QuernError } from "../../base/errors.ts";

const MAGIC = Buffer.from("quern\u0001");
const HEAD_BYTES = 9;
const END = 255;
/** The longest value. The posting lists of one gram and the tables of a segment of 256 MiB are far shorter. */
const MOST_BYTES = 2 ** 29;
/** The longest object whose length is not published: the symbols of a segment, and repository objects. */
const MOST_OBJECT_BYTES = 2 ** 30;
/** How many bytes are written at a time. */
const PIECE_BYTES = 2 ** 20;

export interface Value {
  readonly tag: number;
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** The key of an object, and its length. */
export interface Described {
  readonly key: string;
  readonly bytes: number;
}

/**
 * Yields the bytes of an object. A value's bytes may be valid only until the next value is requested. REQUIRES: tags
 * are below 255.
 */
export async function* encodeBundle(
  kind: number,
  values: AsyncIterable<Value> | Iterable<Value>,
): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [Uint8Array.of(...MAGIC, kind)];
  let bytes = held[0]!.length;
  for await (const value of values) {
    const head = Buffer.alloc(HEAD_BYTES);
    head[0] = value.tag;
    head.writeUInt32LE(value.number, 1);
    head.writeUInt32LE(value.bytes.length, 5);
    held.push(head, Uint8Array.from(value.bytes));
    bytes += HEAD_BYTES + value.bytes.length;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(held);
    [held, bytes] = [[], 0];
  }
  yield Buffer.concat([...held, Uint8Array.of(END)]);
}

/** Computes the key and the length of an object from its bytes. */
export async function describe(
  folder: string,
  body: AsyncIterable<Uint8Array>,
): Promise<Described> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of body) {
    hash.update(piece);
    bytes += piece.length;
  }
  const sum = hash.digest("hex");
  return { key: `v1/${folder}/${sum.slice(0, 2)}/${sum}`, bytes };
}

/**
 * Yields the values of an object. Throws INDEX_CORRUPT, at the end at the latest, if the bytes do not match the key.
 * Throws as soon as there are more than `mostBytes`, because an endless body would fill the disk before its hash is
 * known.
 * REQUIRES: the caller trusts no value before the end.
 */
export async function* decodeBundle(
  key: string,
  kind: number,
  body: AsyncIterable<Uint8Array>,
  mostBytes = MOST_OBJECT_BYTES,
): AsyncGenerator<Value> {
  const hash = createHash("sha256");
  let bytesLeft = mostBytes;
  const reader = new Pieces(body, (piece) => {
    bytesLeft -= piece.length;
    if (bytesLeft < 0) throw damaged(key);
    hash.update(piece);
  });
  const head = await reader.take(MAGIC.length + 1);
  if (!head?.equals(Buffer.from([...MAGIC, kind]))) throw damaged(key);
  for (;;) {
    const tag = (await reader.take(1))?.[0];
    if (tag === undefined) throw damaged(key);
    if (tag === END) break;
    const place = await reader.take(HEAD_BYTES - 1);
    const length = place?.readUInt32LE(4) ?? Infinity;
    const bytes = length <= MOST_BYTES ? await reader.take(length) : undefined;
    if (!place || !bytes) throw damaged(key);
    yield { tag, number: place.readUInt32LE(0), bytes };
  }
  const isMore = await reader.take(1);
  if (isMore || hash.digest("hex") !== key.slice(key.lastIndexOf("/") + 1)) throw damaged(key);
}

export const damaged = (key: string): QuernError =>
  new QuernError(
    "INDEX_CORRUPT",
    `the object ${key} is damaged: its bytes are not those of its key; restore it from a backup`,
  );

/** Reads exact numbers of bytes from a body that arrives in pieces of any length. */
class Pieces {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #onPiece: (piece: Uint8Array) => void;
  #piece = Buffer.alloc(0);

  constructor(body: AsyncIterable<Uint8Array>, onPiece: (piece: Uint8Array) => void) {
    this.#source = body[Symbol.asyncIterator]();
    this.#onPiece = onPiece;
  }

  /** Resolves to the next bytes. Resolves to undefined if the body ends before this many. */
  async take(bytes: number): Promise<Buffer | undefined> {
    const held: Uint8Array[] = [this.#piece];
    for (let length = this.#piece.length; length < bytes;) {
      const next = await this.#source.next();
      if (next.done) return undefined;
      this.#onPiece(next.value);
      held.push(next.value);
      length += next.value.length;
    }
    const all = held.length === 1 ? this.#piece : Buffer.concat(held);
    this.#piece = all.subarray(bytes);
    return all.subarray(0, bytes);
  }
}

/**
 * Defines the format of all objects. An object consists of two sections of values, which are called the tables and
 * the rest. This is version 4 of the format:
 *
 *     object  := "quern" version kind section section tablesBytes block* block*
 *     section := bytes sum
 *     block   := length byte[length]
 *     value   := tag number length byte[length]
 *
 * `version`, `kind` and `tag` are bytes. `sum` is a SHA-256. All other numbers are u32, little-endian. The kind
 * defines what tags and numbers mean; see segment-object.ts. The values of a section follow one another. Together,
 * they have `bytes` bytes and the SHA-256 `sum`. These bytes are cut into blocks of BLOCK_BYTES, of which the last
 * may be shorter. Each block is packed (packing.ts). `tablesBytes` is the length of the packed tables, so that a
 * reader can fetch only these.
 *
 * The key of an object ends with the SHA-256 of its bytes before `tablesBytes`. So objects with equal content have
 * the same key, even if two versions of brotli pack the content differently. Values need no seals, because a reader
 * checks the SHA-256 of each section. The reader can check it only at the end of the section. Before that, any value
 * may be damaged.
 *
 * *Example.* An object of kind 1 without tables, and with one value (tag 3, number 2, content `hi`):
 *
 *     71 75 65 72 6e 04 01     "quern", version 4, kind 1
 *     00 00 00 00 sum          the section of the tables, which is empty
 *     0b 00 00 00 sum          the other section: 03, 02 00 00 00, 02 00 00 00, 68 69
 *     00 00 00 00              the length of the packed tables
 *     length bytes             one block: the 11 bytes of the second section, packed
 *
 * In version 1, values were not packed. In version 2, pages of text were twice as long. In version 3, versions
 * of files had 20 bytes each, and headers of segments did not have the sizes of pages and blocks.
 */

import { createHash, hash as hashOf } from "node:crypto";
import { QuernError } from "../../base/errors.ts";
import { pack, unpack } from "./packing.ts";
import { inPieces, type SegmentStore } from "./segment-store.ts";

/** The kinds of objects, by the folder of their keys. */
export const KIND = { seg: 1, sym: 2, repo: 3 } as const;

const MAGIC = Buffer.from("quern\u0004");
const SUM_BYTES = 32;
const SECTION_BYTES = 4 + SUM_BYTES;
/** The key of an object contains the hash of this many bytes at the object's start. */
const NAMED_BYTES = MAGIC.length + 1 + 2 * SECTION_BYTES;
const HEAD_BYTES = NAMED_BYTES + 4;
const VALUE_HEAD_BYTES = 9;
const BLOCK_BYTES = 2 ** 20;
/** The maximum length of a packed block. Brotli adds a few bytes to a block that it cannot compress. */
const MOST_PACKED_BYTES = BLOCK_BYTES + 2 ** 10;
/** The maximum length of a value. In a segment of 256 MiB, posting lists and tables are far shorter. */
const MOST_BYTES = 2 ** 29;
/**
 * The maximum length of the values of an object whose length is not published. Objects with symbols and repository
 * objects are such objects.
 */
const MOST_OBJECT_BYTES = 2 ** 30;
/**
 * The maximum number of packed bytes of a section that are kept in memory until they are sent. A longer section is
 * packed twice, because the length of an object must be known before the object is sent.
 */
const MOST_HELD_BYTES = 16 * 2 ** 20;

export interface Value {
  readonly tag: number;
  readonly number: number;
  readonly bytes: Uint8Array;
}

type Values = AsyncIterable<Value> | Iterable<Value>;

/**
 * The content of an object that is to be stored. Each of the two sections may be read twice, and must have the same
 * values each time. The bytes of a value may be valid only until the next value is requested.
 */
export interface Bundle {
  readonly kind: number;
  readonly tables: () => Values;
  readonly rest: () => Values;
}

/** The key of an object, and the length of its values before they are packed. */
export interface Described {
  readonly key: string;
  readonly bytes: number;
}

interface Section {
  readonly bytes: number;
  readonly sum: Buffer;
}

interface PackedSection extends Section {
  readonly packedBytes: number;
  readonly blocks: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

export async function sendBundle(
  store: Pick<SegmentStore, "put">,
  folder: string,
  { kind, tables: tableValues, rest: restValues }: Bundle,
): Promise<Described> {
  const [tables, rest] = [await packSection(tableValues), await packSection(restValues)];
  const named = Buffer.concat([MAGIC, Buffer.of(kind), ...[tables, rest].flatMap(sectionHead)]);
  const sum = hashOf("sha256", named);
  const key = `v1/${folder}/${sum.slice(0, 2)}/${sum}`;
  const body = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.concat([named, u32(tables.packedBytes)]);
    yield* tables.blocks();
    yield* rest.blocks();
  };
  await store.put(key, body(), HEAD_BYTES + tables.packedBytes + rest.packedBytes);
  return { key, bytes: tables.bytes + rest.bytes };
}

const sectionHead = ({ bytes, sum }: Section): Buffer[] => [u32(bytes), sum];

function u32(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
}

async function packSection(values: () => Values): Promise<PackedSection> {
  const hash = createHash("sha256");
  let held: Uint8Array[] | undefined = [];
  let [bytes, packedBytes] = [0, 0];
  for await (const packed of packedBlocks(values(), (block) => {
    bytes += block.length;
    hash.update(block);
  })) {
    packedBytes += packed.length;
    if (packedBytes > MOST_HELD_BYTES) held = undefined;
    held?.push(packed);
  }
  const kept = held;
  const blocks = () => kept ?? packedBlocks(values(), () => undefined);
  return { bytes, sum: hash.digest(), packedBytes, blocks };
}

async function* packedBlocks(
  values: Values,
  onBlock: (block: Buffer) => void,
): AsyncGenerator<Uint8Array> {
  for await (const block of inPieces(encodeValues(values), BLOCK_BYTES)) {
    const packing = pack(block);
    onBlock(block);
    const packed = await packing;
    yield Buffer.concat([u32(packed.length), packed]);
  }
}

async function* encodeValues(values: Values): AsyncGenerator<Uint8Array> {
  for await (const { tag, number, bytes } of values) {
    const head = Buffer.alloc(VALUE_HEAD_BYTES);
    head[0] = tag;
    head.writeUInt32LE(number, 1);
    head.writeUInt32LE(bytes.length, 5);
    yield Buffer.concat([head, bytes]);
  }
}

/**
 * Yields the values of an object. Throws INDEX_CORRUPT, at the end at the latest, if the object does not match the
 * key. If the values have more than `mostBytes` bytes, throws before the first value, because the values could fill
 * the disk before their hash is checked. REQUIRES: the caller trusts no value until all have been read without an
 * error.
 */
export async function* decodeBundle(
  key: string,
  kind: number,
  body: AsyncIterable<Uint8Array>,
  mostBytes = MOST_OBJECT_BYTES,
): AsyncGenerator<Value> {
  const reader = new Pieces(body);
  try {
    const { tables, rest, tablesBytes } = await readHead(key, kind, reader);
    if (tables.bytes + rest.bytes > mostBytes) throw damaged(key);
    yield* decodeSection(key, tables, reader);
    if (reader.taken !== HEAD_BYTES + tablesBytes) throw damaged(key);
    yield* decodeSection(key, rest, reader);
    if (await reader.take(1)) throw damaged(key);
  } finally {
    await reader.close();
  }
}

/**
 * Fetches only the tables of an object, and yields their values. Throws INDEX_CORRUPT as decodeBundle() does.
 * REQUIRES: the caller trusts no value until all have been read without an error.
 */
export async function* fetchTables(
  store: Pick<SegmentStore, "get">,
  key: string,
  kind: number,
  mostBytes = MOST_OBJECT_BYTES,
): AsyncGenerator<Value> {
  const { tables, tablesBytes } = await fetchHead(store, key, kind);
  if (tables.bytes > mostBytes) throw damaged(key);
  const reader = new Pieces(await store.get(key, [HEAD_BYTES, HEAD_BYTES + tablesBytes]));
  try {
    yield* decodeSection(key, tables, reader);
    if (reader.taken !== tablesBytes || (await reader.take(1))) throw damaged(key);
  } finally {
    await reader.close();
  }
}

/** Resolves to false if the object is damaged or missing. */
export async function isIntact(store: Pick<SegmentStore, "get">, key: string): Promise<boolean> {
  const kind = KIND[key.split("/")[1] as keyof typeof KIND];
  try {
    for await (const _ of decodeBundle(key, kind, await store.get(key))); // checks all bytes
    return true;
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}

/** Whether a store has rejected a call because an object is damaged or missing. */
export const isDamage = (error: unknown): boolean =>
  error instanceof QuernError &&
  (error.code === "INDEX_CORRUPT" || error.code === "INDEX_NOT_FOUND");

async function fetchHead(
  store: Pick<SegmentStore, "get">,
  key: string,
  kind: number,
): Promise<Head> {
  const reader = new Pieces(await store.get(key, [0, HEAD_BYTES]));
  try {
    return await readHead(key, kind, reader);
  } finally {
    await reader.close();
  }
}

interface Head {
  readonly tables: Section;
  readonly rest: Section;
  readonly tablesBytes: number;
}

async function readHead(key: string, kind: number, reader: Pieces): Promise<Head> {
  const head = await reader.take(HEAD_BYTES);
  const named = head?.subarray(0, NAMED_BYTES);
  const start = Buffer.from([...MAGIC, kind]);
  const isNamed =
    named?.subarray(0, start.length).equals(start) &&
    hashOf("sha256", named) === key.slice(key.lastIndexOf("/") + 1);
  if (!head || !isNamed) throw damaged(key);
  const sectionAt = (at: number): Section => ({
    bytes: head.readUInt32LE(at),
    sum: Buffer.from(head.subarray(at + 4, at + SECTION_BYTES)),
  });
  return {
    tables: sectionAt(start.length),
    rest: sectionAt(start.length + SECTION_BYTES),
    tablesBytes: head.readUInt32LE(NAMED_BYTES),
  };
}

async function* decodeSection(
  key: string,
  section: Section,
  reader: Pieces,
): AsyncGenerator<Value> {
  const values = new Pieces(unpackedBlocks(key, section, reader));
  for (;;) {
    const tag = (await values.take(1))?.[0];
    if (tag === undefined) return;
    const place = await values.take(VALUE_HEAD_BYTES - 1);
    const length = place?.readUInt32LE(4) ?? Infinity;
    const bytes = length <= MOST_BYTES ? await values.take(length) : undefined;
    if (!place || !bytes) throw damaged(key);
    yield { tag, number: place.readUInt32LE(0), bytes };
  }
}

/** Yields the blocks of a section. While the caller stores a block, the next block is unpacked. */
async function* unpackedBlocks(
  key: string,
  { bytes, sum }: Section,
  reader: Pieces,
): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  let coming = bytes > 0 ? unpackedBlock(reader, Math.min(bytes, BLOCK_BYTES)) : undefined;
  for (let left = bytes - BLOCK_BYTES; coming; left -= BLOCK_BYTES) {
    const block: Buffer | undefined = await coming;
    if (!block) throw damaged(key);
    coming = left > 0 ? unpackedBlock(reader, Math.min(left, BLOCK_BYTES)) : undefined;
    coming?.catch(() => undefined); // if the caller has stopped, nothing awaits this promise
    hash.update(block);
    yield block;
  }
  if (!hash.digest().equals(sum)) throw damaged(key);
}

async function unpackedBlock(reader: Pieces, bytes: number): Promise<Buffer | undefined> {
  const length = (await reader.take(4))?.readUInt32LE() ?? Infinity;
  const packed = length <= MOST_PACKED_BYTES ? await reader.take(length) : undefined;
  return packed && unpack(packed, bytes);
}

export const damaged = (key: string): QuernError =>
  new QuernError(
    "INDEX_CORRUPT",
    `the object ${key} is damaged: its bytes do not match its key; restore it from a backup`,
  );

/** Reads any number of bytes at a time from a body that arrives in pieces of other lengths. */
class Pieces {
  readonly #source: AsyncIterator<Uint8Array>;
  #piece = Buffer.alloc(0);
  /** How many bytes take() has returned. */
  taken = 0;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#source = body[Symbol.asyncIterator]();
  }

  /** Resolves to the next `bytes` bytes, or to undefined if the body has fewer left. */
  async take(bytes: number): Promise<Buffer | undefined> {
    const held: Uint8Array[] = [this.#piece];
    for (let length = this.#piece.length; length < bytes;) {
      const next = await this.#source.next();
      if (next.done) return undefined;
      held.push(next.value);
      length += next.value.length;
    }
    const all = held.length === 1 ? this.#piece : Buffer.concat(held);
    this.#piece = all.subarray(bytes);
    this.taken += bytes;
    return all.subarray(0, bytes);
  }

  /** Ends the body, even if it has more bytes. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }
}

/**
 * Converts a segment to an object, and an edition of its symbols to another object. The objects contain neither the
 * segment's number, nor the edition's number, nor seals. The machine that fetches an object assigns new numbers and
 * makes new seals. Repositories have the same ids on all machines of a cluster.
 *
 *     kind     tag                 number
 *     SEGMENT  part                the value's number in its part; only the first copy of the header is there;
 *                                  blocks of text come last, in order
 *     SYMBOLS  SYMBOLS or NAMES    the value's number in its edition
 *
 * The tables of a segment are its HEADER and the TABLE_PARTS. They make up 0.3 % of its bytes. The only table of an
 * edition is its header.
 */

import { GrowableWords } from "../../base/growable.ts";
import {
  FILE_BLOCKS,
  PART,
  segmentKey,
  segmentRange,
  type Part,
} from "../../store/format/format.ts";
import type { Environment, Snapshot, Writer } from "../../store/lmdb/environment.ts";
import { corrupt, sealOf } from "../../store/format/sealed.ts";
import { encodeTextSeals } from "../../store/format/text-seals.ts";
import {
  encodeFiles,
  encodePaths,
  readFiles,
  readPaths,
} from "../../store/segments/file-tables.ts";
import {
  encodeHeader,
  isBorrowing,
  HEADER_COPIES,
  readHeader,
  type SegmentHeader,
} from "../../store/segments/segment-tables.ts";
import {
  EDITION_NUMBERS,
  editionKey,
  editionRange,
  numberInEdition,
} from "../../store/symbols/edition-key.ts";
import type { EditionOf } from "../../store/symbols/symbol-columns.ts";
import {
  damaged,
  decodeBundle,
  fetchTables,
  KIND,
  sendBundle,
  type Described,
  type Value,
} from "./bundle.ts";
import type { SegmentStore } from "./segment-store.ts";

/** The parts of an object's tables, after the header. */
const TABLE_PARTS: readonly Part[] = [
  PART.BLOBS,
  PART.HASHES,
  PART.FOLDS,
  PART.FILES,
  PART.PATHS,
  PART.GRAMS,
];
/** The parts of an object's rest that come before the text. */
const REST_PARTS: readonly Part[] = [PART.POSTINGS];
const TEXT_PARTS: readonly Part[] = [PART.TEXT, PART.SEALS];
const SYMBOL_PARTS: readonly Part[] = [PART.SYMBOLS, PART.NAMES];

/**
 * The maximum number of values that one snapshot reads or one transaction writes. A long snapshot prevents LMDB from
 * reusing old pages, and a long transaction blocks its thread.
 */
const VALUES_AT_ONCE = 64;
/**
 * A transaction that writes this many bytes or more gets no further values. Without this bound, 64 values of a
 * hostile object could have 32 GiB.
 */
const BYTES_AT_ONCE = 8 * 2 ** 20;

type Keys = readonly [start: Buffer, end: Buffer];

/** A range of keys in a data directory, and the tag that their values get in an object. */
interface Stretch {
  readonly tag: Part;
  readonly range: Keys;
  readonly numberOf: (key: Buffer) => number;
}

const segmentStretches = (parts: readonly Part[], segment: number): Stretch[] =>
  parts.map((tag) => ({
    tag,
    range: [segmentKey(segment, tag), segmentKey(segment, (tag + 1) as Part)],
    numberOf: (key) => key.readUInt32BE(6),
  }));

/**
 * Yields the tables of a segment. If the segment borrows content from another segment, the tables include a copy of
 * the tables that it borrows.
 */
async function* tableValues(environment: Environment, segment: number): AsyncGenerator<Value> {
  const header = headerOf(environment, segment);
  const bytes = Buffer.concat(encodeHeader(segment, { ...header, content: segment }));
  yield { tag: PART.HEADER, number: 0, bytes };
  for (const part of TABLE_PARTS)
    if (part === PART.FILES || part === PART.PATHS)
      yield { tag: part, number: 0, bytes: fileTable(environment, segment, { header, part }) };
    else yield* valuesOf(environment, segmentStretches([part], header.content));
}

/** Returns a table of all files of a segment, including files that the segment borrows. */
function fileTable(
  environment: Environment,
  segment: number,
  { header, part }: { readonly header: SegmentHeader; readonly part: Part },
): Uint8Array {
  const snapshot = environment.snapshot();
  try {
    const table =
      part === PART.FILES
        ? encodeFiles(readFiles(snapshot, segment, header))
        : encodePaths(readPaths(snapshot, segment, header));
    return Buffer.concat(table);
  } finally {
    snapshot.close();
  }
}

/** Yields the posting lists and the text of a segment. */
async function* restValues(environment: Environment, segment: number): AsyncGenerator<Value> {
  const header = headerOf(environment, segment);
  yield* valuesOf(environment, segmentStretches(REST_PARTS, header.content));
  const blocks = blocksOf(header);
  for (let first = 0; first < blocks; first += VALUES_AT_ONCE)
    yield* textBlocks(environment, header, first, Math.min(first + VALUES_AT_ONCE, blocks));
}

const blocksOf = ({ textBytes, blockBytes }: SegmentHeader): number =>
  Math.ceil(textBytes / blockBytes);

/** Returns blocks of text, whether they are stored as values or in a file. */
function textBlocks(
  environment: Environment,
  { content }: SegmentHeader,
  first: number,
  end: number,
): Value[] {
  const snapshot = environment.snapshot();
  try {
    return Array.from({ length: end - first }, (_, i) => ({
      tag: PART.TEXT,
      number: first + i,
      bytes: valueAt(snapshot, segmentKey(content, PART.TEXT, first + i)),
    }));
  } finally {
    snapshot.close();
  }
}

function headerOf(environment: Environment, segment: number): SegmentHeader {
  const snapshot = environment.snapshot();
  try {
    const header = readHeader(snapshot, segment);
    if (!header) throw corrupt(`segment ${segment} is missing`);
    return header;
  } finally {
    snapshot.close();
  }
}

/**
 * The number of an edition's header among the values of SYMBOLS. An index run reads only the header to know which
 * symbols it has to find again.
 */
const SYMBOLS_HEADER = 0;

const symbolStretch = (
  tag: Part,
  { segment, edition }: EditionOf,
  [from, to]: readonly [from: number, to: number],
): Stretch => ({
  tag,
  range: [editionKey(segment, tag, edition, from), editionKey(segment, tag, edition, to)],
  numberOf: numberInEdition,
});

const symbolsRest = (of: EditionOf): Stretch[] => [
  symbolStretch(PART.SYMBOLS, of, [SYMBOLS_HEADER + 1, EDITION_NUMBERS]),
  symbolStretch(PART.NAMES, of, [0, EDITION_NUMBERS]),
];

/** Yields the values in all key ranges. REQUIRES: nobody deletes the values while they are read. */
async function* valuesOf(
  environment: Environment,
  stretches: readonly Stretch[],
): AsyncGenerator<Value> {
  for (const { tag, range, numberOf } of stretches)
    for (let [start, end] = range; ;) {
      const values = readSome(environment, [start, end]);
      for (const { key, bytes } of values) yield { tag, number: numberOf(key), bytes };
      const last = values.at(-1);
      if (last === undefined || values.length < VALUES_AT_ONCE) break;
      start = Buffer.concat([last.key, Buffer.of(0)]);
    }
}

function readSome(environment: Environment, range: Keys): { key: Buffer; bytes: Uint8Array }[] {
  const snapshot = environment.snapshot();
  try {
    const keys = Array.from(snapshot.keys(range, VALUES_AT_ONCE), (key) => Buffer.from(key));
    return keys.map((key) => ({ key, bytes: valueAt(snapshot, key) }));
  } finally {
    snapshot.close();
  }
}

function valueAt(snapshot: Snapshot, key: Buffer): Uint8Array {
  const what = "a value that is sent to the object store";
  const value = snapshot.get(key, what);
  if (!value) throw corrupt(what);
  return Uint8Array.from(value);
}

/** Stores a segment as an object in the object store. REQUIRES: nobody deletes the segment during the call. */
export const sendSegment = (
  environment: Environment,
  segment: number,
  store: SegmentStore,
): Promise<Described> =>
  sendBundle(store, "seg", {
    kind: KIND.seg,
    tables: () => tableValues(environment, segment),
    rest: () => restValues(environment, segment),
  });

/**
 * Stores the symbols of an edition as an object in the object store. REQUIRES: the edition is complete, and nobody
 * deletes it during the call.
 */
export const sendSymbols = (
  environment: Environment,
  of: EditionOf,
  store: SegmentStore,
): Promise<Described> => {
  const header = [symbolStretch(PART.SYMBOLS, of, [0, SYMBOLS_HEADER + 1])];
  return sendBundle(store, "sym", {
    kind: KIND.sym,
    tables: () => valuesOf(environment, header),
    rest: () => valuesOf(environment, symbolsRest(of)),
  });
};

/** A segment to fetch, and its number in this data directory. */
export interface SegmentToFetch {
  readonly key: string;
  readonly segment: number;
  /** The total length of the segment's values in bytes, if it is known. */
  readonly bytes?: number;
}

/** An edition of symbols to fetch, with the numbers that the edition and its segment have in this data directory. */
export interface SymbolsToFetch extends EditionOf {
  readonly key: string;
}

/**
 * Fetches a segment. Rejects with INDEX_CORRUPT if the object is damaged. After a failure some values may be left,
 * but no reader sees them. REQUIRES: no manifest refers to the segment's number, and only this process writes.
 */
export async function fetchSegment(
  environment: Environment,
  of: SegmentToFetch,
  store: SegmentStore,
): Promise<void> {
  const values = decodeBundle(of.key, KIND.seg, await store.get(of.key), of.bytes);
  const keysOf = segmentKeys(of, [...TABLE_PARTS, ...REST_PARTS]);
  await writeAll(environment, of.key, toSegment(environment, of, keysOf), values);
}

/** Fetches only the tables of a segment. Rejects as fetchSegment() does, with the same requirements. */
export async function fetchSegmentTables(
  environment: Environment,
  of: SegmentToFetch,
  store: SegmentStore,
): Promise<void> {
  const values = fetchTables(store, of.key, KIND.seg, of.bytes);
  await writeAll(environment, of.key, toKeys(segmentKeys(of, TABLE_PARTS)), values);
}

/**
 * Fetches all parts of a segment except its tables. Rejects with INDEX_CORRUPT if the object is damaged. After a
 * failure, some values may be left. The next call deletes them. REQUIRES: the tables are already stored, nobody reads
 * other parts of the segment, and only this process writes.
 */
export async function fetchSegmentRest(
  environment: Environment,
  of: SegmentToFetch,
  store: Pick<SegmentStore, "get">,
): Promise<void> {
  for (const { range } of segmentStretches([...REST_PARTS, ...TEXT_PARTS], of.segment))
    await deleteRange(environment, range);
  await deleteFile(environment, of.segment);
  const values = decodeBundle(of.key, KIND.seg, await store.get(of.key), of.bytes);
  const keysOf = segmentKeys(of, REST_PARTS);
  const restOf: KeysOf = (one) => (isSegmentTable(one) ? [] : keysOf(one));
  await writeAll(environment, of.key, toSegment(environment, of, restOf), values);
}

const isSegmentTable = ({ tag }: Value): boolean => tag === PART.HEADER || isIn(TABLE_PARTS, tag);

/**
 * Returns a Store for the values of a segment. The blocks of text arrive in order, after the header. If there are
 * fewer than FILE_BLOCKS blocks, they are stored as values. Otherwise, they are stored in a file.
 */
function toSegment(environment: Environment, { segment }: SegmentToFetch, keysOf: KeysOf): Store {
  const store = toKeys(keysOf);
  const seals = new GrowableWords();
  let stored: SegmentHeader | undefined;
  return {
    put(writer, value) {
      if (value.tag !== PART.TEXT) return store.put(writer, value);
      const key = segmentKey(segment, PART.TEXT, value.number);
      const header = (stored ??= readHeader(writer, segment));
      if (!header || !isBlockOf(header, value) || value.number !== seals.length) return false;
      if (blocksOf(header) < FILE_BLOCKS) writer.put(key, value.bytes);
      else environment.texts.append(segment, value.number * header.blockBytes, [value.bytes]);
      seals.push(sealOf(key, value.bytes));
      return true;
    },
    end(writer) {
      const header = (stored ??= readHeader(writer, segment));
      if (!header || seals.length !== blocksOf(header)) return false;
      if (seals.length < FILE_BLOCKS) return true;
      const { blockBytes, textBytes } = header;
      const value = encodeTextSeals({ blockBytes, textBytes, seals: seals.view });
      writer.put(segmentKey(segment, PART.SEALS), ...value);
      return true;
    },
  };
}

const isBlockOf = ({ textBytes, blockBytes }: SegmentHeader, { number, bytes }: Value): boolean =>
  bytes.length === Math.min(blockBytes, textBytes - number * blockBytes);

/** Stores fetched values. Both functions return false if the object is damaged. */
interface Store {
  put(writer: Writer, value: Value): boolean;
  /** Called after the last value. */
  end?(writer: Writer): boolean;
}

/**
 * Returns the keys under which a value of a segment object is stored. Returns undefined for a value that cannot be part
 * of such an object.
 */
type KeysOf = (value: Value) => Buffer[] | undefined;

const toKeys = (keysOf: KeysOf): Store => ({
  put(writer, value) {
    const keys = keysOf(value);
    for (const key of keys ?? []) writer.put(key, value.bytes);
    return keys !== undefined;
  },
});

const segmentKeys =
  ({ segment }: SegmentToFetch, parts: readonly Part[]): KeysOf =>
  ({ tag, number, bytes }) => {
    if (tag === PART.HEADER && !isBorrowing(bytes))
      return HEADER_COPIES.map((copy) => segmentKey(segment, PART.HEADER, copy));
    return tag !== PART.HEADER && isIn(parts, tag) ? [segmentKey(segment, tag, number)] : undefined;
  };

/**
 * Fetches symbols, and stores them as an edition of a segment. REQUIRES: as for fetchSegment(); no manifest refers to
 * the edition.
 */
export async function fetchSymbols(
  environment: Environment,
  of: SymbolsToFetch,
  store: SegmentStore,
): Promise<void> {
  const values = decodeBundle(of.key, KIND.sym, await store.get(of.key));
  await writeAll(environment, of.key, toKeys(symbolKeys(of)), values);
}

/** Fetches only the header of an edition of symbols. REQUIRES: as for fetchSymbols(). */
export async function fetchSymbolsHeader(
  environment: Environment,
  of: SymbolsToFetch,
  store: SegmentStore,
): Promise<void> {
  const values = fetchTables(store, of.key, KIND.sym);
  await writeAll(environment, of.key, toKeys(symbolKeys(of)), values);
}

/**
 * Fetches all parts of an edition of symbols except its header. Rejects as fetchSegmentRest() does, with the same
 * requirements.
 */
export async function fetchSymbolsRest(
  environment: Environment,
  of: SymbolsToFetch,
  store: Pick<SegmentStore, "get">,
): Promise<void> {
  for (const { range } of symbolsRest(of)) await deleteRange(environment, range);
  const values = decodeBundle(of.key, KIND.sym, await store.get(of.key));
  const keysOf = symbolKeys(of);
  const isHeader = ({ tag, number }: Value) => tag === PART.SYMBOLS && number === SYMBOLS_HEADER;
  const restOf: KeysOf = (one) => (isHeader(one) ? [] : keysOf(one));
  await writeAll(environment, of.key, toKeys(restOf), values);
}

const symbolKeys =
  ({ segment, edition }: EditionOf): KeysOf =>
  ({ tag, number }) =>
    isIn(SYMBOL_PARTS, tag) && number < EDITION_NUMBERS
      ? [editionKey(segment, tag, edition, number)]
      : undefined;

const isIn = (parts: readonly Part[], tag: number): tag is Part =>
  (parts as readonly number[]).includes(tag);

async function writeAll(
  environment: Environment,
  key: string,
  store: Store,
  values: AsyncIterable<Value>,
): Promise<void> {
  let held: Value[] = [];
  let heldBytes = 0;
  const flush = async (isLast = false): Promise<void> => {
    const writes = held;
    [held, heldBytes] = [[], 0];
    await environment.write((writer) => {
      const isWhole = writes.every((value) => store.put(writer, value));
      if (!isWhole || (isLast && store.end?.(writer) === false)) throw damaged(key);
    });
  };
  for await (const value of values) {
    held.push(value);
    heldBytes += value.bytes.length;
    if (held.length >= VALUES_AT_ONCE || heldBytes >= BYTES_AT_ONCE) await flush();
  }
  await flush(true);
}

/** Deletes a segment with all its symbols, a few values at a time. REQUIRES: as for fetchSegment(). */
export async function deleteSegment(environment: Environment, segment: number): Promise<void> {
  await deleteRange(environment, segmentRange(segment));
  await deleteFile(environment, segment);
}

async function deleteFile(environment: Environment, segment: number): Promise<void> {
  const { texts } = environment;
  if (!texts.segments().includes(segment)) return;
  await environment.write(() => texts.retire([segment]));
  await texts.sweep();
}

/**
 * Deletes an edition of a segment's symbols. REQUIRES: no manifest refers to the edition, and only this process
 * writes.
 */
export async function deleteSymbols(
  environment: Environment,
  { segment, edition }: { readonly segment: number; readonly edition: number },
): Promise<void> {
  for (const part of SYMBOL_PARTS)
    await deleteRange(environment, editionRange(segment, part, edition));
}

async function deleteRange(environment: Environment, range: Keys): Promise<void> {
  for (let isMore = true; isMore;)
    isMore = await environment.write((writer) => {
      const keys = [...writer.keys(range, VALUES_AT_ONCE)];
      for (const key of keys) writer.remove(key);
      return keys.length === VALUES_AT_ONCE;
    });
}

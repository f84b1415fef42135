/**
 * Writes and reads part SYMBOLS of a segment, which contains the definitions of its blobs. This part is written after
 * the segment was published, as an *edition*. A newer edition replaces an older one as a whole. The first edition of a
 * merged segment contains the symbols that the inputs of the merge had. A later run adds the missing symbols in the
 * next edition. A run with newer grammars also writes a new edition. The manifest has the number of the current edition
 * (0 if there is none). Later runs remove all other editions.
 *
 *     number                       holds
 *     edition | 0                  header: MessagePack, see SymbolsHeader
 *     edition | 1                  state of each blob (u16), length of its run (u32), first blob of each block (u32)
 *     edition | 2 + first blob     block: the runs of blobs (symbol-run.ts), one after another
 *
 * The highest byte of a number is the edition. An edition also has posting lists of its names (name-lists.ts). If the
 * header mentions no such lists, names are searched with the posting lists of the text.
 *
 * A block contains whole runs of up to SYMBOL_BLOCK_BYTES in total, or a single longer run. So the symbols of a blob
 * are read with one get. The state of a blob is 0 if its symbols are unknown. Otherwise, the state is 1 + the index of
 * an origin, which consists of the language of the blob, the version of the grammar, and the outcome.
 */

import { pack } from "msgpackr";
import { firstIndex } from "../../base/binary-search.ts";
import { emptyBitset, setBit, type Bitset } from "../../base/bitset.ts";
import { QuernError } from "../../base/errors.ts";
import { bytesOf, GrowableBytes, GrowableWords, wordsOf } from "../../base/growable.ts";
import type { Snapshot, Writer } from "../lmdb/environment.ts";
import { editionKey, editionRange, nextEdition } from "./edition-key.ts";
import { filling, PART, segmentKey } from "../format/format.ts";
import { openNameLists } from "./name-lists.ts";
import type { PostingsReader } from "../segments/postings.ts";
import { NOT_SHARED, ownBytes, TABLE, type Table } from "../segments/shared-tables.ts";
import { corrupt, isCount, isSealed, SEAL_BYTES, unpackAs } from "../format/sealed.ts";
import type { SegmentTarget } from "../segments/segment-target.ts";
import {
  blockNumber,
  joinColumns,
  putRange,
  readRanges,
  withGaps,
  type EditionOf,
  type Origin,
  type SymbolColumns,
} from "./symbol-columns.ts";
import { countSymbols, decodeSymbols, newSymbolList, type SymbolList } from "./symbol-run.ts";

const SYMBOL_BLOCK_BYTES = filling(1); // with blocks of four pages, a query with few matches takes 5 % longer
const TRANSACTION_BLOCKS = 128;
/**
 * The maximum number of 32-bit numbers in a list of definitions that a reader reuses for the next blob. A longer list
 * is freed, so that a few long files do not take much memory.
 */
const MOST_KEPT = 2 ** 14;
/** If all runs together have at most this many bytes, nobody needs to know the longest. */
const MANY_BYTES = 2 ** 22;

export interface SymbolsHeader {
  readonly blobs: number;
  readonly blocks: number;
  readonly symbols: number;
  readonly runBytes: number;
  /** The number of blobs whose symbols are unknown. */
  readonly unknown: number;
  readonly origins: readonly Origin[];
  /** The number of blocks of the posting lists of names. Undefined if there are no such lists. */
  readonly nameBlocks?: number;
}

const symbolsKey = (segment: number, edition: number, number: number): Buffer =>
  editionKey(segment, PART.SYMBOLS, edition, number);

/** Returns the ranges of the keys of all editions except `edition` and the one after it. */
export function otherEditions(segment: number, edition: number): [start: Buffer, end: Buffer][] {
  const kept = [edition, nextEdition(edition)].sort((a, b) => a - b);
  return [PART.SYMBOLS, PART.NAMES, PART.RANGES].flatMap((part) => {
    const ranges = kept.map((each) => editionRange(segment, part, each));
    const starts = [segmentKey(segment, part), ...ranges.map(([, end]) => end)];
    const ends = [...ranges.map(([start]) => start), segmentKey(segment, part, 2 ** 32 - 1)];
    return starts.map((start, i): [Buffer, Buffer] => [start, ends[i]!]);
  });
}

/** Writes the symbols of a range of blobs. Several threads may write different ranges of one edition. */
export class SymbolsWriter {
  readonly #target: SegmentTarget;
  readonly #edition: number;
  readonly #firstBlob: number;
  readonly #states = new GrowableWords();
  readonly #lengths = new GrowableWords();
  readonly #blocks = new GrowableWords();
  readonly #origins = new Map<string, number>();
  #block = new GrowableBytes(SYMBOL_BLOCK_BYTES);
  #pending: { blob: number; bytes: Uint8Array }[] = [];
  #symbols = 0;

  constructor(target: SegmentTarget, edition: number, firstBlob: number) {
    this.#target = target;
    this.#edition = edition;
    this.#firstBlob = firstBlob;
  }

  /** Adds a copy of the run of the next blob. If `origin` is undefined, the symbols of the blob are unknown. */
  add(origin: Origin | undefined, run: Uint8Array): void {
    const blob = this.#firstBlob + this.#states.length;
    const isFull = this.#block.length + run.length > SYMBOL_BLOCK_BYTES;
    if (isFull && this.#block.length > 0) this.#endBlock();
    if (run.length > 0 && this.#block.length === 0) this.#blocks.push(blob);
    this.#states.push(origin ? 1 + this.#originNumber(origin) : 0);
    this.#lengths.push(run.length);
    this.#block.push(run);
    this.#symbols += countSymbols(run);
    // flushes only after `run` was copied, because a transaction reads the lease, which may overwrite `run`
    if (this.#pending.length >= TRANSACTION_BLOCKS) this.#flush();
  }

  #originNumber(origin: Origin): number {
    const key = JSON.stringify([origin.language, origin.version, origin.outcome]);
    const known = this.#origins.get(key);
    if (known !== undefined) return known;
    this.#origins.set(key, this.#origins.size);
    return this.#origins.size - 1;
  }

  #endBlock(): void {
    this.#pending.push({ blob: this.#blocks.view.at(-1)!, bytes: this.#block.view.slice() });
    this.#block = new GrowableBytes(SYMBOL_BLOCK_BYTES);
  }

  #flush(range?: SymbolColumns): void {
    const { segment } = this.#target;
    this.#target.write((writer) => {
      for (const { blob, bytes } of this.#pending)
        writer.put(symbolsKey(segment, this.#edition, blockNumber(blob)), bytes);
      if (range) putRange(writer, { segment, edition: this.#edition }, range);
    });
    this.#pending = [];
  }

  /**
   * Writes the remaining blocks. If `isRange`, also writes the record of the range, so that the next index run can
   * continue after an interruption.
   */
  finish({ isRange = false } = {}): SymbolColumns {
    if (this.#block.length > 0) this.#endBlock();
    const columns = {
      firstBlob: this.#firstBlob,
      states: Uint16Array.from(this.#states.view),
      lengths: this.#lengths.view.slice(),
      blocks: this.#blocks.view.slice(),
      origins: [...this.#origins.keys()].map(originOf),
      symbols: this.#symbols,
    };
    if (isRange) this.#flush(columns);
    else if (this.#pending.length > 0) this.#flush();
    return columns;
  }
}

function originOf(key: string): Origin {
  const [language, version, outcome] = JSON.parse(key) as [string, string, Origin["outcome"]];
  return { language, version, outcome };
}

/**
 * Writes the columns and the header of an edition. REQUIRES: the blocks and the name lists of the edition are written.
 */
export function putEdition(
  writer: Writer,
  { segment, edition }: EditionOf,
  { header, columns }: { readonly header: SymbolsHeader; readonly columns: Columns },
): void {
  const { states, lengths, blocks } = columns;
  writer.put(symbolsKey(segment, edition, 1), bytesOf(states), bytesOf(lengths), bytesOf(blocks));
  writer.put(symbolsKey(segment, edition, 0), pack(header));
}

/** Returns the header of an edition with these columns and without name lists. */
export function headerOf({
  states,
  lengths,
  blocks,
  origins,
  symbols,
}: SymbolColumns): SymbolsHeader {
  let [unknown, runBytes] = [0, 0];
  for (const state of states) if (state === 0) unknown++;
  for (const length of lengths) runBytes += length;
  return { blobs: states.length, blocks: blocks.length, symbols, runBytes, unknown, origins };
}

/** Reads the header of an edition. Returns undefined if the edition does not exist. */
export function readSymbolsHeader(
  snapshot: Snapshot,
  segment: number,
  edition: number,
): SymbolsHeader | undefined {
  const what = `the symbols of segment ${segment}`;
  const value = snapshot.get(symbolsKey(segment, edition, 0), what);
  return value && unpackAs<SymbolsHeader>(value, what, isSymbolsHeader);
}

function isSymbolsHeader(header: Readonly<Record<string, unknown>>): boolean {
  const { blobs, blocks, symbols, runBytes, unknown, origins, nameBlocks = 0 } = header;
  const counts = [blobs, blocks, symbols, runBytes, unknown, nameBlocks];
  return counts.every(isCount) && Array.isArray(origins);
}

/**
 * Reads one edition. A reader takes about 6 bytes of memory per blob. Like the reader of a segment, it may be used with
 * later snapshots.
 */
export class SymbolsReader {
  readonly segment: number;
  readonly edition: number;
  readonly header: SymbolsHeader;
  /**
   * For each blob, 0 if its symbols are unknown, and otherwise 1 + the index of their origin in the header's `origins`.
   */
  readonly states: Uint16Array;
  /** The posting lists of the names in the edition. Undefined if the edition has none. */
  readonly names: PostingsReader | undefined;
  /** The offset of each run in the sequence of all runs, followed by the end of the last run. */
  readonly #starts: Uint32Array;
  readonly #blocks: Uint32Array;
  readonly #verified: Uint8Array;
  /** 0 as long as nobody has asked for it. */
  #mostRunBytes = 0;
  #withDefinitions: Bitset | undefined;
  /** A copy of the block that was read last, with its seal, at the start of #buffer. */
  #copy = new Uint8Array();
  #buffer = this.#copy;
  /** The index of the block in #copy, or -1 if there is none. */
  #copied = -1;
  /** The definitions of the blob with the number #decoded. */
  #list: SymbolList | undefined;
  #decoded = -1;

  constructor(
    { segment, edition }: EditionOf,
    header: SymbolsHeader,
    { states, starts, blocks }: Table<typeof TABLE.SYMBOLS>,
    names?: PostingsReader,
  ) {
    this.segment = segment;
    this.edition = edition;
    this.header = header;
    this.states = states;
    this.#starts = starts;
    this.#blocks = blocks;
    this.#verified = new Uint8Array(blocks.length);
    this.names = names;
  }

  /** The number of bytes of memory that the reader takes, without shared memory. */
  get bytes(): number {
    const own = ownBytes(this.states, this.#starts, this.#blocks, this.#verified);
    return own + (this.names?.bytes ?? 0);
  }

  get blobsWithDefinitions(): Bitset {
    if (this.#withDefinitions) return this.#withDefinitions;
    const set = emptyBitset(this.header.blobs);
    for (let blob = 0; blob < this.header.blobs; blob++) if (this.has(blob)) setBit(set, blob);
    return (this.#withDefinitions = set);
  }

  /** Returns the blobs whose symbols are unknown, or undefined if there are none. */
  unknownBlobs(): Bitset | undefined {
    const { blobs, unknown } = this.header;
    if (unknown === 0) return undefined;
    const set = emptyBitset(blobs);
    for (let blob = 0; blob < blobs; blob++) if (this.states[blob] === 0) setBit(set, blob);
    return set;
  }

  /** Returns true if the blob has definitions. */
  has(blob: number): boolean {
    return this.runBytes(blob) > 0;
  }

  /** Returns the origin of a blob's symbols, or undefined if the symbols are unknown. */
  origin(blob: number): Origin | undefined {
    return this.header.origins[this.states[blob]! - 1];
  }

  /** The offset of each run in the sequence of all runs, followed by the end of the last run. */
  get runStarts(): Uint32Array {
    return this.#starts;
  }

  /** The length of the longest run in bytes, or more. */
  get mostRunBytes(): number {
    const { blobs, runBytes } = this.header;
    if (runBytes <= MANY_BYTES) return runBytes;
    if (this.#mostRunBytes > 0) return this.#mostRunBytes;
    for (let blob = 0; blob < blobs; blob++)
      this.#mostRunBytes = Math.max(this.#mostRunBytes, this.runBytes(blob));
    return this.#mostRunBytes;
  }

  /** Returns the length of a blob's run in bytes. */
  runBytes(blob: number): number {
    return this.#starts[blob + 1]! - this.#starts[blob]!;
  }

  /**
   * Returns the definitions of a blob, whose text has `textBytes` bytes. The list is valid until the next call for
   * another blob.
   */
  definitions(snapshot: Snapshot, blob: number, textBytes: number): SymbolList {
    if (this.#list && this.#decoded === blob) return this.#list;
    this.#decoded = -1; // decodeSymbols() leaves the list incomplete if the run is damaged
    if (!this.#list || this.#list.rows.length > MOST_KEPT) this.#list = newSymbolList();
    decodeSymbols(this.run(snapshot, blob), textBytes, this.#list);
    this.#decoded = blob;
    return this.#list;
  }

  /** Returns the run of a blob, which is valid until the next call for another blob. */
  run(snapshot: Snapshot, blob: number): Uint8Array {
    if (!this.has(blob)) return new Uint8Array();
    const block = this.#blockOf(blob);
    const first = this.#blocks[block]!;
    const from = this.#starts[blob]! - this.#starts[first]!;
    const to = this.#starts[blob + 1]! - this.#starts[first]!;
    const bytes = this.#block(snapshot, block);
    if (bytes.length < to) throw this.#corrupt(block);
    return bytes.subarray(from, to);
  }

  #blockOf(blob: number): number {
    const last = this.#copied;
    const blocks = this.#blocks;
    if (last >= 0 && blocks[last]! <= blob && !(blocks[last + 1]! <= blob)) return last;
    return firstIndex(0, blocks.length, (block) => blocks[block]! > blob) - 1;
  }

  #block(snapshot: Snapshot, block: number): Uint8Array {
    if (block !== this.#copied) {
      const key = symbolsKey(this.segment, this.edition, blockNumber(this.#blocks[block]!));
      this.#copyBlock(block, key, snapshot.getSealed(key));
    }
    return this.#copy.subarray(0, this.#copy.length - SEAL_BYTES);
  }

  #copyBlock(block: number, key: Buffer, value: Uint8Array | undefined): void {
    if (!value || (!this.#verified[block] && !isSealed(key, value))) throw this.#corrupt(block);
    this.#verified[block] = 1;
    const room = Math.max(value.length, SYMBOL_BLOCK_BYTES + SEAL_BYTES);
    if (this.#buffer.length !== room) this.#buffer = new Uint8Array(room);
    this.#buffer.set(value);
    this.#copy = this.#buffer.subarray(0, value.length);
    this.#copied = block;
  }

  #corrupt(block: number): Error {
    return corrupt(`block ${block} of the symbols of segment ${this.segment}`);
  }
}

/** Returns true if an edition still exists. The edition of a reader may have been deleted. */
export const hasEdition = (snapshot: Snapshot, segment: number, edition: number): boolean =>
  snapshot.getSealed(symbolsKey(segment, edition, 0)) !== undefined;

/** Opens an edition. Returns undefined if the edition does not exist. */
export function openSymbols(
  snapshot: Snapshot,
  segment: number,
  edition: number,
  tables = NOT_SHARED,
): SymbolsReader | undefined {
  const header = readSymbolsHeader(snapshot, segment, edition);
  if (!header) return undefined;
  const { nameBlocks: blocks } = header;
  const of = { segment, edition };
  const table = tables.getOrMake(TABLE.SYMBOLS, of, () =>
    tableOf(of, header, readColumns(snapshot, of, header)),
  );
  const names =
    blocks === undefined ? undefined : openNameLists(snapshot, segment, edition, blocks, tables);
  return new SymbolsReader(of, header, table, names);
}

/** The columns that determine where each run is stored. */
type Columns = Pick<SymbolColumns, "states" | "lengths" | "blocks">;

function readColumns(
  snapshot: Snapshot,
  { segment, edition }: EditionOf,
  { blobs, blocks }: SymbolsHeader,
): Columns {
  const what = `the symbols of segment ${segment}`;
  const value = snapshot.get(symbolsKey(segment, edition, 1), what);
  if (value?.length !== 6 * blobs + 4 * blocks) throw corrupt(what);
  const states = new Uint16Array(blobs);
  bytesOf(states).set(value.subarray(0, 2 * blobs));
  const lengths = wordsOf(value.subarray(2 * blobs, 6 * blobs));
  return { states, lengths, blocks: wordsOf(value.subarray(6 * blobs)) };
}

/** Replaces the lengths of the runs by their offsets. */
function tableOf(
  { segment }: EditionOf,
  { runBytes }: SymbolsHeader,
  { states, lengths, blocks }: Columns,
): Table<typeof TABLE.SYMBOLS> {
  const starts = new Uint32Array(states.length + 1);
  for (let blob = 0; blob < states.length; blob++)
    starts[blob + 1] = starts[blob]! + lengths[blob]!;
  if (starts[states.length] !== runBytes) throw corrupt(`the symbols of segment ${segment}`);
  return { states, starts, blocks };
}

/** Returns a reader of an edition whose header and columns are not written yet. */
export function readerOf(of: EditionOf, columns: SymbolColumns): SymbolsReader {
  const header = headerOf(columns);
  return new SymbolsReader(of, header, tableOf(of, header, columns));
}

/**
 * Opens the finished ranges of an unpublished edition, which an interrupted index run has left. The symbols of all
 * other blobs of the segment are unknown. `blobs` is the number of all blobs. Returns undefined if there are no
 * finished ranges, or if any of them is damaged.
 */
export function openUnfinished(
  snapshot: Snapshot,
  of: EditionOf,
  blobs: number,
): SymbolsReader | undefined {
  const ranges = readRanges(snapshot, of);
  if (ranges.length === 0) return undefined;
  const columns = joinColumns(withGaps(ranges, blobs));
  try {
    const reader = readerOf(of, columns);
    for (let blob = 0; blob < blobs; blob++) reader.run(snapshot, blob);
    return reader;
  } catch (error) {
    if (error instanceof QuernError && error.code === "INDEX_CORRUPT") return undefined;
    throw error;
  }
}

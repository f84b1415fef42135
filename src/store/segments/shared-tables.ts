/**
 * Caches the tables of segments in memory that all threads of an engine share. The first thread that needs a table
 * builds it and adds it. All other threads then use views of it, which takes a few microseconds.
 *
 *     memory := next entries full 0 entry[MOST_ENTRIES] item*
 *     entry := segment tag address bytes             tag = 256 × kind + edition
 *     item := length[columns] column*                each column at a multiple of 16
 *
 * All numbers are u32. `next` is the address of the next item. The address in an entry is 0 until its item is complete,
 * and DROPPED when the table is no longer needed. A complete item never changes, so threads add items without locks. A
 * thread that dies leaves only some unused bytes behind. If two threads add the same table, it is stored twice.
 *
 * The bytes of dropped tables are not reused, because a thread may still have views of them. When the memory is full of
 * them, the engine replaces the whole memory (caller/search-memory.ts). The old memory is released when no thread has a view of
 * it any more.
 */

import { copyBytes } from "../../base/copy-bytes.ts";
import { bytesOf } from "../../base/growable.ts";

/** The maximum number of entries. A segment has up to six. */
const MOST_ENTRIES = 16_384;

const [NEXT, ENTRIES, FULL, FIRST_ENTRY] = [0, 1, 2, 4];
const ENTRY_WORDS = 4;
const FIRST_BYTE = 4 * (FIRST_ENTRY + ENTRY_WORDS * MOST_ENTRIES);
const DROPPED = 1;
/** The number of tags: 8 kinds of tables, and 256 editions. */
const TAGS = 2048;

type Column = Uint8Array | Uint16Array | Uint32Array;

/** The type of a column, by the number of bytes of a value. */
interface ColumnOf {
  1: Uint8Array;
  2: Uint16Array;
  4: Uint32Array;
}

/** A kind of table. For each of its columns, it has the number of bytes of a value. */
interface Kind {
  readonly number: number;
  readonly columns: Readonly<Record<string, keyof ColumnOf>>;
}

/** The columns of a table of the given kind. */
export type Table<K extends Kind> = {
  readonly [Name in keyof K["columns"]]: ColumnOf[K["columns"][Name]];
};

/**
 * The kinds of tables, and the columns of each kind. segment-reader.ts and symbols.ts describe the columns. TEXT and
 * HASHES belong to the segment that stores the content. GRAMS and SYMBOLS belong to that segment or to an edition of
 * its symbols. FILES and PATHS belong to the segment itself.
 */
export const TABLE = {
  TEXT: { number: 0, columns: { blobStarts: 4, firstPages: 4, pageBlobs: 4, folds: 4 } },
  FILES: {
    number: 1,
    columns: { blobs: 4, languages: 2, flags: 1, blobFileStarts: 4, blobFiles: 4 },
  },
  PATHS: { number: 2, columns: { starts: 4, bytes: 1 } },
  HASHES: { number: 3, columns: { hashes: 1 } },
  GRAMS: { number: 4, columns: { firstGrams: 4 } },
  SYMBOLS: { number: 5, columns: { states: 2, starts: 4, blocks: 4 } },
} as const satisfies Record<string, Kind>;

/** Identifies a table of a kind. `edition` is 0 unless the table belongs to an edition of symbols. */
export interface TableOf {
  readonly segment: number;
  readonly edition?: number;
}

/** The memory that threads share. It can be sent to other threads in a message. */
export type SharedTablesMemory = SharedArrayBuffer;

/** Returns the size of a memory for `bytes` bytes of tables. */
export const tablesMemoryBytes = (bytes: number): number => FIRST_BYTE + bytes;

/** Returns tables, and builds those that are missing. */
export type Tables = Pick<SharedTables, "getOrMake">;

/** Builds each table anew, for a single user. */
export const NOT_SHARED: Tables = { getOrMake: (_kind, _of, make) => make() };

/** Returns the number of bytes of the columns that are not in shared memory. */
export function ownBytes(...columns: readonly (Column | undefined)[]): number {
  let sum = 0;
  for (const column of columns)
    if (column && !(column.buffer instanceof SharedArrayBuffer)) sum += column.byteLength;
  return sum;
}

/** The shared tables, as one thread sees them. */
export class SharedTables {
  readonly memory: SharedTablesMemory;
  readonly #from: number;
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;
  /** The index in #words of each known entry. A key is TAGS × segment + tag. */
  readonly #known = new Map<number, number>();
  /** The number of entries, counted from the first, that are all in #known. */
  #seen = 0;

  /** The tables are in the bytes [from, to) of the memory, by default in all of it. Addresses are relative to `from`. */
  constructor(memory: SharedTablesMemory, from = 0, to = memory.byteLength) {
    this.memory = memory;
    this.#from = from;
    this.#words = new Int32Array(memory, from, (to - from) >>> 2);
    this.#bytes = new Uint8Array(memory, from, to - from);
    Atomics.compareExchange(this.#words, NEXT, 0, FIRST_BYTE);
  }

  /** Whether some table did not fit into the memory. */
  get isFull(): boolean {
    return Atomics.load(this.#words, FULL) === 1;
  }

  /** Returns a table, or undefined if it is not in the memory. */
  get<K extends Kind>(kind: K, of: TableOf): Table<K> | undefined {
    return this.#find(kind, of);
  }

  /** Returns a table. If it is not in the memory yet, calls `make`, and adds the result if there is room for it. */
  getOrMake<K extends Kind>(kind: K, of: TableOf, make: () => Table<K>): Table<K> {
    const found = this.#find(kind, of);
    if (found) return found;
    const made = make();
    this.#add(kind, of, made);
    return this.#find(kind, of) ?? made;
  }

  /**
   * Drops all tables that `isKept` rejects. Returns the share of the entries or of the bytes that all dropped tables
   * take, whichever is larger, from 0 to 1.
   */
  dropOthers(isKept: (segment: number, edition: number) => boolean): number {
    const words = this.#words;
    let [entries, bytes] = [0, 0];
    for (let entry = 0; entry < this.#entries; entry++) {
      const at = FIRST_ENTRY + ENTRY_WORDS * entry;
      const isComplete = Atomics.load(words, at + 2) > DROPPED;
      if (isComplete && !isKept(words[at]! >>> 0, words[at + 1]! & 0xff))
        Atomics.store(words, at + 2, DROPPED);
      if (Atomics.load(words, at + 2) !== DROPPED) continue;
      entries++;
      bytes += words[at + 3]!;
    }
    return Math.max(entries / MOST_ENTRIES, bytes / (this.#bytes.length - FIRST_BYTE));
  }

  get #entries(): number {
    return Math.min(MOST_ENTRIES, Atomics.load(this.#words, ENTRIES));
  }

  #find<K extends Kind>(kind: K, of: TableOf): Table<K> | undefined {
    const key = TAGS * of.segment + tagOf(kind, of);
    let address = this.#addressOf(key);
    if (address === 0) {
      this.#readEntries();
      address = this.#addressOf(key);
    }
    return address === 0 ? undefined : this.#view(kind, address);
  }

  /** Returns the address of an item, or 0 if it is unknown or was dropped. */
  #addressOf(key: number): number {
    const entry = this.#known.get(key);
    const address = entry === undefined ? 0 : Atomics.load(this.#words, entry + 2);
    return address === DROPPED ? 0 : address;
  }

  /** Adds new entries to #known. Entries that are not complete yet are read again by the next call. */
  #readEntries(): void {
    const words = this.#words;
    const entries = this.#entries;
    for (let entry = this.#seen; entry < entries; entry++) {
      const at = FIRST_ENTRY + ENTRY_WORDS * entry;
      if (Atomics.load(words, at + 2) === 0) continue;
      this.#known.set(TAGS * (words[at]! >>> 0) + words[at + 1]!, at);
      if (entry === this.#seen) this.#seen++;
    }
  }

  #view<K extends Kind>({ columns }: K, address: number): Table<K> {
    const names = Object.keys(columns);
    const table: Record<string, Column> = {};
    let at = address + 4 * names.length;
    for (const [i, name] of names.entries()) {
      const length = this.#words[(address >>> 2) + i]!;
      const column = newColumn(columns[name]!, this.memory, this.#from + aligned(at), length);
      table[name] = column;
      at = aligned(at) + column.byteLength;
    }
    return table as Table<K>;
  }

  #add<K extends Kind>(kind: K, of: TableOf, table: Table<K>): void {
    const columns = Object.keys(kind.columns).map((name): Column => table[name]!);
    const bytes = columns.reduce(
      (sum, { byteLength }) => aligned(sum) + byteLength,
      4 * columns.length,
    );
    const address = this.#take(bytes);
    if (address === 0) return;
    const words = this.#words;
    let at = address + 4 * columns.length;
    for (const [i, column] of columns.entries()) {
      words[(address >>> 2) + i] = column.length;
      copyBytes(bytesOf(column), 0, this.#bytes, aligned(at), column.byteLength);
      at = aligned(at) + column.byteLength;
    }
    const entry = Atomics.add(words, ENTRIES, 1);
    if (entry >= MOST_ENTRIES) {
      Atomics.store(words, FULL, 1);
      return;
    }
    const place = FIRST_ENTRY + ENTRY_WORDS * entry;
    words[place] = of.segment;
    words[place + 1] = tagOf(kind, of);
    words[place + 3] = bytes;
    Atomics.store(words, place + 2, address);
  }

  /** Allocates `bytes` bytes, and returns their address. Returns 0 if there is no room. */
  #take(bytes: number): number {
    if (this.isFull) return 0;
    const at = Atomics.add(this.#words, NEXT, aligned(bytes));
    if (at + bytes <= this.#bytes.length) return at;
    Atomics.store(this.#words, FULL, 1);
    return 0;
  }
}

function newColumn(
  valueBytes: keyof ColumnOf,
  memory: SharedTablesMemory,
  at: number,
  length: number,
): Column {
  if (valueBytes === 1) return new Uint8Array(memory, at, length);
  return valueBytes === 2
    ? new Uint16Array(memory, at, length)
    : new Uint32Array(memory, at, length);
}

const tagOf = ({ number }: Kind, { edition = 0 }: TableOf): number => 256 * number + edition;

const aligned = (at: number): number => (at + 15) & ~15;

/**
 * Caches blocks of posting lists and their directories in memory that all threads of an engine share. If all blocks
 * that a literal needs are in this memory, a search finds the literal's pages with one call per segment, and does not
 * read the data file.
 *
 *     memory := reserved epoch next sets full allowed 0* set[MOST_SETS] kept*
 *     set := segment edition address 0              the lists of a segment's text (edition 0) or names
 *     kept := directory | block | scratch           each at a multiple of 16
 *     directory := blocks gram[blocks] address[blocks]
 *     block := bytes payload                        see postings.ts
 *
 * All numbers are u32. `next` is the address of the next item. The address in a set or a directory is 0 until the item
 * at this address is complete. A complete item never changes, so threads add items without locks. A thread that dies
 * leaves only some unused bytes behind. If two threads add the same item, it is stored twice. When the memory is full,
 * nothing more is added, and missing items are read from the data file. If the memory is full when a search begins, and
 * the engine's threads are idle, the engine clears the memory. This raises the epoch by one, and the memory is filled
 * again.
 *
 * A block takes about 16 KiB. In the source code of Linux, with six segments, a query of one word stores 0.5 to 1 MiB
 * of lists. The system allocates a page of the memory only when the page is written.
 */

import {
  createSearchKernel,
  newSharedMemory,
  RESERVED_BYTES,
  type SearchKernel,
} from "../../kernel/search-kernel.ts";
import { emptyBitset, wordsFor, type Bitset } from "../../base/bitset.ts";

const HEAD = RESERVED_BYTES >>> 2;
const EPOCH = HEAD;
const NEXT = HEAD + 1;
const SETS = HEAD + 2;
const FULL = HEAD + 3;
const ALLOWED = HEAD + 4;
const FIRST_SET = HEAD + 8;
const SET_WORDS = 4;
/** The maximum number of sets. A segment has one set, or two if it has lists of names. */
const MOST_SETS = 2048;
const FIRST_BYTE = 4 * (FIRST_SET + SET_WORDS * MOST_SETS);

// as in kernel/assembly/lists.ts
export const MISSING = -1;
export const BROKEN = -2;
const MISSING_BLOCKS = 16;
export const MOST_GRAMS = 256;
const BITS = MISSING_BLOCKS + 12 * MOST_GRAMS;

/** The memory that threads share. It can be sent to other threads in a message. */
export type KeptListsMemory = WebAssembly.Memory;

export const newKeptListsMemory = (bytes: number): KeptListsMemory => newSharedMemory(bytes);

/** A set of posting lists. */
export interface ListSet {
  readonly segment: number;
  /** The edition of the names, or 0 for the lists of the text. */
  readonly edition: number;
  /** The first gram of each block. */
  readonly firstGrams: Uint32Array;
}

/** The pages that contain all grams of a literal. */
export interface KeptPages {
  readonly pages: Bitset;
  /** The total length of the lists of these grams, in bytes. */
  readonly listBytes: number;
}

/** Reads the payload of a block of a set. The result is valid until the next call. */
export type ReadBlock = (number: number) => Uint8Array;

/** The shared lists, as one thread sees them. */
export class KeptLists {
  readonly memory: KeptListsMemory;
  readonly #kernel: SearchKernel;
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;
  /**
   * The scratch memory of this thread: the epoch in which it was allocated, its address, and the number of bytes that
   * it has for a set of pages.
   */
  #scratch = { epoch: -1, at: 0, setBytes: 0 };

  /** Lists are added only in the first `bytes` bytes of the memory, by default in all of it. */
  constructor(memory: KeptListsMemory, bytes = memory.buffer.byteLength) {
    this.memory = memory;
    this.#kernel = createSearchKernel(memory);
    this.#words = new Int32Array(memory.buffer);
    this.#bytes = new Uint8Array(memory.buffer, 0, bytes);
    Atomics.compareExchange(this.#words, NEXT, 0, FIRST_BYTE);
    Atomics.compareExchange(this.#words, ALLOWED, 0, this.#bytes.length);
  }

  /** Makes all threads add new items only in the first `bytes` bytes of the memory. Existing items stay in use. */
  allow(bytes: number): void {
    Atomics.store(this.#words, ALLOWED, Math.min(bytes, this.#bytes.length));
  }

  /** The number of times that the memory was cleared. An address is valid only within one epoch. */
  get epoch(): number {
    return Atomics.load(this.#words, EPOCH);
  }

  /** Whether something did not fit since the memory was last cleared. */
  get isFull(): boolean {
    return Atomics.load(this.#words, FULL) === 1;
  }

  /** Clears the memory. REQUIRES: no other thread uses the memory meanwhile. */
  clear(): void {
    const words = this.#words;
    const sets = Math.min(MOST_SETS, Atomics.load(words, SETS));
    words.fill(0, FIRST_SET, FIRST_SET + SET_WORDS * sets);
    for (const [at, value] of [
      [SETS, 0],
      [NEXT, FIRST_BYTE],
      [FULL, 0],
    ] as const)
      Atomics.store(words, at, value);
    Atomics.add(words, EPOCH, 1);
  }

  /**
   * Removes all sets that `isKept` rejects. Otherwise a set could later be mistaken for that of a new edition, because
   * the numbers of editions repeat after 254 editions. Addresses that threads already have stay valid.
   */
  dropOthers(isKept: (segment: number, edition: number) => boolean): void {
    for (const at of this.#sets())
      if (!isKept(this.#words[at]!, this.#words[at + 1]!)) Atomics.store(this.#words, at + 2, 0);
  }

  /** Returns the address of a set. Adds the set if it is not in memory. Returns 0 if there is no room for it. */
  addressOf(set: ListSet): number {
    return this.#find(set) || this.#add(set);
  }

  /**
   * Returns the pages that contain all grams. Reads and adds the blocks that are not in memory yet. Returns undefined
   * if there is no room for these blocks, and "broken" if a list violates the format. REQUIRES: `set` is an address of
   * this epoch, and there are 1 to MOST_GRAMS grams.
   */
  pagesWith(
    grams: readonly number[],
    {
      set,
      pages,
      read,
    }: { readonly set: number; readonly pages: number; readonly read: ReadBlock },
  ): KeptPages | undefined | "broken" {
    const scratch = this.#scratchFor(pages);
    if (scratch === 0) return undefined;
    const where = { set, pages, scratch };
    let found = this.#run(grams, where);
    if (found === MISSING) {
      if (!this.addMissing(set, scratch, read)) return undefined;
      found = this.#run(grams, where);
    }
    if (found === BROKEN) return "broken";
    return found === MISSING ? undefined : this.#result(found, pages, scratch);
  }

  #run(
    grams: readonly number[],
    {
      set,
      pages,
      scratch,
    }: { readonly set: number; readonly pages: number; readonly scratch: number },
  ): number {
    const wanted = scratch - 4 * MOST_GRAMS;
    for (let i = 0; i < grams.length; i++) this.#words[(wanted >>> 2) + i] = grams[i]!;
    return this.#kernel.pagesWithAll(set, wanted, grams.length, pages, scratch);
  }

  #result(found: number, pages: number, scratch: number): KeptPages {
    const bits = emptyBitset(pages);
    const from = (scratch + BITS) >>> 2;
    // copied word by word, because V8's own copy from shared memory is no faster
    if (found > 0) for (let i = 0; i < bits.length; i++) bits[i] = this.#words[from + i]!;
    return { pages: bits, listBytes: this.#words[scratch >>> 2]! };
  }

  /**
   * Reads and adds the blocks of a set whose numbers pagesWithAll() has written to `scratch`. Returns false if there is no
   * room for them.
   */
  addMissing(set: number, scratch: number, read: ReadBlock): boolean {
    const count = this.#words[(scratch >>> 2) + 1]!;
    const blocks = this.#words[set >>> 2]!;
    const addresses = (set >>> 2) + 1 + blocks;
    for (let i = 0; i < count; i++) {
      const number = this.#words[((scratch + MISSING_BLOCKS) >>> 2) + i]!;
      // this block was already added for another gram
      if (Atomics.load(this.#words, addresses + number) !== 0) continue;
      const payload = read(number);
      const at = this.#take(4 + payload.length);
      if (at === 0) return false;
      this.#words[at >>> 2] = payload.length;
      copyToShared(payload, this.#bytes, at + 4);
      Atomics.store(this.#words, addresses + number, at);
    }
    return true;
  }

  #find({ segment, edition }: Omit<ListSet, "firstGrams">): number {
    for (const at of this.#sets()) {
      const isIt = this.#words[at] === (segment | 0) && this.#words[at + 1] === edition;
      const address = isIt ? Atomics.load(this.#words, at + 2) : 0;
      if (address !== 0) return address;
    }
    return 0;
  }

  *#sets(): Generator<number> {
    const count = Math.min(MOST_SETS, Atomics.load(this.#words, SETS));
    for (let set = 0; set < count; set++) yield FIRST_SET + SET_WORDS * set;
  }

  #add({ segment, edition, firstGrams }: ListSet): number {
    const blocks = firstGrams.length;
    const at = this.#take(4 + 8 * blocks);
    if (at === 0) return 0;
    const entry = Atomics.add(this.#words, SETS, 1);
    if (entry >= MOST_SETS) {
      Atomics.store(this.#words, FULL, 1);
      return 0;
    }
    const words = this.#words;
    words[at >>> 2] = blocks;
    for (let i = 0; i < blocks; i++) {
      words[(at >>> 2) + 1 + i] = firstGrams[i]!;
      words[(at >>> 2) + 1 + blocks + i] = 0;
    }
    const place = FIRST_SET + SET_WORDS * entry;
    words[place] = segment;
    words[place + 1] = edition;
    Atomics.store(words, place + 2, at);
    return at;
  }

  /**
   * Returns the address of this thread's scratch memory, or 0 if there is no room. The wanted grams are written to the
   * bytes just below this address.
   */
  #scratchFor(pages: number): number {
    const setBytes = 4 * wordsFor(pages) + 16;
    const { epoch } = this;
    if (this.#scratch.epoch !== epoch || this.#scratch.setBytes < setBytes) {
      const at = this.#take(4 * MOST_GRAMS + BITS + 2 * setBytes);
      if (at === 0) return 0;
      this.#scratch = { epoch, at: at + 4 * MOST_GRAMS, setBytes };
    }
    return this.#scratch.at;
  }

  /** Allocates `bytes` bytes, and returns their address. Returns 0 if there is no room. */
  #take(bytes: number): number {
    if (this.isFull) return 0;
    const at = Atomics.add(this.#words, NEXT, (bytes + 15) & ~15);
    if (at + bytes <= Atomics.load(this.#words, ALLOWED)) return at;
    Atomics.store(this.#words, FULL, 1);
    return 0;
  }
}

const { fill } = Buffer.prototype;

/** Copies with fill(), which is a single memcpy(). On shared memory, set() is 2 to 4 times as slow. */
function copyToShared(source: Uint8Array, target: Uint8Array, at: number): void {
  fill.call(target as Buffer, source, at, at + source.length);
}

/**
 * Writes and reads posting lists. The posting list of a gram contains the pages in which the gram occurs. In a large
 * segment, 80 % of the lists are shorter than 64 bytes. So many lists are stored together in one value, called a block:
 *
 *     block := count gram[count] end[count] list*
 *
 * `count`, `gram` and `end` are u32. The grams are in ascending order. `end` is the offset at which a list ends,
 * counted from the start of the first list. If bit 31 of a gram is set, its list is a bitmap of all pages of the
 * segment (ceil(pages / 8) bytes). Otherwise, the list consists of the gaps between the numbers of its pages, as
 * varints. The first gap is counted from -1 (kernel/assembly/postings.ts). The shorter form is stored. So the lists of
 * frequent grams are bitmaps, which are intersected at the speed of memory.
 *
 * A block contains as many lists as fit into POSTING_BLOCK_BYTES, or a single longer list. The directory (part GRAMS)
 * contains the first gram of each block. A reader keeps the directory in memory, and reads a list with one get. The
 * kernel finds the list in its block (kernel/assembly/lists.ts).
 */

import { copyBytes } from "../../base/copy-bytes.ts";
import { bytesOf, GrowableBytes, GrowableWords, wordsOf } from "../../base/growable.ts";
import type { QuernError } from "../../base/errors.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { filling, numberOf, PART, renumber, segmentKey } from "../format/format.ts";
import { corrupt, isSealed, SEAL_BYTES } from "../format/sealed.ts";
import type { Snapshot, Writer } from "../lmdb/environment.ts";
import { NOT_SHARED, ownBytes, TABLE } from "./shared-tables.ts";

const POSTING_BLOCK_BYTES = filling(4);
const BITMAP = 0x8000_0000;

/**
 * The keys under which a set of posting lists is stored. A segment has a set for its text, and a set for the names of
 * each edition.
 */
export interface PostingPlace {
  /** The name of the set in error messages. */
  readonly what: string;
  readonly segment: number;
  /** The edition of the names, or 0 for text. */
  readonly edition: number;
  readonly directory: Buffer;
  /** Returns the key of a block. Blocks with greater numbers have greater keys. */
  block(number: number): Buffer;
}

export const listsOfText = (segment: number): PostingPlace => ({
  what: `segment ${segment}`,
  segment,
  edition: 0,
  directory: segmentKey(segment, PART.GRAMS),
  block: (number) => segmentKey(segment, PART.POSTINGS, number),
});

/** Writes one set of posting lists. REQUIRES: lists are added in ascending order of their grams. */
export class PostingsWriter {
  readonly #place: PostingPlace;
  readonly #pages: number;
  readonly #kernel: Kernel;
  readonly #scratch: number;
  readonly #firstGrams = new GrowableWords();
  #block = new PostingBlock();
  readonly #pending: PostingBlock[] = [];
  /** Blocks that were written, and are used again. New ones would be half of the garbage of an index run. */
  readonly #free: PostingBlock[] = [];
  #written = 0;
  listBytes = 0;

  constructor(place: PostingPlace, pages: number, kernel: Kernel) {
    this.#place = place;
    this.#pages = pages;
    this.#kernel = kernel;
    this.#scratch = kernel.reserve(6 * pages + 64);
  }

  /** Adds the list of the next gram. `gaps` may be a view of the kernel's memory. */
  add(gram: number, gaps: Uint8Array): void {
    const bitmapBytes = Math.ceil(this.#pages / 8);
    const isBitmap = gaps.length > bitmapBytes;
    const size = 8 + Math.min(gaps.length, bitmapBytes);
    if (this.#block.bytes + size > POSTING_BLOCK_BYTES && !this.#block.isEmpty) this.#endBlock();
    const { grams, ends, lists } = this.#block;
    if (grams.length === 0) this.#firstGrams.push(gram);
    grams.push(isBitmap ? (gram | BITMAP) >>> 0 : gram);
    lists.push(isBitmap ? this.#toBitmap(gaps, bitmapBytes) : gaps);
    ends.push(lists.length);
    this.listBytes += size;
  }

  /** The number of complete blocks that flush() would write. The caller decides when to flush. */
  get pendingBlocks(): number {
    return this.#pending.length;
  }

  flush(writer: Writer): void {
    for (const block of this.#pending) {
      writer.put(this.#place.block(this.#written++), ...block.parts());
      block.clear();
      this.#free.push(block);
    }
    this.#pending.length = 0;
  }

  /** Writes the remaining blocks and the directory. Returns the number of blocks of the set. */
  finish(writer: Writer): number {
    if (!this.#block.isEmpty) this.#endBlock();
    this.flush(writer);
    writer.put(this.#place.directory, bytesOf(this.#firstGrams.view));
    return this.#written;
  }

  #endBlock(): void {
    this.#pending.push(this.#block);
    this.#block = this.#free.pop() ?? new PostingBlock();
  }

  /** Returns a view of the kernel's memory. */
  #toBitmap(gaps: Uint8Array, bytes: number): Uint8Array {
    const { run } = this.#kernel;
    const bits = this.#scratch;
    const list = (bits + bytes + 31) & ~15;
    this.#kernel.bytes.set(gaps, list);
    this.#kernel.bytes.fill(0, bits, bits + bytes + 4);
    run.decodeGaps(list, gaps.length, this.#pages, bits);
    return this.#kernel.bytes.subarray(bits, bits + bytes);
  }
}

/** A block that is being filled. */
class PostingBlock {
  readonly grams = new GrowableWords();
  /** The end of each list in `lists`. */
  readonly ends = new GrowableWords();
  readonly lists = new GrowableBytes();

  get isEmpty(): boolean {
    return this.grams.length === 0;
  }

  get bytes(): number {
    return 4 + 8 * this.grams.length + this.lists.length;
  }

  /** Returns the parts of the stored value. They are valid until clear() is called. */
  parts(): Uint8Array[] {
    const count = bytesOf(Uint32Array.of(this.grams.length));
    return [count, bytesOf(this.grams.view), bytesOf(this.ends.view), this.lists.view];
  }

  clear(): void {
    this.grams.length = this.ends.length = this.lists.length = 0;
  }
}

/** A posting list in its stored form. REQUIRES: `bytes` is used or copied before the next read of the snapshot. */
export interface PostingList {
  readonly isBitmap: boolean;
  readonly bytes: Uint8Array;
}

export class PostingsReader {
  readonly #place: PostingPlace;
  /** The first gram of each block. */
  readonly firstGrams: Uint32Array;
  readonly #verified: Uint8Array;
  /**
   * The key of the block that was read last. It is reused for the next block, because making a new key takes half as
   * long as a read.
   */
  readonly #key: Buffer;
  /** The number in the key of the first block. */
  readonly #firstNumber: number;

  /**
   * Reads the directory. `blocks` is the number of blocks according to the header. Throws INDEX_CORRUPT if the
   * directory does not match this number.
   */
  constructor(snapshot: Snapshot, place: PostingPlace, blocks: number, tables = NOT_SHARED) {
    this.#place = place;
    this.#key = place.block(0);
    this.#firstNumber = numberOf(this.#key);
    const { firstGrams } = tables.getOrMake(TABLE.GRAMS, place, () => ({
      firstGrams: readFirstGrams(snapshot, place, blocks),
    }));
    this.firstGrams = firstGrams;
    this.#verified = new Uint8Array(this.firstGrams.length);
  }

  /** The number of bytes of memory that the reader takes, without shared memory. */
  get bytes(): number {
    return ownBytes(this.firstGrams, this.#verified);
  }

  /**
   * Copies a block to `target` at `at`, and returns its length. Throws if the block has more than `most` bytes, because
   * it is damaged then.
   */
  copyBlock(
    snapshot: Snapshot,
    number: number,
    {
      target,
      at,
      most,
    }: { readonly target: Uint8Array; readonly at: number; readonly most: number },
  ): number {
    const payload = this.#payload(snapshot, number);
    if (payload.length > most) throw this.#isBroken(number);
    copyBytes(payload, 0, target, at, payload.length);
    return payload.length;
  }

  /** Returns the error for a list that violates the format. */
  broken(): QuernError {
    return corrupt(`a posting list of ${this.#place.what}`);
  }

  /** Yields all lists in ascending order of their grams. A list stays valid even if the caller reads other values. */
  *all(snapshot: Snapshot): Iterable<{ gram: number; list: PostingList }> {
    for (let number = 0; number < this.firstGrams.length; number++) {
      const { grams, ends, lists } = this.#block(snapshot, number);
      // these are copies, because the caller may read between two lists
      const [ownGrams, ownEnds, ownLists] = [grams.slice(), ends.slice(), lists.slice()];
      for (let i = 0; i < ownGrams.length; i++) {
        const bytes = ownLists.subarray(i === 0 ? 0 : ownEnds[i - 1]!, ownEnds[i]!);
        const gram = ownGrams[i]!;
        yield { gram: (gram & ~BITMAP) >>> 0, list: { isBitmap: gram >= BITMAP, bytes } };
      }
    }
  }

  #block(
    snapshot: Snapshot,
    number: number,
  ): { grams: Uint32Array; ends: Uint32Array; lists: Uint8Array } {
    const payload = this.#payload(snapshot, number);
    const words = payload.byteOffset % 4 === 0 ? payload : payload.slice();
    const count = new Uint32Array(words.buffer, words.byteOffset, 1)[0]!;
    const start = 4 + 8 * count;
    if (start > words.length) throw this.#isBroken(number);
    return {
      grams: new Uint32Array(words.buffer, words.byteOffset + 4, count),
      ends: new Uint32Array(words.buffer, words.byteOffset + 4 + 4 * count, count),
      lists: words.subarray(start),
    };
  }

  /** Returns a block without its seal. The result is valid until the next read. */
  #payload(snapshot: Snapshot, number: number): Uint8Array {
    const key = renumber(this.#key, this.#firstNumber + number);
    const value = snapshot.getSealed(key);
    if (!value || value.length < 4 + SEAL_BYTES) throw this.#isBroken(number);
    if (!this.#verified[number] && !isSealed(key, value)) throw this.#isBroken(number);
    this.#verified[number] = 1;
    return value.subarray(0, value.length - SEAL_BYTES);
  }

  #isBroken(number: number): QuernError {
    return corrupt(`posting block ${number} of ${this.#place.what}`);
  }
}

function readFirstGrams(snapshot: Snapshot, place: PostingPlace, blocks: number): Uint32Array {
  const directory = snapshot.get(place.directory, place.what);
  if (directory?.length !== 4 * blocks) throw corrupt(`the directory of grams of ${place.what}`);
  return wordsOf(directory);
}

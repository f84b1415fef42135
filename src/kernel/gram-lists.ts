/**
 * Builds the posting lists of a segment by driving assembly/grams.ts. Memory grows with what is added and
 * is reused after clear(); it is freed only with the kernel.
 */

import { ASCII_GRAMS, BYTE_CLASSES, GRAM_LIMIT } from "./gram-numbers.ts";
import { FOLDING_TABLE_BYTES, writeFoldingTable } from "./folding.ts";
import type { Kernel } from "./kernel.ts";

// words of the state, which assembly/grams.ts describes
const STATE_WORDS = 10;
const SLOT_COUNT = 6;
const NEXT_BLOCK = 7;
const SLOT = 16;
const BLOCK = 16;
/** More than the number of slots, of which each gram has one. Packs a gram and a slot into one float. */
const SLOT_LIMIT = 2 ** 23;

export interface GramLists {
  /**
   * Adds text (a page and the overlap that its grams cover) as the next page. Returns whether folding
   * changes a code point beyond ASCII in it.
   */
  add(text: Uint8Array): boolean;
  readonly pages: number;
  /** The bytes of memory that the lists use. */
  readonly bytes: number;
  /** Visits every list by ascending gram number. REQUIRES: the visitor copies `list` before it returns. */
  forEach(visit: (gram: number, list: Uint8Array) => void): void;
  clear(): void;
}

export function createGramLists(kernel: Kernel, mostTextBytes: number): GramLists {
  return new Lists(kernel, mostTextBytes);
}

class Lists implements GramLists {
  pages = 0;
  readonly #kernel: Kernel;
  readonly #state: number;
  readonly #text: number;
  readonly #slots: number;
  readonly #arena: number;
  #arenaEnd: number;

  constructor(kernel: Kernel, mostTextBytes: number) {
    this.#kernel = kernel;
    const classes = kernel.reserve(256);
    const folding = kernel.reserve(FOLDING_TABLE_BYTES);
    const seen = kernel.reserve(Math.ceil(ASCII_GRAMS / 8));
    const fresh = kernel.reserve(4 * mostTextBytes + 4);
    const ascii = kernel.reserve(4 * ASCII_GRAMS);
    const others = kernel.reserve(4 * (GRAM_LIMIT - ASCII_GRAMS));
    const folded = kernel.reserve(3 * mostTextBytes);
    this.#text = kernel.reserve(mostTextBytes);
    this.#slots = kernel.reserve(SLOT * GRAM_LIMIT); // only what is used is touched, and so takes memory
    this.#state = kernel.reserve(4 * STATE_WORDS);
    // last, so that later reservations extend it
    this.#arena = kernel.reserve(BLOCK);
    this.#arenaEnd = this.#arena + BLOCK;
    kernel.bytes.set(BYTE_CLASSES, classes);
    writeFoldingTable(kernel.bytes, folding);
    const state = [
      classes,
      seen,
      fresh,
      ascii,
      others,
      this.#slots,
      0,
      this.#arena,
      folding,
      folded,
    ];
    kernel.words.set(state, this.#state >>> 2);
  }

  get bytes(): number {
    return this.#next - this.#arena + this.#slotCount * SLOT;
  }

  add(text: Uint8Array): boolean {
    // each byte may begin a list and fill a block, and folding lengthens text by at most half
    this.#makeRoom(3 * BLOCK * text.length);
    this.#kernel.bytes.set(text, this.#text);
    const { run } = this.#kernel;
    return run.addPage(this.#state, this.#text, this.#text + text.length, this.pages++) === 1;
  }

  forEach(visit: (gram: number, list: Uint8Array) => void): void {
    this.#makeRoom(5 * this.pages); // a varint for each page
    const out = this.#next;
    for (const slot of this.#slotsByGram()) {
      const at = this.#slots + slot * SLOT;
      const length = this.#kernel.run.copyList(at, out);
      visit(this.#kernel.words[at >>> 2]!, this.#kernel.bytes.subarray(out, out + length));
    }
  }

  clear(): void {
    this.#kernel.run.clearGrams(this.#state);
    this.#kernel.words[(this.#state >>> 2) + NEXT_BLOCK] = this.#arena;
    this.pages = 0;
  }

  get #slotCount(): number {
    return this.#kernel.words[(this.#state >>> 2) + SLOT_COUNT]!;
  }

  get #next(): number {
    return this.#kernel.words[(this.#state >>> 2) + NEXT_BLOCK]!;
  }

  /** Returns the slots ordered by gram: number and slot packed into one float, which sorts natively. */
  #slotsByGram(): number[] {
    const { words } = this.#kernel;
    const packed = Float64Array.from(
      { length: this.#slotCount },
      (_, slot) => words[(this.#slots + slot * SLOT) >>> 2]! * SLOT_LIMIT + slot,
    );
    return Array.from(packed.sort(), (value) => value % SLOT_LIMIT);
  }

  #makeRoom(bytes: number): void {
    const needed = this.#next + bytes - this.#arenaEnd;
    if (needed <= 0) return;
    const step = Math.max(needed, 1 << 20);
    this.#kernel.reserve(step);
    this.#arenaEnd += step;
  }
}

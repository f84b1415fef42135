/**
 * Builds the posting lists of a segment with assembly/grams.ts. The memory for the lists grows with the added text, and
 * is reused after clear(). It is freed only together with the kernel.
 *
 * Memory for every possible gram would take 93 MB. So the table of grams beyond ASCII (18 MB) is created only when a
 * text needs it, and memory for slots is added as lists are begun.
 */

import { ASCII_GRAMS, BYTE_CLASSES, GRAM_LIMIT } from "./gram-numbers.ts";
import { FOLDING_TABLE_BYTES, writeFoldingTable } from "./folding.ts";
import { MOST_GAP, type Kernel } from "./kernel.ts";

// words of the state, which assembly/grams.ts describes
const STATE_WORDS = 11;
const OTHERS = 4;
const SLOTS = 5;
const SLOT_COUNT = 6;
const NEXT_LINE = 7;
const SLOT = 16;
const LINE = 64;
/**
 * Greater than the number of slots, because each gram has at most one slot, and GRAM_LIMIT is smaller. So
 * `gram * SLOT_LIMIT + slot` packs a gram and its slot into one float.
 */
const SLOT_LIMIT = 2 ** 23;
/** The result of addPage() if it has added nothing, because the table of grams beyond ASCII must be created first. */
const NEEDS_OTHERS = 2;
const LEAST_SLOTS = 2 ** 12;
/**
 * The minimum and maximum number of bytes by which the arena grows. Between these limits, the arena doubles its size.
 */
const LEAST_STEP = 2 ** 16;
const MOST_STEP = 2 ** 20;

/** A contiguous part of the arena. */
interface Chunk {
  readonly at: number;
  end: number;
}

export interface GramLists {
  /**
   * Adds the next page. `text` has the bytes of the page, and those after the page that its grams also cover. Returns
   * true if folding changes a code point beyond ASCII in the text.
   */
  add(text: Uint8Array): boolean;
  readonly pages: number;
  /** The number of bytes of memory that the lists use. */
  readonly bytes: number;
  /**
   * Calls `visit` for every list, in ascending order of gram numbers.
   * REQUIRES: `visit` copies `list` before it returns.
   */
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
  readonly #ascii: number;
  #slotRoom = 0;
  /** The chunks of the arena. Those before the current chunk are full, and those after it are empty. */
  readonly #chunks: Chunk[] = [];
  #chunk = -1;
  /** The number of bytes that are used in the chunks before the current one. */
  #before = 0;

  constructor(kernel: Kernel, mostTextBytes: number) {
    this.#kernel = kernel;
    const classes = kernel.reserve(256);
    const folding = kernel.reserve(FOLDING_TABLE_BYTES);
    const seen = kernel.reserve(Math.ceil(ASCII_GRAMS / 8));
    const fresh = kernel.reserve(4 * mostTextBytes + 4);
    this.#ascii = kernel.reserve(4 * ASCII_GRAMS);
    const folded = kernel.reserve(3 * mostTextBytes);
    this.#text = kernel.reserve(mostTextBytes);
    this.#state = kernel.reserve(4 * STATE_WORDS);
    kernel.bytes.set(BYTE_CLASSES, classes);
    writeFoldingTable(kernel.bytes, folding);
    const state = [classes, seen, fresh, this.#ascii, 0, 0, 0, 0, folding, folded, 0];
    kernel.words.set(state, this.#state >>> 2);
  }

  get bytes(): number {
    const used = this.#chunk < 0 ? 0 : this.#word(NEXT_LINE) - this.#chunks[this.#chunk]!.at;
    return this.#before + used + this.#word(SLOT_COUNT) * SLOT;
  }

  add(text: Uint8Array): boolean {
    // folding makes text longer by at most half, and each folded byte may need a slot and a line
    this.#makeSlots(Math.ceil(1.5 * text.length));
    this.#makeRoom(Math.ceil(1.5 * text.length) * LINE);
    this.#kernel.bytes.set(text, this.#text);
    const page = this.pages++;
    const added = this.#addPage(text.length, page);
    if (added !== NEEDS_OTHERS) return added === 1;
    this.#setWord(OTHERS, this.#kernel.reserve(4 * (GRAM_LIMIT - ASCII_GRAMS)));
    return this.#addPage(text.length, page) === 1;
  }

  forEach(visit: (gram: number, list: Uint8Array) => void): void {
    this.#makeRoom(5 * this.pages + LINE); // a list takes at most 5 bytes per page
    const out = this.#word(NEXT_LINE);
    const slots = this.#word(SLOTS);
    for (const slot of this.#slotsByGram()) {
      const at = slots + slot * SLOT;
      const length = this.#kernel.run.copyList(at, out);
      visit(this.#kernel.words[at >>> 2]!, this.#kernel.bytes.subarray(out, out + length));
    }
  }

  clear(): void {
    this.#kernel.run.clearGrams(this.#state);
    this.#before = 0;
    this.pages = 0;
    if (this.#chunks.length > 0) this.#enter(0);
  }

  #addPage(length: number, page: number): number {
    return this.#kernel.run.addPage(this.#state, this.#text, this.#text + length, page);
  }

  #word(at: number): number {
    return this.#kernel.words[(this.#state >>> 2) + at]!;
  }

  #setWord(at: number, value: number): void {
    this.#kernel.words[(this.#state >>> 2) + at] = value;
  }

  /**
   * Returns the numbers of the slots, ordered by gram. Each gram and its slot are packed into one float, because floats
   * can be sorted without a comparison function.
   */
  #slotsByGram(): number[] {
    const { words } = this.#kernel;
    const slots = this.#word(SLOTS);
    const packed = Float64Array.from(
      { length: this.#word(SLOT_COUNT) },
      (_, slot) => words[(slots + slot * SLOT) >>> 2]! * SLOT_LIMIT + slot,
    );
    return Array.from(packed.sort(), (value) => value % SLOT_LIMIT);
  }

  /** Makes room for `more` slots. If the slots move, updates their addresses in the tables of grams. */
  #makeSlots(more: number): void {
    const count = this.#word(SLOT_COUNT);
    const needed = Math.min(GRAM_LIMIT, count + more);
    if (needed <= this.#slotRoom) return;
    const old = this.#word(SLOTS);
    this.#slotRoom = Math.min(GRAM_LIMIT, Math.max(LEAST_SLOTS, 2 * this.#slotRoom, needed));
    const slots = this.#kernel.reserve(SLOT * this.#slotRoom);
    const { bytes, words } = this.#kernel;
    bytes.copyWithin(slots, old, old + count * SLOT);
    const others = this.#word(OTHERS) - 4 * ASCII_GRAMS;
    for (let slot = slots; slot < slots + count * SLOT; slot += SLOT) {
      const gram = words[slot >>> 2]!;
      words[((gram < ASCII_GRAMS ? this.#ascii : others) + 4 * gram) >>> 2] = slot;
    }
    this.#setWord(SLOTS, slots);
  }

  /** Makes room for a number of bytes in the arena, starting at its next line. */
  #makeRoom(bytes: number): void {
    const chunk = this.#chunks[this.#chunk];
    if (chunk && this.#word(NEXT_LINE) + bytes <= chunk.end) return;
    const next = this.#chunks[this.#chunk + 1];
    if (next) {
      this.#leave();
      this.#enter(this.#chunk + 1);
      return this.#makeRoom(bytes);
    }
    const step = Math.max(bytes + LINE, Math.min(MOST_STEP, Math.max(LEAST_STEP, this.bytes)));
    const at = this.#kernel.reserve(step);
    if (chunk && at - chunk.end <= MOST_GAP) {
      chunk.end = at + step; // nothing else was reserved in between
      return;
    }
    this.#leave();
    const firstLine = Math.ceil(at / LINE) * LINE;
    this.#chunks.push({ at: firstLine, end: at + step });
    this.#enter(this.#chunk + 1);
  }

  #leave(): void {
    const chunk = this.#chunks[this.#chunk];
    if (chunk) this.#before += this.#word(NEXT_LINE) - chunk.at;
  }

  #enter(chunk: number): void {
    this.#chunk = chunk;
    this.#setWord(NEXT_LINE, this.#chunks[chunk]!.at);
  }
}

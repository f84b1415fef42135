/**
 * Numbers words and their stems in the memory of a kernel of its own, and keeps them from one text to the next.
 * Stemming is needed once for each different word, so splitting a text takes about 3 ns a byte.
 */

import { createKernel, type Kernel } from "../kernel/kernel.ts";
import { WORD_CLASSES } from "./split.ts";
import { stemOf } from "./stems.ts";

// words of the state, which kernel/assembly/words.ts describes
const STATE = {
  CLASSES: 0,
  SLOTS: 1,
  MASK: 2,
  WORDS: 3,
  WORD_COUNT: 4,
  TEXTS: 5,
  PLACE: 6,
} as const;
const { FRESH, FRESH_COUNT, STEMS, LINES } = {
  FRESH: 8,
  FRESH_COUNT: 9,
  STEMS: 10,
  LINES: 11,
} as const;
const STATE_WORDS = 12;
const WORD = 16;
export const WORD_STEP = WORD / 4;
const STEM = 24;
const LINE = 32;
const TERM = 8;
/** The entry of a stream that ends a window. */
export const END_OF_WINDOW = 0xffff_ffff;

const STREAM_ENTRIES = 2 ** 15;
/** The room that kernel/assembly/words.ts requires for one line. */
const MAX_NEW_WORDS = 2 ** 12;
const TEXT_ROOM = 2 ** 14;
const FIRST_CAPACITY = 2 ** 13;
/** The bytes by which the memory for lists grows. */
const LINES_STEP = 2 ** 19;

/** The number of bytes after which a window of the index ends, at the end of a line. */
export const WINDOW_BYTES = 400;

/** The addresses of what scoreNames() reads and writes, and two counts. */
export interface NamesInput {
  readonly paths: number;
  readonly starts: number;
  readonly among: number;
  readonly shares: number;
  readonly values: number;
  readonly out: number;
  readonly files: number;
  readonly terms: number;
}

export class WordTable {
  readonly kernel: Kernel = createKernel();
  /** The stems in the order of their numbers. */
  readonly stems: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #state: number;
  readonly #stream: number;
  #wordCapacity = FIRST_CAPACITY;
  #stemCapacity = FIRST_CAPACITY;
  #textsEnd = 0;
  /** The number of words that have stems. */
  #stemmed = 0;
  #text = 0;
  #textBytes = 0;
  #linesEnd = 0;
  /** The address of the terms of the stems, for questions. */
  #terms: number;

  constructor() {
    const { kernel } = this;
    this.#state = kernel.reserve(4 * STATE_WORDS);
    this.#stream = kernel.reserve(4 * STREAM_ENTRIES);
    const classes = kernel.reserve(256);
    kernel.bytes.set(WORD_CLASSES, classes);
    this.#set(STATE.CLASSES, classes);
    this.#set(STATE.WORDS, kernel.reserve(WORD * this.#wordCapacity));
    this.#set(STATE.SLOTS, kernel.reserve(8 * this.#wordCapacity));
    this.#set(STATE.MASK, 2 * this.#wordCapacity - 1);
    this.#set(STEMS, kernel.reserve(STEM * this.#stemCapacity));
    this.#set(FRESH, kernel.reserve(4 * this.#stemCapacity));
    this.#terms = kernel.reserve(TERM * this.#stemCapacity);
    this.#set(7, 1); // windows are numbered from 1, because 0 means that no window has a stem
  }

  /** The number of words that the table knows. */
  get words(): number {
    return this.#get(STATE.WORD_COUNT);
  }

  /** Returns the number of a stem, which is new if no word has it. */
  numberFor(stem: string): number {
    const known = this.#numbers.get(stem);
    if (known !== undefined) return known;
    const number = this.stems.length;
    if (number === this.#stemCapacity) this.#growStems();
    this.stems.push(stem);
    this.#numbers.set(stem, number);
    return number;
  }

  /** Copies a text to the kernel's memory. Returns its address, which is valid until the next call. */
  place(text: Uint8Array): number {
    if (text.length > this.#textBytes) {
      this.#textBytes = Math.max(2 ** 16, 2 * text.length);
      this.#text = this.kernel.reserve(this.#textBytes);
    }
    this.kernel.bytes.set(text, this.#text);
    return this.#text;
  }

  /**
   * Splits a placed text, and passes its words to `visit` in portions: the address of the portion in the kernel's
   * memory, and its length. A portion consists of numbers of words, and END_OF_WINDOW after each line (if `windowBytes`
   * is 0) or between windows. All words of the portion have stems.
   */
  *split(
    from: number,
    to: number,
    windowBytes: number,
  ): Generator<readonly [at: number, length: number]> {
    const { kernel } = this;
    for (let at = from; at < to;) {
      this.#makeRoom();
      const length = kernel.run.splitWords(
        this.#state,
        at,
        to,
        windowBytes,
        this.#stream,
        this.#stream + 4 * STREAM_ENTRIES,
        this.#wordCapacity,
        this.#textsEnd,
      );
      at = this.#get(STATE.PLACE);
      this.#stemNewWords();
      yield [this.#stream, length];
    }
  }

  /**
   * Where the stems of words are in the kernel's memory: the stem of word w is at index `first + WORD_STEP * w` of its
   * words. Valid until the next portion of a text is split.
   */
  get firstStem(): number {
    return (this.#get(STATE.WORDS) >>> 2) + 3;
  }

  /** Adds a blob to the lists of its stems. REQUIRES: blobs are added in ascending order. */
  addBlob(blob: number, text: Uint8Array): void {
    const at = this.place(text);
    for (const [stream, length] of this.split(at, at + text.length, WINDOW_BYTES))
      this.kernel.run.countStems(this.#state, stream, length);
    this.#makeLines(this.#get(FRESH_COUNT));
    this.kernel.run.addBlob(this.#state, blob);
  }

  /** Yields the stems that have lists in the order in which JavaScript sorts strings, with their lists. A list is valid until the next. */
  *lists(): Generator<readonly [stem: string, list: Uint8Array]> {
    const { kernel } = this;
    const lengthOf = (number: number) =>
      kernel.words[((this.#get(STEMS) + number * STEM) >>> 2) + 5]!;
    const used = [...this.stems.keys()].filter((number) => lengthOf(number) > 0);
    const most = used.reduce((longest, number) => Math.max(longest, lengthOf(number)), 0);
    const out = this.place(new Uint8Array(most + LINE));
    for (const stem of used.map((number) => this.stems[number]!).sort()) {
      const length = kernel.run.copyStemList(this.#state, this.#numbers.get(stem)!, out);
      yield [stem, kernel.bytes.subarray(out, out + length)];
    }
  }

  /** The number of bytes of memory that the table takes. */
  get bytes(): number {
    return this.kernel.bytes.length;
  }

  /**
   * Scores the names of files, as kernel/assembly/words.ts describes. `terms` has the number of each stem of the
   * question with its term (and the mark UNNAMED) and its weight.
   */
  scoreNames(
    terms: readonly (readonly [stem: number, term: number, weight: number])[],
    given: NamesInput,
  ): void {
    const { kernel } = this;
    // names with new words have no score yet, so all names are scored again when their words have stems
    for (let before = -1; before < this.#stemmed;) {
      before = this.#stemmed;
      for (let file = 0; file < given.files;) {
        this.#makeRoom();
        for (const [stem, term, weight] of terms) this.#setTerm(stem, term, weight);
        file = kernel.run.scoreNames(
          this.#state,
          given.paths,
          given.starts,
          file,
          given.files,
          given.among,
          this.#terms,
          given.shares,
          given.terms,
          given.values,
          this.#stream,
          given.out,
          this.#wordCapacity,
          this.#textsEnd,
        );
        for (const [stem] of terms) this.#setTerm(stem, 0, 0);
        this.#stemNewWords();
      }
    }
  }

  #setTerm(stem: number, term: number, weight: number): void {
    const at = (this.#terms + stem * TERM) >>> 2;
    this.kernel.words[at] = term;
    this.#floats[at + 1] = weight;
  }

  get #floats(): Float32Array {
    return new Float32Array(this.kernel.bytes.buffer);
  }

  #get(word: number): number {
    return this.kernel.words[(this.#state >>> 2) + word]!;
  }

  #set(word: number, value: number): void {
    this.kernel.words[(this.#state >>> 2) + word] = value;
  }

  #stemNewWords(): void {
    const count = this.words;
    for (; this.#stemmed < count; this.#stemmed++) {
      const at = (this.#get(STATE.WORDS) + this.#stemmed * WORD) >>> 2;
      const [text, length] = [this.kernel.words[at + 1]!, this.kernel.words[at + 2]!];
      const word = Buffer.from(this.kernel.bytes.buffer, text, length).toString("utf8");
      const stem = this.numberFor(stemOf(word));
      this.kernel.words[((this.#get(STATE.WORDS) + this.#stemmed * WORD) >>> 2) + 3] = stem;
    }
  }

  /** Makes room for the new words of at least one line. */
  #makeRoom(): void {
    const { kernel } = this;
    if (this.words + MAX_NEW_WORDS > this.#wordCapacity) {
      const old = this.#get(STATE.WORDS);
      this.#wordCapacity *= 2;
      const words = kernel.reserve(WORD * this.#wordCapacity);
      kernel.bytes.copyWithin(words, old, old + WORD * this.words);
      this.#set(STATE.WORDS, words);
      this.#set(STATE.SLOTS, kernel.reserve(8 * this.#wordCapacity));
      this.#set(STATE.MASK, 2 * this.#wordCapacity - 1);
      kernel.run.hashWords(this.#state);
    }
    if (this.#textsEnd - this.#get(STATE.TEXTS) < TEXT_ROOM) {
      const texts = kernel.reserve(16 * TEXT_ROOM);
      this.#set(STATE.TEXTS, texts);
      this.#textsEnd = texts + 16 * TEXT_ROOM;
    }
  }

  #growStems(): void {
    const { kernel } = this;
    const count = this.#stemCapacity;
    this.#stemCapacity *= 2;
    const moved = (from: number, bytes: number): number => {
      const to = kernel.reserve(bytes * this.#stemCapacity);
      kernel.bytes.copyWithin(to, from, from + bytes * count);
      return to;
    };
    this.#set(STEMS, moved(this.#get(STEMS), STEM));
    this.#set(FRESH, moved(this.#get(FRESH), 4));
    this.#terms = moved(this.#terms, TERM);
  }

  #makeLines(lines: number): void {
    const next = this.#get(LINES);
    if (next > 0 && next + LINE * lines <= this.#linesEnd) return;
    const step = Math.max(LINES_STEP, LINE * lines);
    const at = this.kernel.reserve(step);
    this.#set(LINES, at);
    this.#linesEnd = at + step;
  }
}

/**
 * Tests which grams a page contains, for text without posting lists. The test itself is in assembly/page-grams.ts.
 * Testing a page for a rare gram takes about 0.2 ns per byte. Building the posting lists of a page takes 1.3 ns per
 * byte, but is done only once.
 */

import type { Arena } from "./arena.ts";
import { FOLDING_TABLE_BYTES, writeFoldingTable } from "./folding.ts";
import { BYTE_CLASSES, classesOf } from "./gram-numbers.ts";
import type { Kernel } from "./kernel.ts";

/**
 * The number of pages that are tested for all grams. Later pages are tested only for the MOST_TESTED grams that the
 * first pages lacked most often. Testing for a more frequent gram takes as long, but excludes fewer pages.
 */
const TRIAL_PAGES = 64;
const MOST_TESTED = 3;

/** Grams whose tables are in the kernel's memory. The tables are valid until the arena releases an earlier mark. */
export interface PlacedGrams {
  /**
   * The address of each gram's tables, and the number of trial pages that lacked the gram. After the trial, only the
   * rarest grams are left.
   */
  grams: { readonly table: number; lacking: number }[];
  /** The number of trial pages that are left, on which all grams are tested. */
  trial: number;
}

export class PageGrams {
  /** The address to which the text of a page is copied before load(). */
  readonly at: number;
  readonly #kernel: Kernel;
  readonly #folding: number;
  readonly #folded: number;
  #from = 0;
  #to = 0;

  constructor(kernel: Kernel, mostTextBytes: number) {
    this.#kernel = kernel;
    this.#folding = kernel.reserve(FOLDING_TABLE_BYTES);
    this.at = kernel.reserve(mostTextBytes);
    this.#folded = kernel.reserve(3 * mostTextBytes);
    writeFoldingTable(kernel.bytes, this.#folding);
  }

  /** Folds the page at `at`, whose text has this length. Returns true if folding changes a code point beyond ASCII. */
  load(length: number): boolean {
    const end = this.at + length;
    const folded = this.#kernel.run.foldPage(this.at, end, this.#folding, this.#folded);
    this.#from = folded === 0 ? this.at : this.#folded;
    this.#to = folded === 0 ? end : this.#folded + (folded >>> 1);
    return (folded & 1) === 1;
  }

  /**
   * Returns true if the loaded page may contain all the grams. If the result is false, the page lacks at least one of
   * them.
   */
  mayHaveAll(placed: PlacedGrams): boolean {
    if (placed.trial === 0) return placed.grams.every(({ table }) => this.#has(table));
    let hasAll = true;
    for (const gram of placed.grams)
      if (!this.#has(gram.table)) {
        gram.lacking++;
        hasAll = false;
      }
    if (--placed.trial === 0)
      placed.grams = placed.grams.toSorted((a, b) => b.lacking - a.lacking).slice(0, MOST_TESTED);
    return hasAll;
  }

  #has(table: number): boolean {
    return this.#kernel.run.hasGram(table, this.#from, this.#to) === 1;
  }
}

export const placeGrams = (grams: readonly number[], arena: Arena): PlacedGrams => ({
  grams: grams.map((gram) => ({ table: arena.put(tablesOf(gram)), lacking: 0 })),
  trial: TRIAL_PAGES,
});

/**
 * Returns three tables of 32 bytes each. Each table is the set of bytes in one of the gram's three classes, in the form
 * that assembly/page-grams.ts reads.
 */
function tablesOf(gram: number): Uint8Array {
  const tables = new Uint8Array(96);
  classesOf(gram).forEach((of, place) =>
    BYTE_CLASSES.forEach((one, byte) => {
      if (one === of)
        tables[32 * place + (byte & 0x80) / 8 + (byte & 15)]! |= 1 << ((byte >> 4) & 7);
    }),
  );
  return tables;
}

/**
 * Tests which grams a page contains, with assembly/page-grams.ts, for text without posting lists. A test takes about
 * 0.2 ns per byte for each rare gram. Making the posting lists of a page takes 1.3 ns per byte, but only once.
 */

import type { Arena } from "./arena.ts";
import { FOLDING_TABLE_BYTES, writeFoldingTable } from "./folding.ts";
import { BYTE_CLASSES, classesOf } from "./gram-numbers.ts";
import type { Kernel } from "./kernel.ts";

/**
 * The number of pages that are tested for all grams. Later pages are tested only for the MOST_TESTED grams that these
 * pages lacked most often, because a test for a frequent gram excludes few pages and takes as long.
 */
const TRIAL_PAGES = 64;
const MOST_TESTED = 3;

/** Grams in the kernel's memory. They are valid as long as the arena's mark is not released. */
export interface PlacedGrams {
  /** The address of each gram's table, and how many trial pages lacked the gram. Later only the rarest grams. */
  grams: { readonly table: number; lacking: number }[];
  /** The number of pages of the trial that remain. */
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

  /** Folds the page of this length. Returns whether folding changes a code point beyond ASCII. */
  load(length: number): boolean {
    const end = this.at + length;
    const folded = this.#kernel.run.foldPage(this.at, end, this.#folding, this.#folded);
    this.#from = folded === 0 ? this.at : this.#folded;
    this.#to = folded === 0 ? end : this.#folded + (folded >>> 1);
    return (folded & 1) === 1;
  }

  /** Whether the page may contain all grams. If not, it lacks at least one. */
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

/** Returns the sets of bytes of the gram's three classes, 32 bytes each. */
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

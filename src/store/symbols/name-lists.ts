/**
 * Writes and reads posting lists of the names that a segment defines. The list of a gram contains the pages where the
 * gram begins in a definition's name. These lists have the same form as the posting lists of text (postings.ts).
 *
 * They are stored in part NAMES, one set of lists for each edition of the symbols. Each stored value has a number. The
 * highest byte of the number is the edition:
 *
 *     number            holds
 *     edition | 0       directory: the first gram of each block (u32)
 *     edition | 1 + n   block n
 *
 * For each page, grams are taken from a text that consists only of names, with SEPARATOR between two names. If a name
 * contains another one, as `a.b` contains `b`, the text has their common bytes only once. The text has the names in the
 * page and in the OVERLAP bytes after it, because a literal may extend beyond the page on which it begins. So the lists
 * contain every page on which a literal begins within a name.
 *
 * The source code of Linux has 4.96 million definitions. The lists of their names take 28 MB, which is 2.8 % of the
 * text. `sym:spin_lock` takes 5 ms on two threads. With the posting lists of the text, it would take 67 ms. A sorted
 * table of the 3.2 million distinct names would take 75 MB without any postings, and 32 ms to scan on one thread.
 */

import type { Kernel } from "../../kernel/kernel.ts";
import { createGramLists, type GramLists } from "../../kernel/gram-lists.ts";
import { OVERLAP, PAGE_BYTES, PART } from "../format/format.ts";
import { PostingsReader, PostingsWriter, type PostingPlace } from "../segments/postings.ts";
import type { Tables } from "../segments/shared-tables.ts";
import type { Snapshot, Writer } from "../lmdb/environment.ts";
import type { SegmentTarget } from "../segments/segment-target.ts";
import { ROW, SYMBOL_ROW, type SymbolList } from "./symbol-run.ts";
import { editionKey } from "./edition-key.ts";

/**
 * A newline, which occurs in no name. Grams do not distinguish a newline from any other byte that is not a letter, a
 * digit or `_`.
 */
const SEPARATOR = 10;
/** The number of blocks that one transaction writes. They take about 4 MB. */
const TRANSACTION_BLOCKS = 256;

const listsOfNames = (segment: number, edition: number): PostingPlace => ({
  what: `the names of segment ${segment}`,
  segment,
  edition,
  directory: editionKey(segment, PART.NAMES, edition, 0),
  block: (number) => editionKey(segment, PART.NAMES, edition, 1 + number),
});

export const openNameLists = (
  snapshot: Snapshot,
  segment: number,
  edition: number,
  blocks: number,
  tables?: Tables,
): PostingsReader => new PostingsReader(snapshot, listsOfNames(segment, edition), blocks, tables);

/** Collects the lists of the names of one segment. For 256 MiB of C, they take about 10 MB of memory. */
export class NameLists {
  readonly #kernel: Kernel;
  readonly #lists: GramLists;
  readonly #names = new Uint8Array(PAGE_BYTES + OVERLAP);

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#lists = createGramLists(kernel, PAGE_BYTES + OVERLAP);
  }

  /** The number of bytes that the lists take in the kernel's memory. */
  get bytes(): number {
    return this.#lists.bytes;
  }

  /**
   * Adds the next blob of the segment. `list` has the definitions in `text`, and `pageBytes` is the page size of the
   * segment.
   */
  add(text: Uint8Array, list: SymbolList, pageBytes: number): void {
    let row = 0;
    for (let from = 0; from < text.length; from += pageBytes) {
      while (row < list.count && list.rows[row * SYMBOL_ROW + ROW.end]! <= from) row++;
      const limit = Math.min(text.length, from + pageBytes + OVERLAP);
      this.#lists.add(this.#names.subarray(0, this.#namesOf(text, list, { from, limit, row })));
    }
  }

  /** Adds the next blob of the segment, which has `bytes` bytes and no definitions. */
  addNone(bytes: number, pageBytes: number): void {
    for (let from = 0; from < bytes; from += pageBytes) this.#lists.add(this.#names.subarray(0, 0));
  }

  /**
   * Joins the names in [from, limit) of `text`, and returns their total length. REQUIRES: no name before `row` ends
   * after `from`.
   */
  #namesOf(
    text: Uint8Array,
    { count, rows }: SymbolList,
    { from, limit, row }: { from: number; limit: number; row: number },
  ): number {
    const names = this.#names;
    let length = 0;
    let done = from;
    for (let at = row * SYMBOL_ROW; at < count * SYMBOL_ROW; at += SYMBOL_ROW) {
      const start = rows[at + ROW.start]!;
      if (start >= limit) break;
      const end = Math.min(limit, rows[at + ROW.end]!);
      // a separator replaces a gap of at least one byte, so the joined names are never longer than the text
      if (start > done && length > 0) names[length++] = SEPARATOR;
      // copies byte by byte, because most names are too short for a call to be faster
      for (let i = Math.max(start, done); i < end; i++) names[length++] = text[i]!;
      if (end > done) done = end;
    }
    return length;
  }

  /** Writes the lists and clears them. Calls `last` in the last transaction, with the number of blocks of the lists. */
  write(
    target: SegmentTarget,
    edition: number,
    last: (writer: Writer, blocks: number) => void,
  ): void {
    const place = listsOfNames(target.segment, edition);
    const postings = new PostingsWriter(place, this.#lists.pages, this.#kernel);
    this.#lists.forEach((gram, gaps) => {
      postings.add(gram, gaps);
      if (postings.pendingBlocks >= TRANSACTION_BLOCKS)
        target.write((writer) => postings.flush(writer));
    });
    target.write((writer) => last(writer, postings.finish(writer)));
    this.#lists.clear();
  }
}

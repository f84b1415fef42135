/**
 * Posting lists of the names that a segment defines: for each gram the pages in which it begins
 * within a name of a definition. They have the form of those of its text (postings.ts) and stand in the part NAMES,
 * one set for each edition of the symbols; `edition` stands in the highest byte of the number.
 *
 *     number            holds
 *     edition | 0       directory: the first gram of each block (u32)
 *     edition | 1 + n   block n
 *
 * What is indexed of a page are its names, joined by SEPARATOR: bytes of names that lie in the page or
 * the OVERLAP bytes after it; of names that lie in each other the union. So a literal that begins in a
 * page, within a name, is found by that page's lists alone.
 *
 * Linux (4.96 million definitions): 28 MB, 2.8 % of its text; `sym:spin_lock` takes 5 ms on two threads,
 * and 67 by the lists of the text. A sorted table of its 3.2 million distinct names would be 75 MB without
 * any postings, and to scan it takes 32 ms of one thread before the first place is known.
 */

import type { Kernel } from "../../kernel/kernel.ts";
import { createGramLists, type GramLists } from "../../kernel/gram-lists.ts";
import { OVERLAP, PAGE_BYTES, PART } from "../format/format.ts";
import { PostingsReader, PostingsWriter, type PostingPlace } from "../segments/postings.ts";
import type { Snapshot, Writer } from "../lmdb/environment.ts";
import type { SegmentTarget } from "../segments/segment-target.ts";
import { ROW, SYMBOL_ROW, type SymbolList } from "./symbol-run.ts";
import { editionKey } from "./edition-key.ts";

/** In no name as people write them, and in the class of all bytes but letters, digits and `_`. */
const SEPARATOR = 10;
/** Blocks of one transaction: some 4 MB. */
const TRANSACTION_BLOCKS = 256;

const listsOfNames = (segment: number, edition: number): PostingPlace => ({
  what: `the names of segment ${segment}`,
  directory: editionKey(segment, PART.NAMES, edition, 0),
  block: (number) => editionKey(segment, PART.NAMES, edition, 1 + number),
});

export const openNameLists = (
  snapshot: Snapshot,
  segment: number,
  edition: number,
  blocks: number,
): PostingsReader => new PostingsReader(snapshot, listsOfNames(segment, edition), blocks);

/** Collects the lists of one segment: some 10 MB for 256 MiB of C. */
export class NameLists {
  readonly #kernel: Kernel;
  readonly #lists: GramLists;
  readonly #names = new Uint8Array(PAGE_BYTES + OVERLAP);

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#lists = createGramLists(kernel, PAGE_BYTES + OVERLAP);
  }

  /** Of the kernel's memory, that the lists hold. */
  get bytes(): number {
    return this.#lists.bytes;
  }

  /** The next blob of the segment. */
  add(text: Uint8Array, list: SymbolList): void {
    let row = 0;
    for (let from = 0; from < text.length; from += PAGE_BYTES) {
      while (row < list.count && list.rows[row * SYMBOL_ROW + ROW.end]! <= from) row++;
      this.#lists.add(this.#names.subarray(0, this.#namesOf(text, list, { from, row })));
    }
  }

  /** A blob of so many bytes without definitions. */
  addNone(bytes: number): void {
    for (let from = 0; from < bytes; from += PAGE_BYTES)
      this.#lists.add(this.#names.subarray(0, 0));
  }

  /** Puts the names of the page at `from` together; returns their length. Names before `row` end before it. */
  #namesOf(
    text: Uint8Array,
    { count, rows }: SymbolList,
    { from, row }: { from: number; row: number },
  ): number {
    const limit = Math.min(text.length, from + PAGE_BYTES + OVERLAP);
    const names = this.#names;
    let length = 0;
    let done = from;
    for (let at = row * SYMBOL_ROW; at < count * SYMBOL_ROW; at += SYMBOL_ROW) {
      const start = rows[at + ROW.start]!;
      if (start >= limit) break;
      const end = Math.min(limit, rows[at + ROW.end]!);
      // a gap of a byte at least, so that with separators it is no longer than the text
      if (start > done && length > 0) names[length++] = SEPARATOR;
      // by bytes: most names are too short to be worth a call
      for (let i = Math.max(start, done); i < end; i++) names[length++] = text[i]!;
      if (end > done) done = end;
    }
    return length;
  }

  /** Writes the lists and forgets them. `last` is told how many blocks they are, in the last transaction. */
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

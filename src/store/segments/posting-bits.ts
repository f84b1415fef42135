/** Decodes stored posting lists of both forms to sets of pages. The kernel decodes the lists that consist of gaps. */

import { wordsFor, type Bitset } from "../../base/bitset.ts";
import type { Arena } from "../../kernel/arena.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { PostingList } from "./postings.ts";

/** The kernel that decodes lists, and the arena that holds their bytes meanwhile. */
export interface DecodeMemory {
  readonly kernel: Kernel;
  readonly arena: Arena;
}

/**
 * Sets the bits of a list's pages. The bits are at address `at` of the kernel's memory. Returns false if the list
 * violates the format. REQUIRES: all words of the bits are zero.
 */
export function decodeList(
  { isBitmap, bytes }: PostingList,
  pages: number,
  { kernel, arena }: DecodeMemory,
  at: number,
): boolean {
  if (isBitmap) {
    if (bytes.length !== Math.ceil(pages / 8)) return false;
    kernel.bytes.set(bytes, at);
    return true;
  }
  const mark = arena.mark();
  const list = arena.put(bytes);
  const count = kernel.run.decodeGaps(list, bytes.length, pages, at);
  arena.release(mark);
  return count >= 0;
}

/** Returns the set of the pages in a list, or undefined if the list violates the format. */
export function pagesOfList(
  list: PostingList,
  pages: number,
  memory: DecodeMemory,
): Bitset | undefined {
  const { kernel, arena } = memory;
  const mark = arena.mark();
  const bytes = 4 * wordsFor(pages);
  const at = arena.take(bytes);
  kernel.bytes.fill(0, at, at + bytes);
  const isSound = decodeList(list, pages, memory, at);
  const set = kernel.words.slice(at >>> 2, (at + bytes) >>> 2);
  arena.release(mark);
  return isSound ? set : undefined;
}

/** A stored list as a bitmap of pages. */

import { wordsFor, type Bitset } from "../../base/bitset.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { PostingList } from "./postings.ts";

// regions for lists of up to so many bytes and pages, kept with each kernel
const regions = new WeakMap<Kernel, { at: number; length: number }>();

function regionOf(kernel: Kernel, length: number): number {
  let region = regions.get(kernel);
  if (!region || region.length < length) {
    region = { at: kernel.reserve(2 * length), length: 2 * length };
    regions.set(kernel, region);
  }
  return region.at;
}

/** A copy; undefined if the list breaks the format. */
export function decodeList(
  { isBitmap, bytes }: PostingList,
  pages: number,
  kernel: Kernel,
): Bitset | undefined {
  const words = wordsFor(pages);
  if (isBitmap) {
    if (bytes.length !== Math.ceil(pages / 8)) return undefined;
    const set = new Uint32Array(words);
    new Uint8Array(set.buffer).set(bytes);
    return set;
  }
  const bits = regionOf(kernel, 4 * words + 16 + bytes.length);
  const list = (bits + 4 * words + 15) & ~15;
  kernel.bytes.fill(0, bits, bits + 4 * words);
  kernel.bytes.set(bytes, list);
  const count = kernel.run.decodeGaps(list, bytes.length, pages, bits);
  return count < 0 ? undefined : kernel.words.slice(bits >>> 2, (bits >>> 2) + words);
}

/**
 * Represents the parts of a text that are cut before parsing, because nothing in them can be a definition. Bodies of
 * functions are most of a C file, and parsing is most of the work of extraction. Cutting also removes code that the
 * parser does not understand, such as macros that are not expressions. In a body, such code would spoil the parse of
 * what follows.
 *
 *     cuts := (start end)*      bytes, ascending, none empty, none touching
 *
 * Cutting "ab{cd}e" by [3, 5] gives "ab{}e", and offset 4 of that is offset 6 of the file.
 */

import { firstIndex } from "../../../../base/binary-search.ts";

export type Cuts = readonly number[];

export function cut(bytes: Uint8Array, cuts: Cuts): Uint8Array {
  let length = bytes.length;
  for (let at = 0; at < cuts.length; at += 2) length -= cuts[at + 1]! - cuts[at]!;
  const out = new Uint8Array(length);
  let from = 0;
  let to = 0;
  for (let at = 0; at < cuts.length; at += 2) {
    out.set(bytes.subarray(from, cuts[at]!), to);
    to += cuts[at]! - from;
    from = cuts[at + 1]!;
  }
  out.set(bytes.subarray(from), to);
  return out;
}

/**
 * Maps offsets of the cut text back to the file. The position of a cut maps to the position before the removed text.
 */
export function uncut(cuts: Cuts): (offset: number) => number {
  if (cuts.length === 0) return (offset) => offset;
  const count = cuts.length / 2;
  const ends = new Float64Array(count); // offsets in the cut text
  const removed = new Float64Array(count + 1);
  for (let index = 0; index < count; index++) {
    ends[index] = cuts[2 * index]! - removed[index]!;
    removed[index + 1] = removed[index]! + cuts[2 * index + 1]! - cuts[2 * index]!;
  }
  return (offset) => offset + removed[firstIndex(0, count, (index) => ends[index]! >= offset)]!;
}

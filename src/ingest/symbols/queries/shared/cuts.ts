/**
 * Represents the parts of a text that are cut out before parsing, because they contain no definitions. Most of a C
 * file is bodies of functions, and extraction spends most of its time on parsing. Cutting also removes code that the
 * parser does not understand, such as macros that are not expressions. Such code in a body could make the parser
 * misread the code after it.
 *
 *     cuts := (start end)*      bytes, ascending, none empty, none touching
 *
 * For example, the cuts [3, 5] turn "ab{cd}e" into "ab{}e". Offset 4 in the cut text is offset 6 in the file.
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
 * Returns a function that maps offsets in the cut text to offsets in the file. The offset of a cut is mapped to the
 * start of the removed text.
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

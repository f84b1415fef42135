/**
 * Tests whether a page contains a gram, for text without posting lists. A gram is three bytes of folded text, each of
 * one class (grams.ts). A class is given as a set of bytes, in the form that scanFolded() describes. This is a table of
 * 16 bytes for the members below 0x80, followed by a table for the other members.
 */

import { isAscii, foldText } from "./grams";
import { members } from "./scan";

/**
 * Writes the folded text of [from, to) to `out`. Returns twice the length of the folded text, plus 1 if folding has
 * changed a code point beyond ASCII. If the text is all ASCII, writes nothing and returns 0. Such a text need not be
 * folded, because the classes contain both cases of ASCII letters.
 * REQUIRES: there is room at `out` for three times the text.
 */
export function foldPage(from: usize, to: usize, folding: usize, out: usize): u32 {
  return isAscii(from, to) ? 0 : foldText(from, to, folding, out);
}

/** Returns 1 if the gram with these three classes is in the folded text [from, to), else 0. */
export function hasGram(classes: usize, from: usize, to: usize): u32 {
  const ascii0 = v128.load(classes);
  const beyond0 = v128.load(classes, 16);
  const ascii1 = v128.load(classes, 32);
  const beyond1 = v128.load(classes, 48);
  const ascii2 = v128.load(classes, 64);
  const beyond2 = v128.load(classes, 80);
  for (let at = from; at + 2 < to; at += 16) {
    const hits = i8x16.bitmask(
      v128.and(
        v128.and(
          members(v128.load(at), ascii0, beyond0),
          members(v128.load(at, 1), ascii1, beyond1),
        ),
        members(v128.load(at, 2), ascii2, beyond2),
      ),
    );
    if (hits && at + ctz(hits) + 2 < to) return 1;
  }
  return 0;
}

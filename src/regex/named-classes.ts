/** Defines the classes that have a name, such as \d, [:alpha:] and \p{Greek}. */

import { EVERYTHING, type CodePoints } from "./code-points.ts";
import { UNICODE_CLASSES } from "./unicode-table.ts";

const pairs = (text: string): CodePoints => Array.from(text, (char) => char.codePointAt(0)!);

const DIGIT = pairs("09");
const WORD = pairs("09AZ__az");

/** The classes, by the letter after the backslash. The capital letter stands for the negated class. */
export const PERL_CLASSES: Readonly<Record<string, CodePoints>> = {
  d: DIGIT,
  s: [0x09, 0x0a, 0x0c, 0x0d, 0x20, 0x20], // not \v
  w: WORD,
};

export const POSIX_CLASSES: Readonly<Record<string, CodePoints>> = {
  alnum: pairs("09AZaz"),
  alpha: pairs("AZaz"),
  ascii: [0, 0x7f],
  blank: [0x09, 0x09, 0x20, 0x20],
  cntrl: [0, 0x1f, 0x7f, 0x7f],
  digit: DIGIT,
  graph: [0x21, 0x7e],
  lower: pairs("az"),
  print: [0x20, 0x7e],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  space: [0x09, 0x0d, 0x20, 0x20],
  upper: pairs("AZ"),
  word: WORD,
  xdigit: pairs("09AFaf"),
};

const decoded = new Map<string, CodePoints>();

/** Returns a Unicode class, or undefined if RE2 has no class of this name. */
export function unicodeClass(name: string): CodePoints | undefined {
  if (name === "Any") return EVERYTHING;
  const table = UNICODE_CLASSES.get(name);
  if (table === undefined) return undefined;
  let ranges = decoded.get(name);
  if (!ranges) decoded.set(name, (ranges = decode(table)));
  return ranges;
}

function decode(table: string): CodePoints {
  const out: number[] = [];
  let edge = 0;
  for (const [i, step] of table.split(" ").entries()) {
    edge += Number.parseInt(step, 36);
    out.push(i % 2 === 0 ? edge : edge - 1);
  }
  return out;
}

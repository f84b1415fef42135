/** Ranges of lines as a model names them, and long lines. */

import { z } from "zod";

export const lineRange = z
  .string()
  .regex(/^\d+(-\d*)?$/, 'like "40-80", "40-" or "40"')
  .optional();

/** REQUIRES: `lines` has passed `lineRange`. 1-based; open at its end: Infinity. */
export function rangeOf(lines: string): { first: number; last: number } {
  const [, first, dash, last] = /^(\d+)(-?)(\d*)$/.exec(lines)!;
  return { first: Number(first), last: last ? Number(last) : dash ? Infinity : Number(first) };
}

/** UTF-16 units of a line: a model that reads minified code has to search in it. */
const LONG = 2_000;

export const cutLong = (line: string): string =>
  line.length <= LONG ? line.trimEnd() : `${line.slice(0, LONG)}… (${line.length} characters)`;
